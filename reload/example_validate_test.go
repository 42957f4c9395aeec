package reload_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

// loadAtLeastHalf refuses a table that lost more than half of its rows: it was
// cut where it came from, most likely.
func loadAtLeastHalf(_ context.Context, next, current *Table, content *reload.Content) error {
	if err := next.parse(content.Body); err != nil {
		return err
	}
	if current == nil {
		return nil
	}
	return reload.CheckLoss(len(current.rows), len(next.rows), 0.5)
}

// A load compares the new object with the current one.
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
	// reload: fake: revision "2": load: 1 of 4 rows are left, more than 50 % lost: was the table cut short? (version 1 stays; not tried again until the revision changes)
	// [a b c d]
}

func ExampleCheckLoss() {
	fmt.Println(reload.CheckLoss(4, 2, 0.5))
	fmt.Println(reload.CheckLoss(4, 1, 0.5))
	// Output:
	// <nil>
	// 1 of 4 rows are left, more than 50 % lost: was the table cut short?
}

// loadAccepted is loadAtLeastHalf for an operator who can overrule it.
func loadAccepted(ctx context.Context, next, current *Table, content *reload.Content) error {
	if content.Accepted {
		current = nil
	}
	return loadAtLeastHalf(ctx, next, current, content)
}

// An operator accepts a table that was refused.
func ExampleReloader_Accept() {
	ctx := context.Background()
	source := new(reloadtest.Fake)
	tables := newTables()
	reloader := reload.New(tables, source, loadAccepted, reload.Options{})
	source.Push([]byte("a\nb\nc\nd\n"))
	_ = reloader.Reload(ctx)
	source.Push([]byte("a\n"))
	_ = reloader.Reload(ctx)
	fmt.Println("refused:", reloader.Status().Refused)
	fmt.Println(reloader.Accept(ctx, "2")) // an operator has looked at it
	show(tables)
	// Output:
	// refused: 2
	// <nil>
	// [a]
}

// The memory for a table can be short for a moment.
func ExampleRetryable() {
	err := reload.Retryable(syscall.ENOMEM)
	fmt.Println(err, errors.Is(err, syscall.ENOMEM))
	// Output: cannot allocate memory true
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

// A panic of load is an error of the attempt, and the service goes on.
func Example_panic() {
	err := panicked()
	var failure *poolswap.HookPanicError
	if errors.As(err, &failure) {
		fmt.Println(failure.Value, len(failure.Stack) > 0)
	}
	fmt.Println(errors.Is(err, fs.ErrInvalid))
	// Output:
	// invalid argument true
	// true
}
