//go:build !poolswapdebug

package poolswap

// debugBuild says whether this is a build with the tag poolswapdebug.
const debugBuild = false

// readerUser is the goroutine that uses a Reader, in a build with the tag poolswapdebug.
type readerUser struct{}

func (readerUser) check() {}
func (readerUser) leave() {}
