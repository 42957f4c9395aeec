package fleet

import (
	"errors"
	"fmt"
	"unicode"
	"unicode/utf8"
)

// maxName bounds the bytes of a name or id.
const maxName = 128

// CheckName returns an error for a text that cannot be a name, an id or a label.
// kind says which, for the error.
func CheckName(kind, name string) error {
	switch {
	case name == "":
		return fmt.Errorf("the %s is empty", kind)
	case !utf8.ValidString(name):
		return fmt.Errorf("the %s, %q, is not valid UTF-8", kind, name)
	case len(name) > maxName:
		return fmt.Errorf("the %s has %d bytes, more than %d", kind, len(name), maxName)
	case name == "." || name == "..":
		return fmt.Errorf("the %s is %q", kind, name)
	}
	for _, r := range name {
		if unicode.IsControl(r) {
			return fmt.Errorf("the %s, %q, has a control character", kind, name)
		}
	}
	return nil
}

// ErrConflict is returned by a change of a plan that another change has overtaken.
// The plan is what the other one made it: look at it before you try again.
var ErrConflict = errors.New("the plan was changed meanwhile")

// ErrNoPlan is returned where nothing was published under a name yet.
var ErrNoPlan = errors.New("nothing was published under this name")
