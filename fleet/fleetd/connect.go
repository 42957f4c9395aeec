package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/user"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/poolswap/poolswap/fleet"
)

// client is what the commands that talk to a server have in common.
type client struct {
	server, credentials, userName, password, ca, cert, key *string
	by                                                     *string
	timeout                                                *time.Duration
}

// clientFlags defines the flags.
func clientFlags(flags *flag.FlagSet) *client {
	return &client{
		server:      flags.String("server", "nats://127.0.0.1:4222", "`URL` of the server; several, with commas, of a cluster"),
		credentials: flags.String("creds", "", "`file` with NATS credentials"),
		userName:    flags.String("user", "", "`name` of a user"),
		password:    flags.String("password-file", "", "`file` with the user's password"),
		ca:          flags.String("tls-ca", "", "`file` with the certificates of authorities"),
		cert:        flags.String("tls-cert", "", "`file` with the certificate of this client"),
		key:         flags.String("tls-key", "", "`file` with the key of this client"),
		by:          flags.String("by", "", "`name` for the history; usually that of the system's user"),
		timeout:     flags.Duration("timeout", 5*time.Second, "how `long` to wait for a connection"),
	}
}

// change is what the commands that change a plan have in common besides.
type change struct {
	*client
	why  *string
	wait *time.Duration
}

func changeFlags(flags *flag.FlagSet) *change {
	return &change{
		client: clientFlags(flags),
		why:    flags.String("why", "", "`reason` for the history"),
		wait:   flags.Duration("wait", 0, "wait so `long` until every replica that reports runs what it should; exit with 1 if not"),
	}
}

// connect connects to the server.
func (c *client) connect(options ...nats.Option) (*nats.Conn, error) {
	options = append(options,
		nats.Name("fleetd"), nats.Timeout(*c.timeout),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}), // the error of the command says it
	)
	if *c.credentials != "" {
		options = append(options, nats.UserCredentials(*c.credentials))
	}
	if *c.userName != "" {
		password, err := secretOf(*c.password)
		if err != nil {
			return nil, fmt.Errorf("fleetd: -password-file: %w", err)
		}
		options = append(options, nats.UserInfo(*c.userName, password))
	}
	if *c.ca != "" {
		options = append(options, nats.RootCAs(*c.ca))
	}
	if *c.cert != "" || *c.key != "" {
		options = append(options, nats.ClientCert(*c.cert, *c.key))
	}
	conn, err := nats.Connect(*c.server, options...)
	if err != nil {
		return nil, fmt.Errorf("fleetd: %s: %w", *c.server, err)
	}
	return conn, nil
}

// secretOf returns what a file has, without the line's end.
func secretOf(name string) (string, error) {
	if name == "" {
		return "", errors.New("it is missing")
	}
	text, err := os.ReadFile(name)
	return strings.TrimRight(string(text), "\r\n"), err
}

// author returns who changes a plan.
func (c *client) author() string {
	if *c.by != "" {
		return *c.by
	}
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return "fleetd"
}

// controller connects and returns a Controller of a name.
func (c *client) controller(name string) (*fleet.Controller, *nats.Conn, error) {
	conn, err := c.connect()
	if err != nil {
		return nil, nil, err
	}
	controller, err := fleet.NewController(conn, name, c.author())
	if err != nil {
		conn.Close()
		return nil, nil, err
	}
	return controller, conn, nil
}
