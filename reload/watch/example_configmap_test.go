package watch_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/watch"
)

// mounted is a Source of files in the mount of a ConfigMap, all of one version.
type mounted struct {
	reload.Wrapper
	dir string
}

func accounts(watcher *watch.Watcher, dir string) reload.Source {
	users, roles := watcher.File(dir+"/users.txt"), watcher.File(dir+"/roles.txt")
	return mounted{reload.Wrapper{Source: reload.Join(users, roles)}, dir}
}

func (m mounted) Fetch(ctx context.Context, have string) (*reload.Content, error) {
	before, _ := os.Readlink(m.dir + "/..data")
	content, err := m.Wrapper.Fetch(ctx, have)
	if after, _ := os.Readlink(m.dir + "/..data"); after == before {
		return content, err
	}
	if err == nil {
		content.Body.Close()
	}
	return nil, reload.ErrChanged // it is fetched again at once
}

// Accounts is the object that the example keeps fresh.
type Accounts struct {
	poolswap.Ref
	users, roles string
}

func loadAccounts(_ context.Context, next, _ *Accounts, content *reload.Content) error {
	for i, to := range []*string{&next.users, &next.roles} {
		text, err := io.ReadAll(content.Parts[i].Body)
		if err != nil {
			return err
		}
		*to = string(text)
	}
	return nil
}

// A ConfigMap is replaced as the kubelet does it: all of its files at once.
func Example_configMap() {
	dir, err := os.MkdirTemp("", "configmap")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	put := func(version string) {
		_ = os.Mkdir(filepath.Join(dir, version), 0o700)
		for _, name := range []string{"users.txt", "roles.txt"} {
			_ = os.WriteFile(filepath.Join(dir, version, name), []byte(name+" of "+version), 0o600)
			_ = os.Symlink(filepath.Join("..data", name), filepath.Join(dir, name))
		}
		_ = os.Symlink(version, filepath.Join(dir, "..data_tmp"))
		_ = os.Rename(filepath.Join(dir, "..data_tmp"), filepath.Join(dir, "..data"))
	}
	put("..2026_05_04")
	watcher, err := watch.New()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer watcher.Close()

	current := poolswap.NewEmptyContainer(poolswap.NewPool(func() *Accounts { return new(Accounts) }, nil))
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- reload.New(current, accounts(watcher, dir), loadAccounts, reload.Options{}).Run(ctx) }()
	for version, a := range current.Versions(ctx) {
		fmt.Println(a.users, "and", a.roles)
		if version == 2 {
			break
		}
		put("..2026_05_05")
	}
	cancel()
	fmt.Println(<-ended)
	// Output:
	// users.txt of ..2026_05_04 and roles.txt of ..2026_05_04
	// users.txt of ..2026_05_05 and roles.txt of ..2026_05_05
	// context canceled
}
