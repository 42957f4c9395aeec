package reload

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"weak"
)

const lockName = "lock"

// dirLock says that this process uses a directory, for the Caches that refer to it.
type dirLock struct{ file *os.File }

// dirLocks are the locks of this process, by directory. Its Caches of one directory share
// one. A lock ends with the process, or some time after the last of them was collected: until
// then its file is open, and a new Cache takes it over.
var dirLocks = struct {
	sync.Mutex
	of map[string]*heldLock
}{of: map[string]*heldLock{}}

// heldLock is a file that is locked, and the dirLock of those that use it, if there are any.
type heldLock struct {
	file *os.File
	lock weak.Pointer[dirLock]
}

// use returns a dirLock of a file that is locked. The caller has the mutex.
func (h *heldLock) use(name string) *dirLock {
	if lock := h.lock.Value(); lock != nil {
		return lock
	}
	lock := &dirLock{h.file}
	h.lock = weak.Make(lock)
	runtime.AddCleanup(lock, unlockDir, name)
	return lock
}

// unlockDir closes the file of a directory that no Cache uses.
func unlockDir(name string) {
	dirLocks.Lock()
	defer dirLocks.Unlock()
	if h := dirLocks.of[name]; h != nil && h.lock.Value() == nil {
		h.file.Close()
		delete(dirLocks.of, name)
	}
}

var errInUse = errors.New("another process uses it, so nothing is kept")

// lockDir returns the lock of dir, or errInUse if another process has it. Another error
// says that there can be none: not every file system has locks.
func lockDir(dir string) (*dirLock, error) {
	name, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if name, err = filepath.EvalSymlinks(name); err != nil {
		return nil, err
	}
	dirLocks.Lock()
	defer dirLocks.Unlock()
	if h := dirLocks.of[name]; h != nil {
		return h.use(name), nil
	}
	root, err := os.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	file, err := root.OpenFile(lockName, os.O_RDONLY|os.O_CREATE|nonBlocking, 0o600)
	if err != nil {
		return nil, err
	}
	if err := lockFile(file); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	h := &heldLock{file: file}
	dirLocks.of[name] = h
	return h.use(name), nil
}

// own returns an error if another process has the lock. It removes what earlier
// processes have left, once it has it.
func (c *cacheSource) own() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lock == nil {
		lock, err := lockDir(c.dir)
		if errors.Is(err, errInUse) {
			return fmt.Errorf("the cache in %s: %w", c.dir, errInUse)
		}
		c.lock = lock // or nil: a lock is for those who make a mistake
	}
	c.started.Do(c.removeParts)
	return nil
}
