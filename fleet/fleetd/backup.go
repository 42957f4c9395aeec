package main

import (
	"archive/tar"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/poolswap/poolswap/fleet"
)

// A backup is a tar file: the plan, then the content of each revision that it names,
// under the percent-encoded id.
const (
	planFile   = "plan.json"
	contentDir = "content/"
	maxPlan    = 16 << 20
)

// backup writes a backup of a name to a file, or to the standard output.
func backup(ctx context.Context, c *call) error {
	flags := newClientFlags(c.flags)
	args, err := c.parse(2, 2)
	if err != nil {
		return err
	}
	client, err := flags.client()
	if err != nil {
		return err
	}
	if args[1] == "-" {
		return writeBackup(ctx, client, args[0], c.stdout)
	}
	if err := replaceFile(args[1], func(w io.Writer) error { return writeBackup(ctx, client, args[0], w) }); err != nil {
		return err
	}
	fmt.Fprintf(c.stdout, "%s is in %s\n", args[0], args[1])
	return nil
}

func writeBackup(ctx context.Context, client *fleet.Client, name string, w io.Writer) error {
	controller, err := fleet.NewController(client, name)
	if err != nil {
		return err
	}
	plan, err := controller.Plan(ctx)
	if err != nil {
		return err
	}
	all, err := withBases(ctx, client, name, plan)
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(plan, "", "  ")
	if err != nil {
		return fmt.Errorf("fleetd: %w", err)
	}
	out := tar.NewWriter(w)
	err = out.WriteHeader(&tar.Header{Name: planFile, Mode: fileMode, Size: int64(len(text)), ModTime: time.Now()})
	if err == nil {
		_, err = out.Write(text)
	}
	for _, r := range all {
		if err == nil {
			err = copyContent(ctx, client, name, r, out)
		}
	}
	if err == nil {
		err = out.Close()
	}
	if err != nil {
		return fmt.Errorf("fleetd: backup of %s: %w", name, err)
	}
	return nil
}

// withBases returns the revisions that a plan names, each after those on which it rests,
// and describes these in the plan, too.
func withBases(ctx context.Context, client *fleet.Client, name string, plan *fleet.Plan) (all []fleet.Revision, err error) {
	has := map[string]bool{}
	for _, id := range plan.Named() {
		chain, err := client.Chain(ctx, name, plan.Revisions[id], "")
		if err != nil {
			return nil, err
		}
		for _, r := range chain {
			if !has[r.ID] {
				has[r.ID], plan.Revisions[r.ID] = true, r
				all = append(all, r)
			}
		}
	}
	return all, nil
}

func copyContent(ctx context.Context, client *fleet.Client, name string, r fleet.Revision, out *tar.Writer) error {
	content, err := client.Content(ctx, name, r)
	if err != nil {
		return err
	}
	defer content.Close()
	if err := out.WriteHeader(&tar.Header{Name: contentDir + url.PathEscape(r.ID), Mode: fileMode, Size: r.Size, ModTime: r.Created}); err != nil {
		return err
	}
	_, err = io.Copy(out, content)
	return err
}

// replaceFile writes a file, which takes its name once it is whole and on the disk.
func replaceFile(name string, write func(w io.Writer) error) error {
	file, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*")
	if err != nil {
		return fmt.Errorf("fleetd: %w", err)
	}
	defer os.Remove(file.Name()) // it has another name then
	err = write(file)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	if err := os.Rename(file.Name(), name); err != nil {
		return fmt.Errorf("fleetd: %w", err)
	}
	return nil
}

// restore stores the revisions of a backup, and publishes the stable one, where nothing
// was published. The previous one is not published before it: replicas that still
// serve the stable one would go back to it for a moment.
func restore(ctx context.Context, c *call) error {
	flags := newChangeFlags(c.flags)
	args, err := c.parse(2, 2)
	if err != nil {
		return err
	}
	client, controller, err := flags.controller(args[0])
	if err != nil {
		return err
	}
	file, err := openBackup(args[1], c.stdin)
	if err != nil {
		return fmt.Errorf("fleetd: %w", err)
	}
	defer file.Close()
	plan, err := checkBackup(args[0], file)
	if err != nil {
		return fmt.Errorf("fleetd: %s: this is no whole backup of %s: %w", args[1], args[0], err)
	}
	if now, err := controller.Plan(ctx); err == nil {
		return fmt.Errorf("fleetd: %s has plan %s already: restore brings back a name under which nothing was published", args[0], now.Version())
	} else if !errors.Is(err, fleet.ErrNoPlan) {
		return err
	}
	publisher, err := fleet.NewPublisher(client, args[0], fleet.PublisherOptions{New: true, AllowEmpty: true})
	if err != nil {
		return err
	}
	if _, err := eachContent(file, func(r fleet.Revision, content io.Reader) error { return publisher.Restore(ctx, r, content) }); err != nil {
		return err
	}
	now, err := controller.At(0, 0).Do(ctx, fleet.Operation{Kind: fleet.KindPublish, Revision: plan.Stable, Previous: plan.Previous, Why: *flags.why})
	if err != nil {
		return err
	}
	fmt.Fprintln(c.stdout, summary(now))
	return flags.await(ctx, c, controller, now)
}

// openBackup opens a file, or a copy of the standard input, which can be read twice.
func openBackup(name string, stdin io.Reader) (*os.File, error) {
	if name != "-" {
		return os.Open(name)
	}
	return temporaryFile(stdin)
}

// temporaryFile returns a copy of content, which can be read twice.
func temporaryFile(content io.Reader) (*os.File, error) {
	file, err := os.CreateTemp("", "fleetd.*")
	if err != nil {
		return nil, err
	}
	os.Remove(file.Name())
	if _, err := io.Copy(file, content); err != nil {
		file.Close()
		return nil, err
	}
	_, err = file.Seek(0, io.SeekStart)
	return file, err
}

// checkBackup reads a whole backup and returns its plan.
func checkBackup(name string, file *os.File) (*fleet.Plan, error) {
	found := map[string]bool{}
	plan, err := eachContent(file, func(r fleet.Revision, content io.Reader) error {
		sum := sha256.New()
		if size, err := io.Copy(sum, content); err != nil || size != r.Size || hex.EncodeToString(sum.Sum(nil)) != r.SHA256 {
			return fmt.Errorf("revision %q has other content, %w", r.ID, cmp.Or(err, errors.New("which was changed")))
		}
		found[r.ID] = true
		return nil
	})
	if err != nil {
		return nil, err
	}
	if plan.Name != name {
		return nil, fmt.Errorf("it is of the name %q, which its signatures hold, too", plan.Name)
	}
	for _, id := range plan.Named() {
		for range plan.Revisions { // bases in a circle would not end
			if id == "" {
				break
			}
			if !found[id] {
				return nil, fmt.Errorf("the content of revision %q is missing", id)
			}
			id = plan.Revisions[id].Base
		}
	}
	return plan, nil
}

// eachContent calls visit for each revision of a backup, and returns its plan.
func eachContent(file *os.File, visit func(r fleet.Revision, content io.Reader) error) (*fleet.Plan, error) {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	in := tar.NewReader(file)
	header, err := in.Next()
	if err != nil || header.Name != planFile {
		return nil, errors.Join(err, errors.New("it has no plan"))
	}
	text, err := io.ReadAll(io.LimitReader(in, maxPlan))
	if err != nil {
		return nil, err
	}
	plan := new(fleet.Plan)
	if err := json.Unmarshal(text, plan); err != nil {
		return nil, err
	}
	for {
		header, err := in.Next()
		if errors.Is(err, io.EOF) {
			return plan, nil
		}
		if err != nil {
			return nil, err
		}
		id, err := url.PathUnescape(strings.TrimPrefix(header.Name, contentDir))
		r, named := plan.Revisions[id]
		if err != nil || !named {
			return nil, fmt.Errorf("it has the file %.200q, which the plan does not name", header.Name)
		}
		if err := visit(r, in); err != nil {
			return nil, err
		}
	}
}
