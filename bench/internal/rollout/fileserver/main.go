// Command fileserver serves a file, with TLS if there is a certificate, until its input
// ends: the server that a fleet is compared with.
package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"
)

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.ServeFile(w, r, os.Args[1])
	})}
	if len(os.Args) > 2 {
		fmt.Printf("serving at https://%s\n", listener.Addr())
		go func() { _ = server.ServeTLS(listener, os.Args[2], os.Args[3]) }()
	} else {
		fmt.Printf("serving at http://%s\n", listener.Addr())
		go func() { _ = server.Serve(listener) }()
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
}
