package poolswap

import "fmt"

// HookPanic is told to Options.Report when the reset or Discard function of a
// pool panicked on the sweeper. The object it was called for is gone; nothing
// else is affected.
type HookPanic struct {
	Value any    // what it panicked with
	Stack []byte // where, as debug.Stack prints it
}

// Error says that a hook panicked, and with what.
func (e *HookPanic) Error() string {
	return fmt.Sprintf("poolswap: reset or Discard panicked: %v", e.Value)
}

// Unwrap returns the value of the panic if it is an error.
func (e *HookPanic) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}
