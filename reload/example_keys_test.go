package reload_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"

	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

// withTokenFile reads the token for each request: a program beside this one renews it.
func withTokenFile(address, tokenFile string) reload.Source {
	return reload.HTTP(address, reload.HTTPOptions{
		Prepare: func(request *http.Request) error {
			token, err := os.ReadFile(tokenFile)
			if err != nil {
				return err
			}
			request.Header.Set("Authorization", "Bearer "+string(bytes.TrimSpace(token)))
			return nil
		},
	})
}

// A token that was renewed is used with the next request.
func ExampleHTTPOptions_token() {
	content := "a.example\n"
	server := origin(&content)
	defer server.Close()
	tokenFile := tempFile("expired\n")
	defer remove(tokenFile)
	tables := newTables()
	source := withTokenFile(server.URL+"/db?licence_key=4711-0815", tokenFile)
	reloader := reload.New(tables, source, loadTable, reload.Options{Logger: slog.New(slog.DiscardHandler)})
	err := reloader.Reload(context.Background())
	fmt.Println(strings.Contains(err.Error(), "403 Forbidden"), strings.Contains(err.Error(), "expired"))

	if err := os.WriteFile(tokenFile, []byte("s3cret\n"), 0o600); err != nil {
		fmt.Println(err)
	}
	fmt.Println(reloader.Reload(context.Background()))
	show(tables)
	// Output:
	// true false
	// <nil>
	// [a.example]
}

// publicKey returns a private key, and its public key in PEM.
func publicKey(seed byte) (private ed25519.PrivateKey, public []byte) {
	private = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, ed25519.SeedSize)) // a real key has a secret seed
	der, err := x509.MarshalPKIXPublicKey(private.Public())
	if err != nil {
		panic(err)
	}
	return private, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
}

func verified(content, signatures reload.Source, keyFile string) reload.Source {
	return reload.VerifyWithKeys(content, signatures, "deny", reload.KeysFrom(reload.File(keyFile)))
}

// While keys are rotated, the file has both.
func ExampleVerifyWithKeys() {
	oldPrivate, oldKey := publicKey(1)
	newPrivate, newKey := publicKey(2)
	keyFile := tempFile(string(oldKey))
	defer remove(keyFile)
	content, signatures := new(reloadtest.Fake), new(reloadtest.Fake)
	tables := newTables()
	reloader := reload.New(tables, verified(content, signatures, keyFile), loadTable, reload.Options{Logger: slog.New(slog.DiscardHandler)})
	publish := func(text string, key ed25519.PrivateKey) {
		content.Push([]byte(text))
		signatures.Push(ed25519.Sign(key, reload.Statement("deny", sha256.Sum256([]byte(text)))))
		err := reloader.Reload(context.Background())
		if err != nil {
			err = errors.New("not published")
		}
		fmt.Print(err, " ")
		show(tables)
	}
	publish("a.example\n", oldPrivate)
	publish("b.example\n", newPrivate)
	if err := os.WriteFile(keyFile, append(oldKey, newKey...), 0o600); err != nil {
		fmt.Println(err)
	}
	publish("c.example\n", newPrivate)
	// Output:
	// <nil> [a.example]
	// not published [a.example]
	// <nil> [c.example]
}

// Keys of a program's own, such as a client of a key server.
func ExampleKeys() {
	private, _ := publicKey(1)
	var keys reload.Keys = func(context.Context) ([]ed25519.PublicKey, error) {
		return []ed25519.PublicKey{private.Public().(ed25519.PublicKey)}, nil
	}
	content, signatures := new(reloadtest.Fake), new(reloadtest.Fake)
	table := []byte("a.example\n")
	sum := sha256.Sum256(table)
	content.Push(table)
	signatures.Push(ed25519.Sign(private, sum[:]))
	tables := newTables()
	source := reload.VerifyWithKeys(content, signatures, "", keys)
	fmt.Println(reload.New(tables, source, loadTable, reload.Options{}).Reload(context.Background()))
	show(tables)
	// Output:
	// <nil>
	// [a.example]
}
