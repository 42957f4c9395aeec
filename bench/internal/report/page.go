package report

import (
	"bytes"
	_ "embed" // for page.html
	"html/template"
	"io"
	"path/filepath"
	"strings"

	"github.com/poolswap/poolswap/bench/internal/rivals"
	"github.com/poolswap/poolswap/bench/internal/runner"
)

//go:embed page.html
var pageText string

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"spaced": func(name string) string { return strings.ReplaceAll(name, "/", ", ") },
}).Parse(pageText))

// section is the part of the page about one suite.
type section struct {
	Table
	Figures []figure
}

// Page is the name of the report within the output folder.
const Page = "report.html"

// Write writes the samples of a run and the page to a folder, and returns the path
// of the page.
func Write(folder string, suites []runner.Suite, run *runner.Run) (string, error) {
	if err := run.Keep(folder); err != nil {
		return "", err
	}
	var page bytes.Buffer
	if err := WriteHTML(&page, suites, run); err != nil {
		return "", err
	}
	return filepath.Join(folder, Page), runner.WriteFile(folder, Page, page.Bytes())
}

// WriteHTML writes the page, which needs nothing else.
func WriteHTML(w io.Writer, suites []runner.Suite, run *runner.Run) error {
	data := struct {
		Run      *runner.Run
		Others   string
		Ways     []rivals.Way
		Sections []section
	}{Run: run, Others: Others(run), Ways: rivals.Ways}
	for i := range suites {
		s := &suites[i]
		sec := section{Table: NewTable(s, run)}
		if len(sec.Cases) == 0 {
			continue
		}
		for _, c := range s.Charts {
			f, err := newFigure(s, c, run)
			if err != nil {
				return err
			}
			if f.SVG != "" {
				sec.Figures = append(sec.Figures, f)
			}
		}
		data.Sections = append(data.Sections, sec)
	}
	return page.Execute(w, data)
}
