package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/poolswap/poolswap/fleet"
)

// clientFlags are the flags of commands that speak to a server.
type clientFlags struct {
	server, tokenFile, ca *string
	insecure              *bool
}

func newClientFlags(flags *flag.FlagSet) *clientFlags {
	return &clientFlags{
		server:    flags.String("server", cmp.Or(os.Getenv("FLEETD_SERVER"), "http://127.0.0.1:8422"), "`URL` of the server, or those of a cluster with commas; FLEETD_SERVER is the default"),
		tokenFile: flags.String("token-file", os.Getenv("FLEETD_TOKEN_FILE"), "`file` with the token; FLEETD_TOKEN_FILE is the default"),
		ca:        flags.String("ca", os.Getenv("FLEETD_CA"), "`file` with the certificate of the CA, or the CAs, that may have signed the server's; FLEETD_CA is the default"),
		insecure:  flags.Bool("insecure", false, "send the token to another machine without TLS"),
	}
}

func (f *clientFlags) client() (*fleet.Client, error) {
	if *f.tokenFile == "" {
		return nil, fmt.Errorf("fleetd: -token-file, or FLEETD_TOKEN_FILE, names the file with the token: serve has written DIR/admin.token")
	}
	return fleet.NewClient(*f.server, fleet.ClientOptions{TokenFile: *f.tokenFile, CAFile: *f.ca, Insecure: *f.insecure})
}

// controller returns a client, and its controller of a name.
func (f *clientFlags) controller(name string) (*fleet.Client, *fleet.Controller, error) {
	client, err := f.client()
	if err != nil {
		return nil, nil, err
	}
	controller, err := fleet.NewController(client, name)
	return client, controller, err
}

// changeFlags are the flags of commands that change a plan.
type changeFlags struct {
	*clientFlags
	why  *string
	wait *time.Duration
}

func newChangeFlags(flags *flag.FlagSet) *changeFlags {
	return &changeFlags{
		clientFlags: newClientFlags(flags),
		why:         flags.String("why", "", "`reason` for the history"),
		wait:        flags.Duration("wait", 0, "wait up to this `duration` until every replica that reports runs its revision; exit with 1 if one does not"),
	}
}

// await waits for the replicas, if the flags say so.
func (f *changeFlags) await(ctx context.Context, c *call, controller *fleet.Controller, plan *fleet.Plan) error {
	if *f.wait <= 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, *f.wait)
	defer cancel()
	status, err := controller.Await(ctx, plan)
	switch {
	case err != nil:
		return err
	case status.Plan.Paused && plan.Change.Kind != fleet.KindPause:
		return fmt.Errorf("fleetd: %s is paused: replicas stay with their revisions until resume", status.Name)
	}
	fmt.Fprintf(c.stdout, "%d replicas run what the plan wants\n", len(status.Replicas)-status.Counts[fleet.Silent])
	return nil
}

// labels is a flag "key=value" that may be given more than once.
type labels map[string]string

func (l labels) String() string { return "" }

// Set implements flag.Value.
func (l labels) Set(text string) error {
	key, value, ok := strings.Cut(text, "=")
	if !ok || key == "" {
		return fmt.Errorf("%q is no KEY=VALUE", text)
	}
	l[key] = value
	return nil
}
