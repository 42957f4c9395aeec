package objectstore_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/versity/versitygw/auth"

	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

// static returns the key that *key is at the time.
func static(key *aws.Credentials) aws.CredentialsProvider {
	return aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) { return *key, nil })
}

// source returns a Source of an object.
func source(name string, key *aws.Credentials) reload.Source {
	return reload.HTTP(address(name), reload.HTTPOptions{Client: client, Prepare: signed(static(key), region)})
}

func TestAnObjectConforms(t *testing.T) {
	var n atomic.Int64
	reloadtest.TestSource(t, func(*testing.T) (reload.Source, reloadtest.Origin) {
		name := fmt.Sprintf("conforms-%d.txt", n.Add(1))
		return source(name, &root), object(name)
	})
}

// read returns the content of a Source and its revision.
func read(t *testing.T, source reload.Source) (text, revision string) {
	t.Helper()
	content, err := source.Fetch(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer content.Body.Close()
	all, err := io.ReadAll(content.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(all), content.Revision
}

// statuses keeps the status of each answer.
type statuses struct{ all []int }

func (s *statuses) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := transport.RoundTrip(request)
	if err == nil {
		s.all = append(s.all, response.StatusCode)
	}
	return response, err
}

func TestAnObjectThatIsTheSameIsNotTransferred(t *testing.T) {
	object("same.txt").Put(t, []byte("content"))
	seen := new(statuses)
	same := reload.HTTP(address("same.txt"), reload.HTTPOptions{Client: &http.Client{Transport: seen}, Prepare: signed(static(&root), region)})
	text, revision := read(t, same)
	if text != "content" || !strings.HasPrefix(revision, "etag ") {
		t.Errorf("the content is %q, the revision %q", text, revision)
	}
	if _, err := same.Fetch(t.Context(), revision); !errors.Is(err, reload.ErrNotModified) {
		t.Errorf("the error is %v", err)
	}
	if fmt.Sprint(seen.all) != "[200 304]" {
		t.Errorf("the answers have status %v", seen.all)
	}
}

func TestANameIsSignedAsItIsSent(t *testing.T) {
	name := "a%20table%20of%202026%2B.txt"
	object(name).Put(t, []byte("content"))
	if text, _ := read(t, source(name, &root)); text != "content" {
		t.Errorf("the content is %q", text)
	}
}

func TestKeysThatAreRefused(t *testing.T) {
	object("refused.txt").Put(t, []byte("content"))
	for _, c := range []struct {
		name string
		key  aws.Credentials
		want string
	}{
		{"a wrong secret", aws.Credentials{AccessKeyID: root.AccessKeyID, SecretAccessKey: "another secret"}, "SignatureDoesNotMatch"},
		{"an unknown key", aws.Credentials{AccessKeyID: "KEYKEYKEYKEYKEYKEYKE", SecretAccessKey: "another secret"}, "InvalidAccessKeyId"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := source("refused.txt", &c.key).Fetch(t.Context(), "")
			var refusal *reload.HTTPError
			if !errors.As(err, &refusal) || refusal.Status != http.StatusForbidden || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), c.key.SecretAccessKey) {
				t.Errorf("the error is %v", err)
			}
		})
	}
	unsigned := reload.HTTP(address("refused.txt"), reload.HTTPOptions{Client: client})
	if _, err := unsigned.Fetch(t.Context(), ""); err == nil || !strings.Contains(err.Error(), "AccessDenied") {
		t.Errorf("without a signature the error is %v", err)
	}
	missing := errors.New("no key is known")
	none := reload.HTTP(address("refused.txt"), reload.HTTPOptions{Client: client, Prepare: signed(aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		return aws.Credentials{}, missing
	}), region)})
	if _, err := none.Fetch(t.Context(), ""); !errors.Is(err, missing) {
		t.Errorf("without a key the error is %v", err)
	}
}

func TestKeysThatAreRotated(t *testing.T) {
	object("rotated.txt").Put(t, []byte("content"))
	account := func(name string) auth.Account {
		return auth.Account{Access: name, Secret: "the secret of " + name, Role: auth.RoleAdmin}
	}
	create := func(name string) {
		t.Helper()
		if err := accounts.CreateAccount(account(name)); err != nil {
			t.Fatal(err)
		}
	}
	create("FIRSTKEYFIRSTKEYFIRS")
	key := aws.Credentials{AccessKeyID: "FIRSTKEYFIRSTKEYFIRS", SecretAccessKey: account("FIRSTKEYFIRSTKEYFIRS").Secret}
	rotated := source("rotated.txt", &key)
	_, revision := read(t, rotated)

	create("SECONDKEYSECONDKEYSE")
	if err := accounts.DeleteUserAccount("FIRSTKEYFIRSTKEYFIRS"); err != nil {
		t.Fatal(err)
	}
	if _, err := rotated.Fetch(t.Context(), revision); err == nil || errors.Is(err, reload.ErrNotModified) {
		t.Errorf("with the old key the error is %v", err)
	}
	key = aws.Credentials{AccessKeyID: "SECONDKEYSECONDKEYSE", SecretAccessKey: account("SECONDKEYSECONDKEYSE").Secret}
	if _, err := rotated.Fetch(t.Context(), revision); !errors.Is(err, reload.ErrNotModified) {
		t.Errorf("with the new key the error is %v", err)
	}
}
