//go:build linux && amd64 && !race && !purego && !poolswapsched

package refcount_test

import (
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/poolswap/poolswap/internal/refcount"
	"github.com/poolswap/poolswap/internal/test/buildflag"
	"github.com/poolswap/poolswap/internal/test/pooltest"
)

// instruction is a line of a disassembly.
type instruction struct {
	address string
	locked  bool
	op      string
	args    string
}

// disassemble returns the instructions of functions of a program, by function.
func disassemble(t *testing.T, program string, functions ...string) map[string][]instruction {
	t.Helper()
	quoted := make([]string, len(functions))
	for i, name := range functions {
		quoted[i] = regexp.QuoteMeta(name)
	}
	names := "^(" + strings.Join(quoted, "|") + ")$"
	output, err := exec.Command("go", "tool", "objdump", "-s", names, program).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	listing := map[string][]instruction{}
	name := ""
	for line := range strings.Lines(string(output)) {
		if header, ok := strings.CutPrefix(line, "TEXT "); ok {
			name, _, _ = strings.Cut(header, "(SB)")
			continue
		}
		fields := strings.Fields(line) // place, address, bytes, and the text
		if len(fields) < 4 {
			continue
		}
		in := instruction{address: fields[1], op: fields[3]}
		args := fields[4:]
		if in.op == "LOCK" {
			in.locked, in.op, args = true, args[0], args[1:]
		}
		in.args = strings.Join(args, " ")
		listing[name] = append(listing[name], in)
	}
	return listing
}

// plainPaths returns every path through a function that counts, returns, calls
// nothing, and has no instruction with a LOCK.
func plainPaths(code []instruction) (paths [][]instruction) {
	at := map[string]int{}
	for i, in := range code {
		at[in.address] = i
	}
	var walk func(i int, path []instruction)
	walk = func(i int, path []instruction) {
		for ; i < len(code); i++ {
			in := code[i]
			path = append(path, in)
			target, inside := at[in.args]
			switch {
			case in.locked, in.op == "CALL", in.op == "JMP" && !inside:
				return // not a plain path
			case in.op == "RET":
				if slices.ContainsFunc(path, instruction.counts) {
					paths = append(paths, slices.Clone(path))
				}
				return
			case in.op == "JMP":
				i = target - 1
			case strings.HasPrefix(in.op, "J"):
				walk(target, slices.Clone(path))
			}
		}
	}
	walk(0, nil)
	return paths
}

// memory matches an operand in memory. Its second group is the base register.
var memory = regexp.MustCompile(`(-?0x[0-9a-f]+|0)\((\w+)\)(\(\w+\*\d\))?`)

// counts reports whether the instruction increments a word in memory.
func (in instruction) counts() bool { return in.op == "INCQ" && memory.MatchString(in.args) }

// reads returns the operand in memory that the instruction reads, or "". The
// stack does not count.
func (in instruction) reads() string {
	operand := memory.FindStringSubmatch(in.args)
	store := in.op[0] == 'M' && operand != nil && strings.HasSuffix(in.args, operand[0])
	if operand == nil || operand[2] == "SP" || store || strings.HasPrefix(in.op, "LEA") || strings.HasPrefix(in.op, "NOP") {
		return ""
	}
	return operand[0]
}

func reads(path []instruction) map[string]bool {
	all := map[string]bool{}
	for _, in := range path {
		if operand := in.reads(); operand != "" {
			all[operand] = true
		}
	}
	return all
}

const (
	module      = "github.com/poolswap/poolswap"
	engine      = module + "/internal/refcount"
	fastAcquire = engine + ".Acquire.abi0"
	fastRelease = engine + ".Release.abi0"
	slowAcquire = engine + ".(*Slot).acquire"
	slowRelease = engine + ".(*Pool).Release"
	slowCheck   = engine + ".(*Object).slowCheck"
)

// TestThePlainIncrementIsBetweenTheLoads checks every path through the assembly
// that counts plainly.
func TestThePlainIncrementIsBetweenTheLoads(t *testing.T) {
	program, _ := buildCaller(t)
	listing := disassemble(t, program, fastAcquire, fastRelease)
	for _, name := range []string{fastAcquire, fastRelease} {
		plain := 0
		for _, in := range listing[name] {
			if in.counts() && !in.locked {
				plain++
			}
		}
		if plain != 1 { // the undo and the overflow need a LOCK
			t.Errorf("%s increments plainly at %d places, want 1", name, plain)
		}
		paths := plainPaths(listing[name])
		if len(paths) == 0 {
			t.Errorf("%s: no path through %d instructions counts without a LOCK", name, len(listing[name]))
		}
		for _, path := range paths {
			i := slices.IndexFunc(path, instruction.counts)
			before, after := reads(path[:i]), reads(path[i+1:])
			if slices.ContainsFunc(path[i+1:], instruction.counts) {
				t.Errorf("%s: a path counts twice: %v", name, path)
			}
			switch name {
			case fastAcquire: // current is read, counted on, and read again
				again := false
				for operand := range after {
					again = again || before[operand]
				}
				if !again {
					t.Errorf("%s: reads %v after the increment, but none of them before it: %v", name, after, before)
				}
			case fastRelease: // the state, first in the counters, is read after the increment
				base := memory.FindStringSubmatch(path[i].args)[2]
				if !after["0("+base+")"] {
					t.Errorf("%s: does not read the state, 0(%s), after the increment: %v", name, base, after)
				}
			}
		}
	}
}

// TestOnlyTheAssemblyIncrementsPlainly: the Go methods add to counters
// atomically, so none of their accesses is a data race.
func TestOnlyTheAssemblyIncrementsPlainly(t *testing.T) {
	program, _ := buildCaller(t)
	for name, code := range disassemble(t, program, slowAcquire, slowRelease) {
		locked := 0
		for _, in := range code {
			if in.counts() && !in.locked {
				t.Errorf("%s has a plain increment: %v", name, in)
			}
			if in.locked && strings.HasPrefix(in.op, "XADD") {
				locked++
			}
		}
		if locked == 0 {
			t.Errorf("%s has no atomic add: %v", name, code)
		}
	}
}

// TestAReadIsOneCallDeep: Acquire and Release each compile to one call of a
// function of the library, which calls no other function.
func TestAReadIsOneCallDeep(t *testing.T) {
	if !buildflag.Optimized() || buildflag.Tag("poolswapdebug") {
		t.Skip("the runtime is built without optimization, or this is a debug build: reads go through the methods")
	}
	if !refcount.UsesAsm() {
		pooltest.Skip(t, "the assembly does not support this version of Go, so reads call the runtime")
	}
	program, _ := buildCaller(t)
	listing := disassemble(t, program, "main.AcquireRelease", fastAcquire, fastRelease)
	var calls []string
	for _, in := range listing["main.AcquireRelease"] {
		if in.op == "CALL" && !strings.HasPrefix(in.args, "runtime.") {
			calls = append(calls, strings.TrimSuffix(in.args, "(SB)"))
		}
	}
	if want := []string{fastAcquire, fastRelease}; !slices.Equal(calls, want) {
		t.Errorf("the caller calls %v, want %v", calls, want)
	}
	for _, name := range []string{fastAcquire, fastRelease} {
		if len(listing[name]) == 0 {
			t.Errorf("%s is not in the program", name)
		}
		for _, in := range listing[name] {
			if in.op == "CALL" {
				t.Errorf("%s calls %s", name, in.args)
			}
		}
	}
}

// fence describes the instructions of a full fence on a word of the stack.
type fence struct {
	arch   string
	stack  *regexp.Regexp // loads the address of a word of the stack into a register
	locked *regexp.Regexp // changes the word that a register points to, as a fence does
}

var fences = []fence{
	{"amd64", regexp.MustCompile(`^LEA[LQ] \S+\(SP\), (\w+)$`), regexp.MustCompile(`^(?:LOCK \w+|XCHG[LQ]) .*\((\w+)\)$`)},
	{"arm64", regexp.MustCompile(`^ADD \$\d+, RSP, (\w+)$`), regexp.MustCompile(`^STLXRW? \w+, \((\w+)\), \w+$`)},
}

// before returns how many fences precede the call of a function. Locked
// instructions on other memory do not count.
func (f fence) before(function string, code []instruction) (found int, called bool) {
	stack := map[string]bool{"SP": true, "RSP": true}
	for _, in := range code {
		text := in.op + " " + in.args
		if in.locked {
			text = "LOCK " + text
		}
		if in.op == "CALL" && in.args == function+"(SB)" {
			return found, true
		}
		if match := f.locked.FindStringSubmatch(text); match != nil && stack[match[1]] {
			found++
		}
		if written := in.args[strings.LastIndex(in.args, " ")+1:]; !strings.HasSuffix(written, "SP") {
			delete(stack, written) // the register is overwritten
		}
		if match := f.stack.FindStringSubmatch(text); match != nil {
			stack[match[1]] = true
		}
	}
	return found, false
}

// TestASlowCheckFencesBeforeItReads: the machine code has (C1), before (C2). No
// run fails without it, because the stats before it happen to be counted with
// a locked instruction.
func TestASlowCheckFencesBeforeItReads(t *testing.T) {
	for _, f := range fences {
		t.Run(f.arch, func(t *testing.T) {
			program, _ := buildCaller(t, "GOARCH="+f.arch, "GOARM64=v8.0")
			code := disassemble(t, program, slowCheck)[slowCheck]
			if found, called := f.before(engine+".(*Object).reclaim", code); found != 1 || !called {
				t.Errorf("%d fences before the call of reclaim, which was found: %t; want 1 and true, in %v", found, called, code)
			}
		})
	}
}
