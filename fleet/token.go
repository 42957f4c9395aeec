package fleet

import (
	"slices"
	"time"
)

// Role is the rights of a token.
type Role string

// The roles. Reader, Publisher, Operator and Admin each include Reader's rights.
const (
	ReplicaRole   Role = "replica"   // plan, content, and the reports of its ids
	ReaderRole    Role = "reader"    // plan, content, status, history, revisions
	PublisherRole Role = "publisher" // also store revisions and publish them
	OperatorRole  Role = "operator"  // also every change of a plan
	AdminRole     Role = "admin"     // everything: tokens, removal, repair, too
)

// Roles returns all roles, the least first.
func Roles() []Role {
	return []Role{ReplicaRole, ReaderRole, PublisherRole, OperatorRole, AdminRole}
}

// Token describes a token. The server keeps a hash of its text, which it shows once.
type Token struct {
	ID      string    `json:"id,omitempty"`     // the public part of the text, which the server chooses
	Name    string    `json:"name"`             // of a person or program, for the history
	Role    Role      `json:"role"`             //
	Names   string    `json:"names"`            // pattern of names: * stands for any text
	IDs     string    `json:"ids,omitempty"`    // pattern of the ids of replicas, of a replica's token
	By      string    `json:"by,omitempty"`     // who made it
	Created time.Time `json:"created,omitzero"` //
	Expires time.Time `json:"expires,omitzero"` // zero: never
	Text    string    `json:"token,omitempty"`  // in the answer to its making alone
}

// Valid reports whether r is a role.
func (r Role) Valid() bool { return slices.Contains(Roles(), r) }
