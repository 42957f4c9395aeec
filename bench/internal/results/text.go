package results

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"
)

// File is the name of the raw results within the output folder.
const File = "results.txt"

// WriteText writes the samples in the text format of Go benchmarks, in the
// order in which they were taken within each series.
func (r *Run) WriteText(w io.Writer) error {
	out := benchfmt.NewWriter(w)
	for _, s := range r.Series {
		for i, iterations := range s.Iterations {
			result := &benchfmt.Result{Config: r.config(), Name: s.name(r.Machine.Cores), Iters: max(1, iterations)}
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

// name is Suite/key=value/.../rival=name-cores. Spaces cannot stand in it.
func (s *Series) name(cores int) benchfmt.Name {
	return benchfmt.Name(fmt.Sprintf("%s/%s/rival=%s-%d", capital(s.Suite), s.Case, s.Rival, cores))
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

func (r *Run) config() []benchfmt.Config {
	m := r.Machine
	keys := []string{
		"goos", m.OS, "goarch", m.Arch, "pkg", "github.com/poolswap/poolswap/bench", "cpu", m.CPU, "cpu-model", m.Model,
		"cores", strconv.Itoa(m.Cores), "go", m.Go, "counting", m.Counting, "started", r.Started, "command", r.Command,
		"others", strconv.FormatFloat(r.Others, 'f', 3, 64),
	}
	var config []benchfmt.Config
	for i := 0; i < len(keys); i += 2 {
		if keys[i+1] != "" {
			config = append(config, benchfmt.Config{Key: keys[i], Value: []byte(keys[i+1]), File: true})
		}
	}
	return config
}

// ReadText reads what WriteText wrote.
func ReadText(in io.Reader, name string) (*Run, error) {
	run := new(Run)
	reader := benchfmt.NewReader(in, name)
	for reader.Scan() {
		switch record := reader.Result().(type) {
		case *benchfmt.SyntaxError:
			return nil, record
		case *benchfmt.Result:
			if err := run.add(record); err != nil {
				return nil, err
			}
		}
	}
	if len(run.Series) == 0 && reader.Err() == nil {
		return nil, fmt.Errorf("%s: no results", name)
	}
	return run, reader.Err()
}

func (r *Run) add(result *benchfmt.Result) error {
	if len(r.Series) == 0 {
		cores, _ := strconv.Atoi(result.GetConfig("cores"))
		r.Machine = Machine{
			CPU: result.GetConfig("cpu"), Model: result.GetConfig("cpu-model"), Cores: cores, OS: result.GetConfig("goos"), Arch: result.GetConfig("goarch"),
			Go: result.GetConfig("go"), Counting: result.GetConfig("counting"),
		}
		r.Started, r.Command = result.GetConfig("started"), result.GetConfig("command")
		r.Others = -1
		if others, err := strconv.ParseFloat(result.GetConfig("others"), 64); err == nil {
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
	values := make(map[string]float64, len(result.Values))
	for _, v := range result.Values {
		if v.OrigUnit != "" { // the reader turns ns/op into sec/op
			v.Value, v.Unit = v.OrigValue, v.OrigUnit
		}
		values[v.Unit] = v.Value
	}
	r.Get(strings.ToLower(suite), c, rival[:dash]).Add(result.Iters, values)
	return nil
}
