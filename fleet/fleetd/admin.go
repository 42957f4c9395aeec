package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/poolswap/poolswap/fleet"
)

// repair replaces a plan that cannot be read, or begins an epoch of one that can.
func repair(ctx context.Context, c *call) error {
	flags := newClientFlags(c.flags)
	why := c.flags.String("why", "", "`reason` for the history")
	args, err := c.parse(1, 2)
	if err != nil {
		return err
	}
	client, err := flags.client()
	if err != nil {
		return err
	}
	plan, err := client.Repair(ctx, args[0], strings.Join(args[1:], ""), *why)
	if err == nil {
		fmt.Fprintln(c.stdout, summary(plan))
	}
	return err
}

// remove removes a name.
func remove(ctx context.Context, c *call) error {
	flags := newClientFlags(c.flags)
	why := c.flags.String("why", "", "`reason` for the log of the server")
	sure := c.flags.Bool("yes", false, "remove plan, history, reports and content for good")
	args, err := c.parse(1, 1)
	if err != nil {
		return err
	}
	if !*sure {
		return fmt.Errorf("fleetd: remove deletes plan, history and content of %q for good: say -yes", args[0])
	}
	client, err := flags.client()
	if err != nil {
		return err
	}
	if err := client.RemoveName(ctx, args[0], *why); err != nil {
		return err
	}
	fmt.Fprintf(c.stdout, "%s is removed\n", args[0])
	return nil
}

// token makes, lists and revokes tokens.
func token(ctx context.Context, c *call) error {
	flags := newClientFlags(c.flags)
	t := fleet.Token{}
	role := c.flags.String("role", "", "make: `role`: replica, reader, publisher, operator or admin")
	c.flags.StringVar(&t.Names, "names", "", "make: `pattern` of the names that the token is for; * stands for any text")
	c.flags.StringVar(&t.IDs, "ids", "", "make: `pattern` of the ids of replicas; the role replica needs it")
	valid := c.flags.Duration("valid", 0, "make: `duration` for which the token is good, such as 2160h; 0 for ever")
	out := c.flags.String("o", "", "make: write the token to this `file` of mode 0600, which must not be there")
	asJSON := c.flags.Bool("json", false, "list: print JSON")
	args, err := c.parse(1, 2)
	if err != nil {
		return err
	}
	if want := map[string]int{"make": 2, "list": 1, "revoke": 2}[args[0]]; want != len(args) {
		fmt.Fprintln(c.stderr, "fleetd: token has make NAME, list and revoke ID")
		return errUsage
	}
	if args[0] == "make" && (*role == "" || t.Names == "" || *role == string(fleet.ReplicaRole) && t.IDs == "") {
		fmt.Fprintln(c.stderr, "fleetd: token make needs -role and -names, and for the role replica it needs -ids: '*' is all names, or all ids")
		return errUsage
	}
	client, err := flags.client()
	if err != nil {
		return err
	}
	switch args[0] {
	case "make":
		if t.Name, t.Role = args[1], fleet.Role(*role); *valid > 0 {
			t.Expires = time.Now().Add(*valid).UTC()
		}
		return makeToken(ctx, c, client, t, *out)
	case "list":
		all, err := client.Tokens(ctx)
		if err != nil {
			return err
		}
		return c.print(*asJSON, all, func(w *tabwriter.Writer) { printTokens(w, all) })
	}
	if err := client.RevokeToken(ctx, args[1]); err != nil {
		return err
	}
	fmt.Fprintf(c.stdout, "token %s is revoked\n", args[1])
	return nil
}

// makeToken makes a token. Its text goes to a file, or to the standard output.
func makeToken(ctx context.Context, c *call, client *fleet.Client, t fleet.Token, name string) error {
	out := c.stdout
	end := func() error { return nil }
	if name != "" {
		// The file comes first: a token without its text is of no use.
		file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
		if err != nil {
			return fmt.Errorf("fleetd: -o: %w", err)
		}
		out, end = file, file.Close
	}
	made, err := client.NewToken(ctx, t)
	if err != nil {
		if name != "" {
			end() //nolint:errcheck // the file is empty
			os.Remove(name)
		}
		return err
	}
	_, err = io.WriteString(out, made.Text+"\n")
	if err = errors.Join(err, end()); err != nil {
		return fmt.Errorf("fleetd: token %s was made, and its text is lost: revoke it: %w", made.ID, err)
	}
	if name != "" {
		fmt.Fprintf(c.stdout, "token %s of %s is in %s\n", made.ID, plain(made.Name), name)
	}
	return nil
}
