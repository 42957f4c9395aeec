package objectstore_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/versity/versitygw/auth"
	"github.com/versity/versitygw/backend/meta"
	"github.com/versity/versitygw/backend/posix"
	"github.com/versity/versitygw/embedgw"
	"github.com/versity/versitygw/s3api"
)

const region = "eu-central-1"

// root is the first key of the store.
var root = aws.Credentials{AccessKeyID: "ROOTROOTROOTROOTROOT", SecretAccessKey: "the secret of the root account"}

var (
	accounts  auth.IAMService    // of the store
	transport = http.Transport{} // to the store
	client    = &http.Client{Transport: &transport}
)

// One gateway is for all tests: it can run once in a process.
func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "objectstore")
	if err != nil {
		panic(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := start(ctx, dir)
	code := m.Run()
	cancel()
	if err := errors.Join(<-ended, os.RemoveAll(dir)); err != nil {
		panic(err)
	}
	os.Exit(code)
}

// start starts the gateway, with a bucket, and returns a channel for its end.
func start(ctx context.Context, dir string) <-chan error {
	sub := func(name string) string {
		name = filepath.Join(dir, name)
		if err := os.Mkdir(name, 0o700); err != nil {
			panic(err)
		}
		return name
	}
	accountsDir, sidecar := sub("accounts"), sub("sidecar")
	tags, err := meta.NewSideCar(sidecar)
	if err != nil {
		panic(err)
	}
	back, err := posix.New(sub("buckets"), tags, posix.PosixOpts{SideCarDir: sidecar})
	if err != nil {
		panic(err)
	}
	if accounts, err = auth.NewInternal(auth.Account{Access: root.AccessKeyID, Secret: root.SecretAccessKey, Role: auth.RoleAdmin}, accountsDir); err != nil {
		panic(err)
	}
	socket := filepath.Join(dir, "socket")
	transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}
	ended, ready := make(chan error, 1), make(chan struct{})
	go func() {
		ended <- embedgw.RunVersityGW(ctx, back, &embedgw.Config{
			RootUserAccess: root.AccessKeyID, RootUserSecret: root.SecretAccessKey, Region: region,
			Ports: []string{socket}, IAMService: accounts, IAMCacheDisable: true, Quiet: true, KeepAlive: true,
			MaxConnections: 100, MaxRequests: 100, MultipartMaxParts: 100,
			S3Options: []s3api.Option{s3api.WithOnListen(func() { close(ready) })},
		})
	}()
	select {
	case <-ready:
	case err := <-ended:
		panic(err)
	}
	if err := request(ctx, http.MethodPut, address(""), nil); err != nil {
		panic(err)
	}
	return ended
}

// address returns the URL of an object.
func address(name string) string { return "http://s3.example.com/tables/" + name }

// request sends a request with the root key.
func request(ctx context.Context, method, url string, body []byte) error {
	request, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	sum := sha256.Sum256(body)
	hash := hex.EncodeToString(sum[:])
	request.Header.Set("X-Amz-Content-Sha256", hash)
	if err := v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true }).SignHTTP(ctx, root, request, hash, "s3", region, time.Now()); err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if text, _ := io.ReadAll(response.Body); response.StatusCode >= 300 {
		return fmt.Errorf("%s of %s: %s: %s", method, url, response.Status, text)
	}
	return nil
}

// object is the origin of a Source of an object.
type object string

func (o object) Put(t testing.TB, content []byte) {
	t.Helper()
	if err := request(t.Context(), http.MethodPut, address(string(o)), content); err != nil {
		t.Fatal(err)
	}
}

func (o object) Remove(t testing.TB) {
	t.Helper()
	if err := request(t.Context(), http.MethodDelete, address(string(o)), nil); err != nil {
		t.Fatal(err)
	}
}
