package main

import (
	"crypto/rand"
	"os"
	"path/filepath"

	"github.com/nats-io/nats-server/v2/server"
)

// account is a user of the server, with its password in a file.
type account struct{ name, password, file string }

// users are the three users of a server: what a replica, a publisher and an
// administrator may do.
type users struct{ replica, publisher, admin account }

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

// Subjects of JetStream's interface that reading a stream takes.
func reading(stream string) []string {
	return []string{
		"$JS.API.STREAM.INFO." + stream, "$JS.API.DIRECT.GET." + stream, "$JS.API.DIRECT.GET." + stream + ".>", "$JS.API.STREAM.MSG.GET." + stream,
		"$JS.API.CONSUMER.CREATE." + stream, "$JS.API.CONSUMER.CREATE." + stream + ".>", "$JS.API.CONSUMER.INFO." + stream + ".*",
		"$JS.API.CONSUMER.MSG.NEXT." + stream + ".*", "$JS.API.CONSUMER.DELETE." + stream + ".*", "$JS.ACK." + stream + ".>", "$JS.FC." + stream + ".>",
	}
}

// The streams of a fleet.
const (
	plans   = "KV_poolswap-plans"
	reports = "KV_poolswap-reports"
	content = "OBJ_poolswap-content"
	changes = "poolswap-history"
)

// permissions returns the users as the server takes them.
//
// A replica reads plans and content and writes reports. A publisher also stores
// content, changes plans, reads reports and history and deletes content: that is
// all that steering takes. An administrator may also change the settings.
func (u *users) permissions() []*server.User {
	read := append(append([]string{"$JS.API.INFO"}, reading(plans)...), reading(content)...)
	replica := append([]string{"$KV.poolswap-reports.>"}, read...)
	publisher := append([]string{"$KV.poolswap-plans.>", "$O.poolswap-content.>", "$JS.API.STREAM.PURGE." + content, "poolswap.history.>"}, read...)
	publisher = append(append(publisher, reading(reports)...), reading(changes)...)
	return []*server.User{
		{Username: u.replica.name, Password: u.replica.password, Permissions: permitted(replica)},
		{Username: u.publisher.name, Password: u.publisher.password, Permissions: permitted(publisher)},
		{Username: u.admin.name, Password: u.admin.password},
	}
}

func permitted(publish []string) *server.Permissions {
	return &server.Permissions{Publish: &server.SubjectPermission{Allow: publish}, Subscribe: &server.SubjectPermission{Allow: []string{"_INBOX.>"}}}
}
