package registry_test

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	_ "github.com/distribution/distribution/v3/registry/auth/htpasswd"
	"github.com/distribution/distribution/v3/registry/auth/token"
	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"golang.org/x/crypto/bcrypt"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/credentials"

	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/oci"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

// static returns credentials for every registry.
func static(user, password string) auth.CredentialFunc {
	return func(context.Context, string) (auth.Credential, error) {
		return auth.Credential{Username: user, Password: password}, nil
	}
}

// basic returns the access to a registry that asks for a password itself.
func basic(t *testing.T, user, password string) access {
	t.Helper()
	file := filepath.Join(t.TempDir(), "htpasswd")
	writePassword(t, file, user, password)
	return access{"htpasswd": {"realm": "tables", "path": file}}
}

func writePassword(t *testing.T, file, user, password string) {
	t.Helper()
	hash, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
	if err == nil {
		err = os.WriteFile(file, []byte(user+":"+string(hash)+"\n"), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// tokenServer gives tokens for a password.
type tokenServer struct {
	*httptest.Server

	key      ed25519.PrivateKey
	password atomic.Value // a string
	asked    atomic.Int64
	life     time.Duration
}

func newTokenServer(t *testing.T, password string) *tokenServer {
	t.Helper()
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	s := &tokenServer{key: key, life: time.Hour}
	s.password.Store(password)
	s.Server = httptest.NewTLSServer(s)
	t.Cleanup(s.Close)
	return s
}

// access returns the access to a registry that takes the tokens.
func (s *tokenServer) access(t *testing.T) access {
	t.Helper()
	keys := jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: s.key.Public(), KeyID: "key", Algorithm: "EdDSA"}}}
	file := filepath.Join(t.TempDir(), "keys")
	text, err := json.Marshal(keys)
	if err == nil {
		err = os.WriteFile(file, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return access{"token": {"realm": s.URL + "/token", "service": "tables", "issuer": "test", "jwks": file}}
}

func (s *tokenServer) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	s.asked.Add(1)
	_, password, _ := request.BasicAuth()
	password = cmp.Or(password, request.FormValue("refresh_token"))
	if password != s.password.Load() {
		w.WriteHeader(http.StatusUnauthorized)
		json.NewEncoder(w).Encode(map[string]any{"errors": []any{map[string]string{"code": "UNAUTHORIZED", "message": "wrong password: " + password}}})
		return
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.EdDSA, Key: jose.JSONWebKey{Key: s.key, KeyID: "key"}}, nil)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	now := time.Now()
	signed, err := jwt.Signed(signer).Claims(token.ClaimSet{
		Issuer: "test", Subject: "reader", Audience: []string{"tables"},
		Expiration: now.Add(s.life).Unix(), NotBefore: now.Add(-s.life).Unix(), IssuedAt: now.Unix(), JWTID: "1",
		Access: []*token.ResourceActions{{Type: "repository", Name: "tables/asn", Actions: []string{"pull", "push", "delete"}}},
	}).Serialize()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	json.NewEncoder(w).Encode(map[string]string{"access_token": signed})
}

func TestATagBehindTokensConforms(t *testing.T) {
	reloadtest.TestSource(t, func(t *testing.T) (reload.Source, reloadtest.Origin) {
		r := newRegistry(t, newTokenServer(t, "password").access(t), static("reader", "password"))
		return r.source("stable"), origin{r}
	})
}

func TestATokenIsUsedAgain(t *testing.T) {
	tokens := newTokenServer(t, "password")
	r := newRegistry(t, tokens.access(t), static("reader", "password"))
	r.push(t, "stable", table("content"))
	source := r.source("stable")
	before := tokens.asked.Load()
	read(t, source, "")
	read(t, source, "")
	if n := tokens.asked.Load() - before; n != 1 {
		t.Errorf("asked for %d tokens", n)
	}
}

func TestCredentialsThatAreRefused(t *testing.T) {
	for _, c := range []struct {
		name   string
		access func(t *testing.T) access
		want   string
	}{
		{"by the registry", func(t *testing.T) access { return basic(t, "reader", "right password") }, "status 401 Unauthorized"},
		{"by the token server", func(t *testing.T) access { return newTokenServer(t, "right password").access(t) }, `/token: status 401 Unauthorized, "unauthorized: wrong password: …"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRegistry(t, c.access(t), static("reader", "right password"))
			r.push(t, "stable", table("content"))
			options := r.options()
			options.Credential = static("reader", "wrong pass word")
			reloader, _ := newReloader(oci.Source(r.name("stable"), options), reload.Options{})
			err := reloader.Reload(t.Context())
			var refusal *reload.HTTPError
			if !errors.As(err, &refusal) || refusal.Status != http.StatusUnauthorized || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), r.name("stable")) {
				t.Errorf("the error is %v", err)
			}
			if strings.Contains(err.Error(), "wrong pass word") || strings.Contains(err.Error(), "scope") {
				t.Errorf("the error shows the password or a query: %v", err)
			}
			options.Credential = func(context.Context, string) (auth.Credential, error) {
				return auth.Credential{RefreshToken: "wrong pass word"}, nil
			}
			if err := fails(t, oci.Source(r.name("stable"), options)); strings.Contains(err.Error(), "wrong pass word") {
				t.Errorf("the error shows the refresh token: %v", err)
			}
			options.Credential = nil
			if err := fails(t, oci.Source(r.name("stable"), options)); !strings.Contains(err.Error(), "credential not found") && !strings.Contains(err.Error(), "status 401") {
				t.Errorf("without credentials the error is %v", err)
			}
		})
	}
}

// Credentials are asked for again once the registry refuses the last ones.
func TestCredentialsThatChange(t *testing.T) {
	file := filepath.Join(t.TempDir(), "htpasswd")
	writePassword(t, file, "reader", "first password")
	password := "first password"
	credential := func(context.Context, string) (auth.Credential, error) {
		return auth.Credential{Username: "reader", Password: password}, nil
	}
	r := newRegistry(t, access{"htpasswd": {"realm": "tables", "path": file}}, credential)
	r.push(t, "stable", table("one"))
	source := r.source("stable")
	read(t, source, "")
	writePassword(t, file, "reader", "second password")
	if err := os.Chtimes(file, time.Time{}, time.Now().Add(time.Hour)); err != nil { // the registry looks at the time
		t.Fatal(err)
	}
	fails(t, source)
	password = "second password"
	if _, text := read(t, source, ""); text != "one" {
		t.Errorf("the content is %q", text)
	}
}

func TestTokensThatExpire(t *testing.T) {
	tokens := newTokenServer(t, "first password")
	password := "first password"
	r := newRegistry(t, tokens.access(t), func(context.Context, string) (auth.Credential, error) {
		return auth.Credential{Username: "reader", Password: password}, nil
	})
	r.push(t, "stable", table("one"))
	source := r.source("stable")
	tokens.life = -2 * time.Hour // beyond the registry's leeway
	fails(t, source)
	tokens.life = time.Hour
	tokens.password.Store("second password")
	fails(t, source)
	password = "second password"
	if _, text := read(t, source, ""); text != "one" {
		t.Errorf("the content is %q", text)
	}
}

func TestCredentialsOfDocker(t *testing.T) {
	r := newRegistry(t, basic(t, "reader", "password"), static("reader", "password"))
	r.push(t, "stable", table("content"))
	file := filepath.Join(t.TempDir(), "config.json")
	host := strings.TrimPrefix(r.URL, "https://")
	if err := os.WriteFile(file, []byte(`{"auths":{"`+host+`":{"auth":"cmVhZGVyOnBhc3N3b3Jk"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	store, err := credentials.NewStore(file, credentials.StoreOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, text := read(t, oci.Source(r.name("stable"), oci.Options{Client: r.Client(), Credential: credentials.Credential(store)}), ""); text != "content" {
		t.Errorf("the content is %q", text)
	}
}
