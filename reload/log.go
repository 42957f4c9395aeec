package reload

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/oplog"
)

// LogOptions configure a Reloader of [NewLog]. The zero LogOptions will do.
type LogOptions[T any] struct {
	Options

	// Digest, if not nil, returns the digest of all rows of obj, such as that of package
	// oplog/lthash, which Apply keeps up to date at the cost of an operation, Copy copies
	// and Reset clears. Content with a State is published only if it has led to that
	// digest; Digest is not asked about other content. It must not write to obj.
	Digest func(obj *T) [sha256.Size]byte

	// Check, if not nil, looks at the whole result before it is published: next, and
	// current, which it will replace: at first the empty object of the log. An error
	// refuses the content. content says whether an operator accepted it. Check must write
	// to neither object, and not keep them.
	Check func(next, current *T, content *Content) error
}

// NewLog returns a Reloader that publishes the content of source in log, whose operations
// decode yields: all rows, to an empty object, for whole content, and for a delta
// (Content.Base is not "") the changes. An error that decode yields refuses the content.
// The operations are the log's from then on, and content is decode's until its iterator
// ends.
//
// A delta is read whole and verified before an object is taken for it, and published as
// one version: it costs what it changes. If it does not verify, does not fit or is
// refused, the Reloader at once asks for whole content, and tells it in Event.DeltaErr; if
// a transfer breaks off, it asks again as usual. Content of a chain is published as one
// version, too. Whole content costs a Copy of the log. A delta after which the digest is
// another one does not fit. Whole content with another digest is refused.
//
// The Reloader is the only publisher of log from then on: see [oplog.Writer]. After a
// publication past the log, the next revision is fetched whole; until then Status does not
// tell. Readers begin with the empty object of the log: [Ready] says when something is
// loaded.
//
// NewLog panics if log, source or decode is nil, if an option is negative, or if log has
// a Writer.
func NewLog[T any, P poolswap.Object[T], Op any](log *oplog.Log[T, P, Op], source Source, decode func(ctx context.Context, content *Content) iter.Seq2[Op, error], options LogOptions[T]) *Reloader {
	switch {
	case log == nil:
		panic("reload: NewLog with a nil Log")
	case source == nil:
		panic("reload: NewLog with a nil Source")
	case decode == nil:
		panic("reload: NewLog with a nil decode")
	}
	r := newReloader("NewLog", source, options.Options)
	writer, err := log.Claim()
	if err != nil {
		panic("reload: NewLog of a Log that another Reloader has")
	}
	c := log.Container()
	f := &follower[T, P, Op]{writer: writer, container: c, decode: decode, digest: options.Digest, check: options.Check}
	r.publish, r.version, r.wait = f.publish, c.Version, c.Wait
	r.base = func() string {
		if s := r.Status(); s.Version != 0 && s.Version == c.Version() {
			return s.Revision
		}
		return ""
	}
	return r
}

// follower publishes the content of an origin in a log.
type follower[T any, P poolswap.Object[T], Op any] struct {
	writer    *oplog.Writer[T, P, Op]
	container *poolswap.Container[T, P]
	decode    func(ctx context.Context, content *Content) iter.Seq2[Op, error]
	digest    func(obj *T) [sha256.Size]byte
	check     func(next, current *T, content *Content) error
}

func (f *follower[T, P, Op]) publish(ctx context.Context, a *attempt) (version uint64, err error) {
	if a.content.isDelta() {
		return f.change(a)
	}
	return f.replace(ctx, a)
}

// replace publishes whole content, and the deltas since if there are any.
func (f *follower[T, P, Op]) replace(ctx context.Context, a *attempt) (version uint64, err error) {
	return f.writer.Replace(ctx, func(next, current *T, apply func(op Op) error) error {
		return a.fill(f.container.VersionOf(current), func() error {
			if err := f.each(a, apply); err != nil {
				return err
			}
			return f.accept(a, next, current)
		})
	})
}

// accept returns an error if next, which an attempt has made, must not replace current.
func (f *follower[T, P, Op]) accept(a *attempt, next, current *T) error {
	if err := f.compare(a, next); err != nil || f.check == nil {
		return err
	}
	return f.check(next, current, a.content)
}

// errState is why content is wrong although each of its bytes is right.
var errState = errors.New("it leads to other rows than those of its publisher")

// compare returns an error unless the rows of obj are those to which an attempt's content
// has to lead.
func (f *follower[T, P, Op]) compare(a *attempt, obj *T) error {
	all := a.content.contents()
	want := all[len(all)-1].State
	if f.digest == nil || want == "" {
		return nil
	}
	sum := f.digest(obj)
	if got := hex.EncodeToString(sum[:]); got != want {
		return fmt.Errorf("%w: their digest is %s, not %.64q", errState, got, want)
	}
	return nil
}

// each calls do with each operation of an attempt's content.
func (f *follower[T, P, Op]) each(a *attempt, do func(op Op) error) error {
	for _, content := range a.content.contents() {
		for op, err := range f.decode(a.ctx, content) {
			if err == nil {
				err = do(op)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// change publishes deltas. Those that fail have taken no object, unless an operation
// fails: then the log copies one.
func (f *follower[T, P, Op]) change(a *attempt) (version uint64, err error) {
	from := f.container.Version()
	if a.deltaBase() != a.content.Base {
		return 0, errBase
	}
	var ops []Op
	err = a.fill(0, func() error {
		return f.each(a, func(op Op) error { ops = append(ops, op); return nil })
	})
	if err != nil {
		return 0, err
	}
	if len(ops) == 0 {
		return 0, f.unchanged(a, from)
	}
	waiting, cancel := context.WithTimeout(a.ctx, a.options.ObjectWait)
	defer cancel()
	err = recovered(func() (err error) { // Apply and Copy can panic
		version, err = f.writer.Publish(waiting, from, ops, func(next, current *T) error {
			a.stage = Loading
			if err := f.accept(a, next, current); err != nil {
				return err
			}
			a.stage = Publishing
			return nil
		})
		return err
	})
	switch {
	case version != 0:
	case errors.Is(err, poolswap.ErrConflict):
		err = errBase
	case errors.As(err, new(*oplog.ApplyError)), errors.As(err, new(*poolswap.HookPanicError)):
		a.stage = Loading
	}
	return version, err
}

// unchanged ends an attempt with a delta of no operations on a version.
func (f *follower[T, P, Op]) unchanged(a *attempt, from uint64) error {
	current := f.container.Acquire()
	defer f.container.Release(current)
	if current == nil || f.container.VersionOf(current) != from {
		return errBase
	}
	if err := recovered(func() error { return f.compare(a, current) }); err != nil {
		a.stage = Loading
		return err
	}
	return errUnchanged
}
