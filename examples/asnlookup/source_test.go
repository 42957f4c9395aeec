package main

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"
)

func TestAFileThatIsNoTableIsRefused(t *testing.T) {
	dir := t.TempDir()
	big := dir + "/big"
	if err := os.WriteFile(big, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(big, maxFiles+1); err != nil {
		t.Skip(err) // a file system without sparse files
	}
	for path, want := range map[string]error{dir: errNotFile, big: errTooBig, dir + "/none": os.ErrNotExist} {
		s, _ := newTestService(files{path})
		err := s.reloader.reload("test")
		if !errors.Is(err, want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, want %v", path, err, want)
		}
	}
}

func TestAFileThatChangesWhileItIsReadIsRefused(t *testing.T) {
	path := tempTable(t, generationCSV(1))
	change := func(io.Reader) error { return os.WriteFile(path, []byte(generationCSV(2)), 0o666) }
	if _, err := readFile(path, maxFiles, change); !errors.Is(err, errChanged) {
		t.Errorf("the file was written over: %v", err)
	}
	if size, err := readFile(path, maxFiles, func(io.Reader) error { return nil }); err != nil || size != int64(len(generationCSV(2))) {
		t.Errorf("the file was left alone: %d bytes, %v", size, err)
	}
}

func TestSeveralFilesMakeOneTable(t *testing.T) {
	v4 := tempTable(t, "1.0.0.0,1.0.0.255,1,x\n")
	v6 := tempTable(t, "2001::,2001::1,1,x\n")
	more := tempTable(t, "1.0.1.0,1.0.1.255,1,x\n")
	s, _ := loadedService(t, files{v4, v6, more})
	if got := *s.counts.size.Load(); got.IPv4 != 2 || got.IPv6 != 1 || got.Systems != 1 {
		t.Errorf("the table is %+v", got)
	}
	s, logged := newTestService(files{more, v6, v4})
	if err := s.reloader.reload("test"); err == nil || !strings.Contains(logged.String(), v4+":1: ") {
		t.Errorf("files that are out of order: %v", err)
	}
}
