//go:build linux && amd64 && !race && !purego && !poolswapsched

package refcount_test

import (
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/poolswap/poolswap/internal/refcount"
	"github.com/poolswap/poolswap/internal/test/pooltest"
)

// instruction is a line of a disassembly.
type instruction struct {
	address string
	locked  bool
	op      string
	args    string
}

// disassemble returns the instructions of functions of a program, by name.
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

// straightWays returns every way through a function that returns, calls
// nothing, and changes memory only by increments without a LOCK.
func straightWays(code []instruction) (ways [][]instruction) {
	at := map[string]int{}
	for i, in := range code {
		at[in.address] = i
	}
	var walk func(i int, way []instruction)
	walk = func(i int, way []instruction) {
		for ; i < len(code); i++ {
			in := code[i]
			way = append(way, in)
			target, inside := at[in.args]
			switch {
			case in.locked, in.op == "CALL", in.op == "JMP" && !inside:
				return // another way, or into another function
			case in.op == "RET":
				if slices.ContainsFunc(way, instruction.counts) {
					ways = append(ways, slices.Clone(way))
				}
				return
			case in.op == "JMP":
				i = target - 1
			case strings.HasPrefix(in.op, "J"):
				walk(target, slices.Clone(way))
			}
		}
	}
	walk(0, nil)
	return ways
}

// memory matches an operand in memory, and finds its base.
var memory = regexp.MustCompile(`(-?0x[0-9a-f]+|0)\((\w+)\)(\(\w+\*\d\))?`)

// counts reports whether the instruction increments a word in memory.
func (in instruction) counts() bool { return in.op == "INCQ" && memory.MatchString(in.args) }

// reads returns the operand in memory that the instruction reads, if any, but
// not one on the stack.
func (in instruction) reads() string {
	operand := memory.FindStringSubmatch(in.args)
	store := in.op[0] == 'M' && operand != nil && strings.HasSuffix(in.args, operand[0])
	if operand == nil || operand[2] == "SP" || store || strings.HasPrefix(in.op, "LEA") || strings.HasPrefix(in.op, "NOP") {
		return ""
	}
	return operand[0]
}

func reads(way []instruction) map[string]bool {
	all := map[string]bool{}
	for _, in := range way {
		if operand := in.reads(); operand != "" {
			all[operand] = true
		}
	}
	return all
}

const (
	engine      = module + "/internal/refcount"
	fastAcquire = engine + ".Acquire.abi0"
	fastRelease = engine + ".Release.abi0"
	slowAcquire = engine + ".(*Slot).acquire"
	slowRelease = engine + ".(*Pool).Release"
	slowCheck   = engine + ".(*Object).slowCheck"
)

// TestThePlainCountStandsBetweenTheLoads looks at every way through the
// assembly that counts plainly.
func TestThePlainCountStandsBetweenTheLoads(t *testing.T) {
	program, _ := buildCaller(t)
	listing := disassemble(t, program, fastAcquire, fastRelease)
	for _, name := range []string{fastAcquire, fastRelease} {
		ways := straightWays(listing[name])
		if len(ways) == 0 {
			t.Errorf("%s: no way through %d instructions counts without a LOCK", name, len(listing[name]))
		}
		for _, way := range ways {
			i := slices.IndexFunc(way, instruction.counts)
			before, after := reads(way[:i]), reads(way[i+1:])
			if slices.ContainsFunc(way[i+1:], instruction.counts) {
				t.Errorf("%s: a straight way counts twice: %v", name, way)
			}
			switch name {
			case fastAcquire: // current is read, counted on, and read again
				again := false
				for operand := range after {
					again = again || before[operand]
				}
				if !again {
					t.Errorf("%s: what is read after the increment, %v, was not read before it: %v", name, after, before)
				}
			case fastRelease: // the state, first in the counters, is read after counting
				base := memory.FindStringSubmatch(way[i].args)[2]
				if !after["0("+base+")"] {
					t.Errorf("%s: after the increment the state, 0(%s), is not among what is read: %v", name, base, after)
				}
			}
		}
	}
}

// TestOnlyTheAssemblyIncrementsPlainly: what the Go methods add to a counter
// they add atomically, so none of their accesses is a data race.
func TestOnlyTheAssemblyIncrementsPlainly(t *testing.T) {
	program, _ := buildCaller(t)
	for name, code := range disassemble(t, program, slowAcquire, slowRelease) {
		locked := 0
		for _, in := range code {
			if in.counts() && !in.locked {
				t.Errorf("%s increments plainly: %v", name, in)
			}
			if in.locked && strings.HasPrefix(in.op, "XADD") {
				locked++
			}
		}
		if locked == 0 {
			t.Errorf("%s adds nothing atomically: %v", name, code)
		}
	}
}

// TestAReadIsOneCallDeep: a caller of Acquire and Release calls one function of
// the library for each, and these call none.
func TestAReadIsOneCallDeep(t *testing.T) {
	if !refcount.UsesAsm() {
		pooltest.Skip(t, "this version of Go is not understood by the assembly, and reads call the runtime")
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

// fence is how a processor's full fence on a word of the stack looks.
type fence struct {
	arch   string
	stack  *regexp.Regexp // takes the address of a word of the stack, in a register
	locked *regexp.Regexp // changes the word at a register, or at an offset from it, as a fence does
}

var fences = []fence{
	{"amd64", regexp.MustCompile(`^LEA[LQ] \S+\(SP\), (\w+)$`), regexp.MustCompile(`^(?:LOCK \w+|XCHG[LQ]) .*\((\w+)\)$`)},
	{"arm64", regexp.MustCompile(`^ADD \$\d+, RSP, (\w+)$`), regexp.MustCompile(`^STLXRW? \w+, \((\w+)\), \w+$`)},
}

// before returns how many fences there are before the call of a function.
// Locked instructions on other memory do not count.
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
			delete(stack, written) // the address of something else by now
		}
		if match := f.stack.FindStringSubmatch(text); match != nil {
			stack[match[1]] = true
		}
	}
	return found, false
}

// TestASlowCheckFencesBeforeItLooks: (C1) is in the machine code, and before
// (C2). No run shows it missing, because a statistic before it happens to be
// counted with a locked instruction.
func TestASlowCheckFencesBeforeItLooks(t *testing.T) {
	for _, f := range fences {
		t.Run(f.arch, func(t *testing.T) {
			program, _ := buildCaller(t, "GOARCH="+f.arch, "GOARM64=v8.0")
			code := disassemble(t, program, slowCheck)[slowCheck]
			if found, called := f.before(engine+".(*Object).reclaim", code); found != 1 || !called {
				t.Errorf("%d fences, and then a look at the object: %v; want 1 and true, in %v", found, called, code)
			}
		})
	}
}
