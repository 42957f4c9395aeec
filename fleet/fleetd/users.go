package main

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/poolswap/poolswap/fleet"
)

// account is a user of the server, with its password in a file.
type account struct{ name, password, file string }

// users are the users of a server: what a replica, a publisher and an
// administrator may do. Besides, a replica can have a user of its own, whose name
// is replicaPrefix and its id, and whose password the one of replicas yields.
type users struct{ replica, publisher, admin account }

const replicaPrefix = "replica/"

func (u *users) all() []account { return []account{u.replica, u.publisher, u.admin} }

// usersIn returns the users whose passwords are in dir, and makes those that are
// missing.
func usersIn(dir string) (*users, error) {
	u := new(users)
	err := os.MkdirAll(dir, dirMode)
	for name, one := range map[string]*account{"replica": &u.replica, "publisher": &u.publisher, "admin": &u.admin} {
		*one = account{name: name, file: filepath.Join(dir, name+".password")}
		if err == nil {
			one.password, err = passwordIn(one.file)
		}
	}
	return u, err
}

// newPassword returns a random password.
func newPassword() string { return rand.Text() }

// replicaPassword returns the password of the user of one replica.
func replicaPassword(replicas, id string) string {
	sum := hmac.New(sha256.New, []byte(replicas))
	sum.Write([]byte("poolswap replica " + id))
	return base64.RawURLEncoding.EncodeToString(sum.Sum(nil))
}

// userOf prints the password of the user of one replica.
func userOf(_ context.Context, c *call) error {
	dir := c.flags.String("dir", "fleet.data", "`directory` of the server")
	args, err := c.parse(1, 1)
	if err != nil {
		return err
	}
	password, err := secretOf(filepath.Join(*dir, "replica.password"))
	if err != nil {
		return fmt.Errorf("fleetd: password: %w", err)
	}
	fmt.Fprintln(c.stdout, replicaPassword(password, args[0]))
	return nil
}

// Check implements server.Authentication. An administrator may do everything,
// settings included.
func (u *users) Check(c server.ClientAuthentication) bool {
	given := c.GetOpts()
	user := &server.User{Username: given.Username}
	var password string
	switch id, derived := strings.CutPrefix(given.Username, replicaPrefix); {
	case derived && id != "":
		password, user.Permissions = replicaPassword(u.replica.password, id), permitted(fleet.ReplicaSubjects(id))
	case given.Username == u.replica.name:
		password, user.Permissions = u.replica.password, permitted(fleet.ReplicaSubjects(""))
	case given.Username == u.publisher.name:
		password, user.Permissions = u.publisher.password, permitted(fleet.PublisherSubjects())
	case given.Username == u.admin.name:
		password = u.admin.password
	default:
		return false
	}
	if subtle.ConstantTimeCompare([]byte(given.Password), []byte(password)) != 1 {
		return false
	}
	c.RegisterUser(user)
	return true
}

func permitted(publish []string) *server.Permissions {
	return &server.Permissions{Publish: &server.SubjectPermission{Allow: publish}, Subscribe: &server.SubjectPermission{Allow: []string{"_INBOX.>"}}}
}
