//go:build !linux || !(amd64 || arm64)

package reload

import "os"

// pathStat asks for the state of a path.
type pathStat struct{ name string }

func newPathStat(name string) pathStat { return pathStat{name} }

func (p *pathStat) state() (fileState, error) {
	info, err := os.Stat(p.name)
	if err != nil {
		return fileState{}, err
	}
	return stateOf(info), nil
}
