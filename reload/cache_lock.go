package reload

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"weak"
)

const lockName = "lock"

// dirLock says that this process uses a directory: until it ends, or none of its Caches
// of the directory can be reached and the garbage collector has closed the file.
type dirLock struct{ file *os.File }

// dirLocks are the locks of this process. Its Caches of one directory share one.
var dirLocks = struct {
	sync.Mutex
	of map[string]weak.Pointer[dirLock]
}{of: map[string]weak.Pointer[dirLock]{}}

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
	if lock := dirLocks.of[name].Value(); lock != nil {
		return lock, nil
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
	lock := &dirLock{file}
	dirLocks.of[name] = weak.Make(lock)
	return lock, nil
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
