package api_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/fleet/fleetd/internal/api"
)

func TestContentIsServedAsAFile(t *testing.T) {
	s := newServer(t)
	text := strings.Repeat("0123456789", 1000)
	r, _ := s.publish("asn", text)
	token := s.token(fleet.ReplicaRole, "asn", "r1")
	path := "/v1/names/asn/content/" + r.SHA256
	etag := `"` + r.SHA256 + `"`
	for _, test := range []struct {
		headers []string
		status  int
		body    string
		length  string
	}{
		{nil, 200, text, "10000"},
		{[]string{"Range", "bytes=9990-"}, 206, "0123456789", "10"},
		{[]string{"Range", "bytes=1-3"}, 206, "123", "3"},
		{[]string{"Range", "bytes=-2"}, 206, "89", "2"},
		{[]string{"Range", "bytes=9990-", "If-Range", etag}, 206, "0123456789", "10"},
		{[]string{"Range", "bytes=9990-", "If-Range", `"other"`}, 200, text, "10000"},
		{[]string{"Range", "bytes=0-1,3-4"}, 200, text, "10000"},
		{[]string{"Range", "bytes=10000-"}, 416, "", ""},
		{[]string{"If-None-Match", etag}, 304, "", ""},
		{[]string{"If-None-Match", `"other"`}, 200, text, "10000"},
	} {
		a := s.want(test.status, "", token, "GET", path, "", test.headers...)
		if test.status != 416 && (a.text != test.body || a.header.Get("ETag") != etag || !strings.Contains(a.header.Get("Cache-Control"), "immutable")) || a.header.Get("Content-Length") != test.length && test.length != "" {
			t.Errorf("%q: %d %v, %d bytes", test.headers, a.status, a.header, len(a.text))
		}
	}
	if a := s.want(200, "", token, "HEAD", path, ""); a.text != "" || a.header.Get("Content-Length") != "10000" {
		t.Errorf("HEAD: %v %q", a.header, a.text)
	}
	for _, digest := range []string{strings.Repeat("0", 64), strings.Repeat("f", 64)} {
		s.want(404, "not_found", token, "GET", "/v1/names/asn/content/"+digest, "")
	}
	for _, digest := range []string{"0", strings.ToUpper(r.SHA256), r.SHA256 + "0", "..%2F..%2F" + r.SHA256[:58]} {
		s.want(400, "bad_request", token, "GET", "/v1/names/asn/content/"+digest, "")
	}
}

func TestContentBelongsToItsName(t *testing.T) {
	s := newServer(t)
	r, _ := s.publish("asn", "a secret")
	s.publish("other", "something else")
	s.want(200, "", s.token(fleet.ReplicaRole, "*", "r1"), "GET", "/v1/names/asn/content/"+r.SHA256, "")
	s.want(404, "not_found", s.token(fleet.ReplicaRole, "*", "r1"), "GET", "/v1/names/other/content/"+r.SHA256, "")
	s.want(403, "forbidden", s.token(fleet.ReplicaRole, "other", "r1"), "GET", "/v1/names/asn/content/"+r.SHA256, "")
}

func TestUploadsAreStoredAndSigned(t *testing.T) {
	s := newServer(t)
	token := s.token(fleet.PublisherRole, "*", "")
	const path = "/v1/names/asn/revisions"
	content := make([]byte, 3<<20)
	rand.Read(content)
	sum := sha256.Sum256(content)
	r := decode[fleet.Revision](t, s.want(201, "", token, "POST", path+"?id=mine&created=2026-11-23T10:15:00.5Z", string(content)))
	if r.ID != "mine" || r.Size != int64(len(content)) || r.SHA256 != hex.EncodeToString(sum[:]) || !r.Created.Equal(time.Date(2026, 11, 23, 10, 15, 0, 5e8, time.UTC)) {
		t.Errorf("it stored %+v", r)
	}
	again := decode[fleet.Revision](t, s.want(201, "", token, "POST", path+"?id=mine&created=2026-11-23T10:15:00.5Z", string(content)))
	if again.SHA256 != r.SHA256 {
		t.Errorf("once more it stored %+v", again)
	}
	s.want(409, "refused", token, "POST", path+"?id=mine", "other content")
	if a := s.want(200, "", token, "GET", "/v1/names/asn/content/"+r.SHA256, ""); !bytes.Equal([]byte(a.text), content) {
		t.Errorf("%d other bytes come back", len(a.text))
	}
	for _, query := range []string{"id=", "id=..", "id=a%0ab", "id=" + strings.Repeat("x", 129), "created=yesterday", "created=", "created=0000-01-01T00:00:00%2B01:00", "created=9999-12-31T23:59:59-01:00"} {
		s.want(400, "bad_request", token, "POST", path+"?"+query, "x")
	}
	sign := func(signature []byte) string {
		return fmt.Sprintf(`{"signature": %q}`, base64.StdEncoding.EncodeToString(signature))
	}
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	signature := ed25519.Sign(key, r.Statement("asn"))
	s.want(204, "", token, "PUT", path+"/mine/signature", sign(signature))
	s.want(404, "not_found", token, "PUT", path+"/none/signature", sign(signature))
	for _, body := range []string{``, `{}`, `{"signature": "x"}`, sign(signature[1:]), sign(append(signature, 0))} {
		s.want(400, "bad_request", token, "PUT", path+"/mine/signature", body)
	}
	list := decode[struct{ Revisions []fleet.Stored }](t, s.want(200, "", token, "GET", path, "")).Revisions
	if len(list) != 1 || !bytes.Equal(list[0].Signature, signature) {
		t.Errorf("the list is %+v", list)
	}
	s.want(201, "", token, "POST", path+"?id=empty", "")
}

func TestUploadsAreBounded(t *testing.T) {
	s := newServerWith(t, api.Options{MaxContent: 1000})
	token := s.token(fleet.PublisherRole, "*", "")
	const path = "/v1/names/asn/revisions"
	s.want(201, "", token, "POST", path, strings.Repeat("x", 1000))
	s.want(413, "too_large", token, "POST", path, strings.Repeat("x", 1001))
	chunked := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: fleet\r\nAuthorization: Bearer %s\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n", path, token)
	for _, size := range []int{1000, 1001} {
		text := s.raw(fmt.Sprintf("%s%x\r\n%s\r\n0\r\n\r\n", chunked, size, strings.Repeat("y", size)))
		if want := map[int]string{1000: "HTTP/1.1 201 ", 1001: "HTTP/1.1 413 "}[size]; !strings.HasPrefix(text, want) {
			t.Errorf("%d bytes without a length: %q", size, text)
		}
	}
	if list := decode[struct{ Revisions []fleet.Stored }](t, s.want(200, "", token, "GET", path, "")).Revisions; len(list) != 2 {
		t.Errorf("it has stored %+v", list)
	}
	// Uploads that send nothing more hold their places.
	held := make([]*hold, api.MaxUploads)
	holder := token
	for i := range held {
		if i%api.MaxOwnUploads == 0 {
			s.want(201, "", token, "POST", path, "x") // while another token has its most
			holder = s.token(fleet.PublisherRole, "asn", "")
		}
		held[i] = s.hold(fmt.Sprintf("POST %s HTTP/1.1\r\nHost: fleet\r\nAuthorization: Bearer %s\r\nExpect: 100-continue\r\nContent-Length: 10\r\n\r\n", path, holder))
		if status := held[i].status(t); status != http.StatusContinue {
			t.Fatalf("upload %d is answered with %d", i, status)
		}
		if i == api.MaxOwnUploads-1 {
			s.want(429, "too_many", holder, "POST", path, "x")
		}
	}
	if a := s.want(429, "too_many", token, "POST", path, "x"); a.header.Get("Retry-After") == "" {
		t.Errorf("the header is %v", a.header)
	}
	for _, h := range held {
		h.Close()
	}
	s.await("an upload", func() bool { return s.do(token, "POST", path, "x").status == http.StatusCreated })
	if list := decode[struct{ Revisions []fleet.Stored }](t, s.want(200, "", token, "GET", path, "")).Revisions; len(list) < 3 || len(list) > 20 {
		t.Errorf("it has stored %+v", list)
	}
}
