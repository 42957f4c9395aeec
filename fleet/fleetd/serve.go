package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/poolswap/poolswap/fleet"
)

// startTime bounds how long a server may take to become ready: it reads its store.
const startTime = time.Minute

// serve runs a server until ctx ends.
func serve(ctx context.Context, c *call) error {
	address := c.flags.String("addr", "127.0.0.1:4222", "serve NATS at this `address`; other machines need another one than 127.0.0.1")
	dir := c.flags.String("dir", "fleet.data", "`directory` for content, plans, history and the passwords of users")
	cert := c.flags.String("tls-cert", "", "`file` with the certificate of the server")
	key := c.flags.String("tls-key", "", "`file` with its key")
	keep := keepFlag(c.flags)
	page := newPageFlags(c.flags)
	if _, err := c.parse(0, 0); err != nil {
		return err
	}
	if *keep < 0 {
		return errKeep(*keep)
	}
	if err := os.MkdirAll(*dir, dirMode); err != nil {
		return fmt.Errorf("fleetd: serve: %w", err)
	}
	unlock, err := lock(*dir)
	if err != nil {
		return fmt.Errorf("fleetd: serve: %w", err)
	}
	defer unlock()
	s, users, err := start(*address, *dir, *cert, *key)
	if err != nil {
		return fmt.Errorf("fleetd: serve: %w", err)
	}
	defer func() {
		s.Shutdown()
		s.WaitForShutdown()
	}()
	conn, err := nats.Connect("", nats.InProcessServer(s), nats.UserInfo(users.admin.name, users.admin.password), nats.MaxReconnects(-1))
	if err != nil {
		return fmt.Errorf("fleetd: serve: %w", err)
	}
	defer conn.Close()
	if err := setUp(ctx, conn); err != nil {
		return fmt.Errorf("fleetd: serve: %w", err)
	}
	fmt.Fprintf(c.stdout, "serving at %s\n", s.ClientURL())
	for _, u := range users.all() {
		fmt.Fprintf(c.stdout, "-user %s -password-file %s\n", u.name, u.file)
	}
	closePage, err := page.ofServer(c, s, users, *cert, *key)
	if err != nil {
		return fmt.Errorf("fleetd: serve: %w", err)
	}
	defer closePage()
	k := &keeper{conn: conn, keep: *keep, logger: slog.New(slog.NewTextHandler(c.stderr, nil))}
	k.run(ctx)
	return nil
}

// start starts a server.
func start(address, dir, cert, key string) (*server.Server, *users, error) {
	host, portText, err := net.SplitHostPort(address)
	if err != nil {
		return nil, nil, err
	}
	port, err := strconv.Atoi(portText)
	if err != nil || port < 0 || port > 65535 {
		return nil, nil, fmt.Errorf("%q is no port", portText)
	}
	// The server says nothing of an address that it cannot have.
	probe, err := net.Listen("tcp", address)
	if err != nil {
		return nil, nil, err
	}
	if err := probe.Close(); err != nil {
		return nil, nil, err
	}
	if port == 0 {
		port = server.RANDOM_PORT
	}
	users, err := usersIn(dir)
	if err != nil {
		return nil, nil, err
	}
	options := &server.Options{
		ServerName: "fleetd", Host: host, Port: port, CustomClientAuthentication: users, NoSigs: true, NoLog: true,
		// A publication is acknowledged once it is on the disk.
		JetStream: true, StoreDir: filepath.Join(dir, "jetstream"), SyncAlways: true,
	}
	if cert != "" || key != "" {
		config, err := server.GenTLSConfig(&server.TLSConfigOpts{CertFile: cert, KeyFile: key})
		if err != nil {
			return nil, nil, err
		}
		options.TLSConfig, options.TLSTimeout = config, 5
	}
	s, err := server.NewServer(options)
	if err != nil {
		return nil, nil, err
	}
	go s.Start()
	if !s.ReadyForConnections(startTime) {
		s.Shutdown()
		return nil, nil, fmt.Errorf("the server is not ready at %s", address)
	}
	return s, users, nil
}

// setUp creates what a fleet needs.
func setUp(ctx context.Context, conn *nats.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	return fleet.Setup(ctx, conn, fleet.SetupOptions{})
}

// fileMode is that of the directory and of passwords.
const (
	dirMode  = 0o700
	fileMode = 0o600
)

// passwordIn returns the password in a file, which is made if there is none.
func passwordIn(file string) (string, error) {
	password, err := secretOf(file)
	switch {
	case err == nil && password == "":
		return "", fmt.Errorf("%s is empty", file)
	case errors.Is(err, os.ErrNotExist):
		password = newPassword()
		err = os.WriteFile(file, []byte(password+"\n"), fileMode)
	}
	return password, err
}
