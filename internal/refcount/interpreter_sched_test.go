//go:build poolswapsched

package refcount

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"github.com/poolswap/poolswap/internal/seam"
	"github.com/poolswap/poolswap/internal/stripe"
	"github.com/poolswap/poolswap/internal/test/assembly"
)

// Interpreter runs read_amd64.s one instruction at a time. Each access of the
// assembly to a word that goroutines share goes through the seam, as a step
// of its own; an increment without LOCK waits in the store buffer
// of the processor. Go takes over where the assembly jumps to Go.
type Interpreter struct {
	funcs map[string]*assembly.Func

	Exits int // how often Go took over
}

// unknown begins the text of each panic and error that is for source which the
// interpreter cannot run. That says nothing about the source, so internal/mutants
// tells it from a failure by this text.
const unknown = "unknown to the interpreter: "

// NewInterpreter reads the assembly in the directory of this package.
func NewInterpreter() (*Interpreter, error) {
	source, err := os.ReadFile("read_amd64.s")
	if err != nil {
		return nil, err
	}
	return InterpreterOf(string(source))
}

// InterpreterOf interprets source in place of read_amd64.s.
func InterpreterOf(source string) (*Interpreter, error) {
	funcs, err := assembly.Parse(source)
	if err != nil {
		return nil, fmt.Errorf("%s%w", unknown, err)
	}
	if funcs["Acquire"] == nil || funcs["Release"] == nil {
		return nil, fmt.Errorf("%sthe assembly has no Acquire or no Release", unknown)
	}
	return &Interpreter{funcs: funcs}, nil
}

// Acquire runs the assembly's Acquire.
func (in *Interpreter) Acquire(s *Slot) unsafe.Pointer {
	frame := places{"s+0(FP)": {at: unsafe.Pointer(s)}}
	switch left := in.run("Acquire", frame); left {
	case "":
		return frame.get("obj+16(FP)").at
	case "acquireFallback":
		return acquireFallback((*Slot)(frame.get("s+0(FP)").at), (*Object)(frame.get("failed+8(FP)").at))
	default:
		panic(unknown + "Acquire jumps to " + left)
	}
}

// Release runs the assembly's Release.
func (in *Interpreter) Release(s *Slot, obj unsafe.Pointer) {
	frame := places{"s+0(FP)": {at: unsafe.Pointer(s)}, "obj+8(FP)": {at: obj}}
	switch left := in.run("Release", frame); left {
	case "":
	case "releaseFallback":
		releaseFallback((*Slot)(frame.get("s+0(FP)").at), frame.get("obj+8(FP)").at)
	case "releaseLate":
		releaseLate((*Slot)(frame.get("s+0(FP)").at), frame.get("obj+8(FP)").at)
	default:
		panic(unknown + "Release jumps to " + left)
	}
}

// value is the content of a register: a pointer, or else a number.
type value struct {
	at unsafe.Pointer
	n  uint64
}

func (v value) bits() uint64 {
	if v.at != nil {
		return uint64(uintptr(v.at))
	}
	return v.n
}

func (v value) plus(n uint64) value {
	if v.at != nil {
		return value{at: unsafe.Add(v.at, int(n))}
	}
	return value{n: v.n + n}
}

// places is registers, or arguments and results, by name. It has those that were
// written: the others have the values that some earlier code left there.
type places map[string]value

func (p places) get(name string) value {
	v, written := p[name]
	if !written {
		panic(name + " is read before it is written")
	}
	return v
}

// run runs a function until it returns, or jumps to the Go function of that name.
// The runtime does not preempt assembly, so the P is its own from the first
// instruction to the last.
func (in *Interpreter) run(name string, frame places) (left string) {
	p := int32(seam.Pin())
	defer seam.Unpin()
	var (
		m [mP/8 + 1]unsafe.Pointer
		g [gM/8 + 1]unsafe.Pointer
	)
	m[mP/8], g[gM/8] = unsafe.Pointer(&p), unsafe.Pointer(&m)
	c := &cpu{frame: frame, regs: places{"R14": {at: unsafe.Pointer(&g)}}}
	f := in.funcs[name]
	for pc := 0; ; pc++ {
		to, returns := c.step(f.Code[pc])
		if returns {
			return ""
		}
		if goes, isGo := strings.CutSuffix(to, "(SB)"); isGo {
			in.Exits++
			return strings.TrimPrefix(goes, "·")
		}
		if to != "" {
			at, known := f.Labels[to]
			if !known {
				panic(unknown + "a jump to " + to)
			}
			pc = at - 1
		}
	}
}

// cpu is the registers, and the last comparison.
type cpu struct {
	frame       places
	regs        places
	left, right uint64
	compared    bool // no instruction since has set the flags to something else
}

// step takes one instruction. It returns where it jumps to, if it does.
func (c *cpu) step(in assembly.Instruction) (to string, returns bool) {
	arg := func(i int) string { return in.Args[i] }
	jump := func(taken bool) (string, bool) {
		if taken {
			return arg(0), false
		}
		return "", false
	}
	if in.Locked && in.Op != "INCQ" {
		panic(unknown + "LOCK of this: " + in.String())
	}
	switch in.Op {
	case "JEQ", "JNE", "JCC", "JCS", "CMOVQGT":
		if !c.compared {
			panic(unknown + "flags that are not those of a comparison: " + in.String())
		}
	case "CMPQ", "TESTQ", "SUBQ": // a subtraction sets the flags of a comparison
		c.compared = true
	case "ADDQ", "SHLQ", "INCQ":
		c.compared = false
	}
	switch in.Op {
	case "RET":
		return "", true
	case "JMP":
		return arg(0), false
	case "JEQ":
		return jump(c.left == c.right)
	case "JNE":
		return jump(c.left != c.right)
	case "JCC":
		return jump(c.left >= c.right)
	case "JCS":
		return jump(c.left < c.right)
	case "CMPQ":
		c.left, c.right = c.load(arg(0)).bits(), c.load(arg(1)).bits()
	case "TESTQ":
		c.left, c.right = c.load(arg(0)).bits()&c.load(arg(1)).bits(), 0
	case "CMOVQGT":
		if int64(c.left) > int64(c.right) {
			c.store(arg(1), c.load(arg(0)))
		}
	case "MOVQ":
		c.store(arg(1), c.load(arg(0)))
	case "MOVL":
		c.store(arg(1), c.number(arg(0)))
	case "ADDQ":
		c.store(arg(1), c.load(arg(1)).plus(c.load(arg(0)).bits()))
	case "SUBQ":
		from, n := c.load(arg(1)), c.load(arg(0)).bits()
		c.left, c.right = from.bits(), n
		c.store(arg(1), from.plus(-n))
	case "SHLQ":
		c.store(arg(1), value{n: c.load(arg(1)).bits() << c.load(arg(0)).bits()})
	case "INCQ":
		count := c.count(c.operand(arg(0)))
		if in.Locked {
			count.Inc()
		} else {
			count.IncPlain()
		}
	default:
		panic(unknown + in.String())
	}
	return "", false
}

// operand is a place in memory, such as name(base)(index*1).
type operand struct {
	name  string
	base  unsafe.Pointer
	index uint64
}

var memory = regexp.MustCompile(`^(\w*)\((\w+)\)(?:\((\w+)\*1\))?$`)

// matched has the matches of memory, since millions of instructions are run.
var matched = map[string][]string{}

func (c *cpu) operand(arg string) operand {
	parts := matched[arg] // coroutines run one at a time
	if parts == nil {
		if parts = memory.FindStringSubmatch(arg); parts == nil {
			panic(unknown + "the operand " + arg)
		}
		matched[arg] = parts
	}
	o := operand{name: parts[1], base: c.regs.get(parts[2]).at}
	if parts[3] != "" {
		o.index = c.regs.get(parts[3]).bits()
	}
	return o
}

var registers = []string{"AX", "BX", "CX", "DX", "SI", "DI", "R8", "R9", "R10", "R14"}

func (c *cpu) store(arg string, v value) {
	switch {
	case slices.Contains(registers, arg):
		c.regs[arg] = v
	case strings.HasSuffix(arg, "(FP)"):
		c.frame[arg] = v
	default:
		panic(unknown + "a store to " + arg)
	}
}

// number reads the number of the P, the one word of 32 bits. MOVL clears the upper
// half of the register.
func (c *cpu) number(arg string) value {
	if !strings.HasPrefix(arg, "(") {
		panic(unknown + "32 bits of " + arg)
	}
	return value{n: uint64(*(*uint32)(c.operand(arg).base))}
}

// load reads an operand of 64 bits. Each word that goroutines share is a step.
func (c *cpu) load(arg string) value {
	switch {
	case slices.Contains(registers, arg):
		return c.regs.get(arg)
	case strings.HasSuffix(arg, "(FP)"):
		return c.frame.get(arg)
	case strings.HasPrefix(arg, "$"):
		return value{n: constant(arg[1:])}
	}
	o := c.operand(arg)
	switch o.name {
	case "const_gM", "const_mP":
		return value{at: *(*unsafe.Pointer)(unsafe.Add(o.base, int(constant(o.name))))}
	case "Slot_current":
		return value{at: unsafe.Pointer((*Slot)(o.base).current.Load())}
	case "Slot_pool":
		return value{at: unsafe.Pointer((*Slot)(o.base).pool)}
	case "Slot_useAsm":
		return value{at: unsafe.Pointer((*Slot)(o.base).useAsm.Load())}
	case "Slot_offset":
		return value{n: uint64((*Slot)(o.base).offset)}
	case "Object_pool":
		return value{at: unsafe.Pointer((*Object)(o.base).pool)}
	case "Object_counters":
		return value{at: unsafe.Pointer((*Object)(o.base).counters.Load())}
	case "const_countersState":
		return value{n: (*stripe.Counters)(o.base).State.Load()}
	case "const_countersPlain", "const_countersOwned":
		return value{n: *(*uint64)(unsafe.Add(o.base, int(constant(o.name))))}
	default:
		panic(unknown + "a load of " + arg)
	}
}

// count returns the counter that o names. The object has no others.
func (c *cpu) count(o operand) *seam.Count {
	counters := (*stripe.Counters)(o.base)
	stripes := uint64(counters.Stripes())
	if o.name != "const_countersAcquired" && o.name != "const_countersReleased" {
		panic(unknown + "an increment of " + o.name)
	}
	if o.index >= stripes<<countersShift || o.index%(1<<countersShift) != 0 {
		panic(fmt.Sprintf("an increment of %s, at %#x of %d stripes", o.name, o.index, stripes))
	}
	return (*seam.Count)(unsafe.Add(o.base, int(constant(o.name)+o.index)))
}

// constant returns a number, or the value of a name of go_asm.h.
func constant(name string) uint64 {
	switch name {
	case "const_gM":
		return gM
	case "const_mP":
		return mP
	case "const_statePhaseMask":
		return statePhaseMask
	case "const_countersState":
		return uint64(countersState)
	case "const_countersPlain":
		return uint64(countersPlain)
	case "const_countersOwned":
		return uint64(countersOwned)
	case "const_countersAcquired":
		return uint64(countersAcquired)
	case "const_countersReleased":
		return uint64(countersReleased)
	case "const_countersShift":
		return countersShift
	}
	n, err := strconv.ParseUint(name, 0, 64)
	if err != nil {
		panic(unknown + "the constant " + name)
	}
	return n
}
