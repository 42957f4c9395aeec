package reload_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

// loadAtLeastHalf refuses a table that lost more than half of its rows: it was
// cut where it came from, most likely.
func loadAtLeastHalf(_ context.Context, next, current *Table, content *reload.Content) error {
	if err := next.parse(content.Body); err != nil {
		return err
	}
	if current != nil && len(next.rows) < len(current.rows)/2 {
		return fmt.Errorf("%d rows after %d: was the table cut short?", len(next.rows), len(current.rows))
	}
	return nil
}

// A load compares with what is current.
func ExampleNew_validate() {
	ctx := context.Background()
	source := new(reloadtest.Fake)
	tables := newTables()
	reloader := reload.New(tables, source, loadAtLeastHalf, reload.Options{})
	source.Push([]byte("a\nb\nc\nd\n"))
	fmt.Println(reloader.Reload(ctx))
	source.Push([]byte("a\n"))
	fmt.Println(reloader.Reload(ctx))
	show(tables)
	// Output:
	// <nil>
	// reload: fake: revision "2": load: 1 rows after 4: was the table cut short? (version 1 stays; not tried again until the revision changes)
	// [a b c d]
}

// refused returns the error of an attempt whose content load refuses.
func refused() error {
	source := new(reloadtest.Fake)
	source.Push([]byte("bad"))
	return reload.New(newTables(), source, func(context.Context, *Table, *Table, *reload.Content) error {
		return errBad
	}, reload.Options{}).Reload(context.Background())
}

func ExampleError() {
	var failure *reload.Error
	if errors.As(refused(), &failure) {
		fmt.Println(failure.Source, failure.Revision, failure.Stage, failure.Refused, failure.Current)
	}
	// Output: fake 1 load true 0
}

func ExampleError_Error() {
	fmt.Println(refused())
	// Output: reload: fake: revision "1": load: bad row 3 (nothing is loaded yet; not tried again until the revision changes)
}

func ExampleError_Unwrap() {
	fmt.Println(errors.Is(refused(), errBad))
	// Output: true
}

// An alert can treat bad content and a source that is down differently.
func ExampleStage() {
	for _, stage := range []reload.Stage{reload.Fetching, reload.Reading, reload.Loading, reload.Verifying, reload.Publishing} {
		fmt.Println(stage)
	}
	// Output:
	// fetch
	// read
	// load
	// verify
	// publish
}

// panicked returns the error of an attempt whose load panics.
func panicked() error {
	source := new(reloadtest.Fake)
	source.Push([]byte("1 2"))
	return reload.New(newTables(), source, func(context.Context, *Table, *Table, *reload.Content) error {
		panic(fs.ErrInvalid)
	}, reload.Options{}).Reload(context.Background())
}

func ExampleLoadPanic() {
	var failure *reload.LoadPanic
	if errors.As(panicked(), &failure) {
		fmt.Println(failure.Value, len(failure.Stack) > 0)
	}
	// Output: invalid argument true
}

func ExampleLoadPanic_Error() {
	fmt.Println(&reload.LoadPanic{Value: "index out of range [3]", Stack: []byte("goroutine 7 …")})
	// Output:
	// load panicked: index out of range [3]
	// goroutine 7 …
}

func ExampleLoadPanic_Unwrap() {
	fmt.Println(errors.Is(panicked(), fs.ErrInvalid))
	// Output: true
}
