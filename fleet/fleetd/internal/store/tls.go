package store

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"sync/atomic"
)

// routeTLS returns the configuration of both ends of a route. The certificate is read
// again for each connection, so a renewed one needs no restart.
func routeTLS(certFile, keyFile, caFile string) (*tls.Config, error) {
	ca, err := os.ReadFile(caFile)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(ca) {
		return nil, fmt.Errorf("%s has no certificate", caFile)
	}
	var last atomic.Pointer[tls.Certificate]
	read := func() (*tls.Certificate, error) {
		cert, err := tls.LoadX509KeyPair(certFile, keyFile)
		if err == nil {
			last.Store(&cert)
		} else if last.Load() == nil {
			return nil, err
		}
		return last.Load(), nil // the last good one while a renewal writes the files
	}
	if _, err := read(); err != nil {
		return nil, err
	}
	return &tls.Config{
		MinVersion: tls.VersionTLS13, RootCAs: pool, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert,
		GetCertificate:       func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return read() },
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return read() },
	}, nil
}
