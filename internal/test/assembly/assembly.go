// Package assembly reads the assembler source of the read path, and as much of
// the language as that uses: functions, labels, macros with arguments, and the
// LOCK prefix.
package assembly

import (
	"fmt"
	"regexp"
	"strings"
)

// Func is a function of the source.
type Func struct {
	Code   []Instruction
	Labels map[string]int // the index of the instruction that a label is before
}

// Instruction is one line, after macros were expanded.
type Instruction struct {
	Line   int // in the source; for one from a macro that of its use
	Locked bool
	Op     string
	Args   []string
}

// String is the instruction as the source has it.
func (in Instruction) String() string {
	text := in.Op + " " + strings.Join(in.Args, ", ")
	if in.Locked {
		text = "LOCK " + text
	}
	return fmt.Sprintf("line %d: %s", in.Line, text)
}

var (
	definition = regexp.MustCompile(`^#define (\w+)\(([\w, ]*)\)$`)
	function   = regexp.MustCompile(`^TEXT ·(\w+)\(SB\), NOSPLIT, \$0-\d+$`)
	label      = regexp.MustCompile(`^(\w+):$`)
	use        = regexp.MustCompile(`^([A-Z]\w+)\((.*)\)$`)
	word       = regexp.MustCompile(`\w+`)
)

type macro struct {
	params []string
	lines  []string
}

type parser struct {
	macros map[string]macro
	funcs  map[string]*Func
	now    *Func
	locked bool
}

// Parse returns the functions of the source by name.
func Parse(source string) (map[string]*Func, error) {
	p := &parser{macros: map[string]macro{}, funcs: map[string]*Func{}}
	defining := ""
	for i, text := range strings.Split(source, "\n") {
		text, _, _ = strings.Cut(text, "//")
		text, continued := strings.CutSuffix(strings.TrimSpace(text), `\`)
		text = strings.TrimSpace(text)
		def := definition.FindStringSubmatch(text)
		switch {
		case def != nil:
			p.macros[def[1]] = macro{params: strings.Split(def[2], ", ")}
			defining = def[1]
		case defining != "" && text != "":
			m := p.macros[defining]
			m.lines = append(m.lines, text)
			p.macros[defining] = m
		case text == "" || strings.HasPrefix(text, "#include "):
		default:
			if err := p.line(i+1, text); err != nil {
				return nil, err
			}
		}
		if !continued {
			defining = ""
		}
	}
	return p.funcs, nil
}

// line reads a line of a function, or the first.
func (p *parser) line(number int, text string) error {
	if begins := function.FindStringSubmatch(text); begins != nil {
		p.now = &Func{Labels: map[string]int{}}
		p.funcs[begins[1]] = p.now
		return nil
	}
	if p.now == nil {
		return fmt.Errorf("line %d: %q is in no function", number, text)
	}
	if name := label.FindStringSubmatch(text); name != nil {
		p.now.Labels[name[1]] = len(p.now.Code)
		return nil
	}
	if called := use.FindStringSubmatch(text); called != nil {
		return p.expand(number, called[1], strings.Split(called[2], ", "))
	}
	if text == "LOCK" {
		p.locked = true
		return nil
	}
	in := Instruction{Line: number, Locked: p.locked}
	p.locked = false
	op, args, _ := strings.Cut(text, "\t")
	in.Op = op
	if args = strings.TrimSpace(args); args != "" {
		in.Args = strings.Split(args, ", ")
	}
	p.now.Code = append(p.now.Code, in)
	return nil
}

// expand reads the lines of a macro, with args for its parameters.
func (p *parser) expand(number int, name string, args []string) error {
	m, ok := p.macros[name]
	if !ok || len(args) != len(m.params) {
		return fmt.Errorf("line %d: no macro %s with %d arguments", number, name, len(args))
	}
	value := map[string]string{}
	for i, param := range m.params {
		value[param] = args[i]
	}
	for _, text := range m.lines {
		text = word.ReplaceAllStringFunc(text, func(w string) string {
			if arg, ok := value[w]; ok {
				return arg
			}
			return w
		})
		if err := p.line(number, text); err != nil {
			return err
		}
	}
	return nil
}
