// Package watch makes file changes known at once: its Sources are those of
// reload.File, with hints from the file system's notifications.
//
//	watcher, err := watch.New()
//	...
//	defer watcher.Close()
//	reloader := reload.New(tables, watcher.File("asn.csv"), load, reload.Options{})
//
// A hint only makes the Reloader fetch. Notifications come late,
// in numbers, or not at all, on network file systems for example, so the
// Reloader goes on polling as it does without them.
package watch

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"

	"github.com/fsnotify/fsnotify"

	"github.com/poolswap/poolswap/reload"
)

// Watcher watches the directories of files, each once, however many files it has.
// A file is not watched itself: a watch follows the file that is renamed away,
// not the name. It is safe for any number of goroutines.
type Watcher struct {
	notify *fsnotify.Watcher
	done   chan struct{}

	mu   sync.Mutex // guards dirs
	dirs map[string]*dir
}

// dir is a directory.
type dir struct {
	watched bool
	sources map[*source]struct{}
}

// New returns a Watcher. It fails if the system has no notifications, or no more.
func New() (*Watcher, error) {
	notify, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watch: %w", err)
	}
	w := &Watcher{notify: notify, done: make(chan struct{}), dirs: map[string]*dir{}}
	go w.run()
	return w, nil
}

// Close ends the hints. Sources can still be fetched.
func (w *Watcher) Close() error {
	err := w.notify.Close() // ends run
	<-w.done
	return err
}

// File returns reload.File(name) with hints. The directory need not exist yet. A
// change behind a symbolic link in another directory gives no hint; one that
// swaps a link beside the file, as Kubernetes does, gives one. One Reloader uses
// the Source.
func (w *Watcher) File(name string) reload.Source {
	s := &source{Source: reload.File(name), watcher: w, name: name, dir: filepath.Dir(name), hint: make(chan struct{}, 1)}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dirs[s.dir] == nil {
		w.dirs[s.dir] = &dir{sources: map[*source]struct{}{}}
	}
	w.dirs[s.dir].sources[s] = struct{}{}
	return s
}

// watch begins to watch a directory, unless that has been done.
func (w *Watcher) watch(name string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	d := w.dirs[name]
	if d.watched {
		return nil
	}
	if err := w.notify.Add(name); err != nil {
		return err
	}
	d.watched = true
	return nil
}

// run passes on the notifications of the system, until Close.
func (w *Watcher) run() {
	defer close(w.done)
	for {
		select {
		case event, open := <-w.notify.Events:
			if !open {
				return
			}
			w.pass(event)
		case _, open := <-w.notify.Errors: // events were lost, perhaps those of any file
			if !open {
				return
			}
			w.mu.Lock()
			for _, d := range w.dirs {
				d.pass()
			}
			w.mu.Unlock()
		}
	}
}

func (w *Watcher) pass(event fsnotify.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if d := w.dirs[event.Name]; d != nil && event.Has(fsnotify.Remove|fsnotify.Rename) { // the directory itself has gone
		w.notify.Remove(event.Name) //nolint:errcheck // it may be gone already
		d.watched = false
		d.pass()
	}
	if d := w.dirs[filepath.Dir(event.Name)]; d != nil {
		d.pass()
	}
}

// pass gives a hint to each file of a directory: which of them a link leads to is
// not known.
func (d *dir) pass() {
	for s := range d.sources {
		select {
		case s.hint <- struct{}{}:
		default: // it has one
		}
	}
}

// source is a file with hints.
type source struct {
	reload.Source
	watcher *Watcher
	name    string
	dir     string
	hint    chan struct{}
}

// String returns the file's name.
func (s *source) String() string { return s.name }

// Wait implements reload.Waiter. It returns an error while the directory cannot be
// watched.
func (s *source) Wait(ctx context.Context, _ string) error {
	s.watcher.mu.Lock()
	fresh := !s.watcher.dirs[s.dir].watched
	s.watcher.mu.Unlock()
	if err := s.watcher.watch(s.dir); err != nil {
		return fmt.Errorf("watch: %w", err)
	}
	if fresh {
		return nil // the file may have changed before
	}
	select {
	case <-s.hint:
		return nil
	case <-s.watcher.done:
		<-ctx.Done()
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}
