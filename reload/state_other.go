//go:build !unix

package reload

import "io/fs"

// stateOf goes without the identity and the change time: the system has none, or
// does not give them.
func stateOf(info fs.FileInfo) fileState {
	return fileState{size: info.Size(), modified: info.ModTime().UnixNano()}
}

const nonBlocking = 0
