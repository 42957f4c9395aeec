package runner

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"
)

// File is the name of the raw results within a folder.
const File = "results.txt"

// Keep writes the samples of a run to a folder, which it makes.
func (r *Run) Keep(folder string) error {
	var text bytes.Buffer
	if err := r.WriteText(&text); err != nil {
		return err
	}
	return WriteFile(folder, File, text.Bytes())
}

// WriteFile writes a file of a folder, which it makes, by way of another name, so
// that no half-written file is ever seen.
func WriteFile(folder, name string, content []byte) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	path := filepath.Join(folder, name)
	if err := os.WriteFile(path+".new", content, 0o644); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// ReadKept reads a run that Keep wrote.
func ReadKept(folder string) (*Run, error) {
	f, err := os.Open(filepath.Join(folder, File))
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return ReadText(f, f.Name())
}

// WriteText writes the samples in the text format of Go benchmarks, which
// benchstat reads, in the order in which they were taken within each series.
func (r *Run) WriteText(w io.Writer) error {
	out := benchfmt.NewWriter(w)
	for _, s := range r.Series {
		// Spaces cannot stand in a name.
		name := fmt.Sprintf("%s/%s/rival=%s-%d", strings.ToUpper(s.Suite[:1])+s.Suite[1:], s.Case, s.Rival, r.Machine.Cores)
		for i, iterations := range s.Iterations {
			result := &benchfmt.Result{Config: r.config(), Name: benchfmt.Name(name), Iters: max(1, iterations)}
			for _, unit := range slices.Sorted(maps.Keys(s.Values)) {
				if values := s.Values[unit]; i < len(values) {
					result.Values = append(result.Values, benchfmt.Value{Value: values[i], Unit: unit})
				}
			}
			if err := out.Write(result); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *Run) config() (config []benchfmt.Config) {
	m := &r.Machine
	pairs := []string{
		"goos", m.OS, "goarch", m.Arch, "pkg", "github.com/poolswap/poolswap/bench", "cpu", m.CPU, "cpu-model", m.Model,
		"cores", strconv.Itoa(m.Cores), "go", m.Go, "counting", m.Counting, "started", r.Started, "command", r.Command,
		"others", strconv.FormatFloat(r.Others, 'f', 3, 64),
	}
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			config = append(config, benchfmt.Config{Key: pairs[i], Value: []byte(pairs[i+1]), File: true})
		}
	}
	return config
}

// ReadText reads samples that WriteText wrote.
func ReadText(in io.Reader, name string) (*Run, error) {
	run := new(Run)
	reader := benchfmt.NewReader(in, name)
	for reader.Scan() {
		switch record := reader.Result().(type) {
		case *benchfmt.SyntaxError:
			return nil, record
		case *benchfmt.Result:
			if err := run.read(record); err != nil {
				return nil, err
			}
		}
	}
	if len(run.Series) == 0 && reader.Err() == nil {
		return nil, fmt.Errorf("%s: no results", name)
	}
	return run, reader.Err()
}

func (r *Run) read(result *benchfmt.Result) error {
	if get := result.GetConfig; len(r.Series) == 0 {
		cores, _ := strconv.Atoi(get("cores"))
		r.Machine = Machine{get("cpu"), get("cpu-model"), cores, get("goos"), get("goarch"), get("go"), get("counting")}
		r.Started, r.Command, r.Others = get("started"), get("command"), -1
		if others, err := strconv.ParseFloat(get("others"), 64); err == nil {
			r.Others = others
		}
	}
	full := result.Name.String()
	suite, rest, ok := strings.Cut(full, "/")
	c, rival, ok2 := strings.Cut(rest, "/rival=")
	dash := strings.LastIndexByte(rival, '-')
	if !ok || !ok2 || dash < 0 {
		return fmt.Errorf("%q is not the name of a result of this command", full)
	}
	sample := Sample{result.Iters, make(map[string]float64, len(result.Values))}
	for _, v := range result.Values {
		if v.OrigUnit != "" { // the reader turns ns/op into sec/op
			v.Value, v.Unit = v.OrigValue, v.OrigUnit
		}
		sample.Values[v.Unit] = v.Value
	}
	r.Add(strings.ToLower(suite), c, rival[:dash], sample)
	return nil
}
