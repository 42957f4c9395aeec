package results

import (
	"strings"
	"testing"
)

func TestParseCPU(t *testing.T) {
	for _, c := range []struct{ info, slug string }{
		{"processor\t: 0\ncpu family\t: 25\nmodel\t\t: 1\nmodel name\t: AMD EPYC\nstepping\t: 1\n\nprocessor\t: 1\nmodel name\t: Other\n", "amd-epyc-family-25-model-1-stepping-1"},
		{"model name\t: Intel(R) Xeon(R) CPU @ 2.20GHz\n", "intel-r-xeon-r-cpu-2-20ghz"},
	} {
		name, model := parseCPU(strings.NewReader(c.info))
		m := Machine{CPU: name, Model: model}
		if got := m.Slug(); got != c.slug {
			t.Errorf("%q %q: %q, want %q", name, model, got, c.slug)
		}
	}
	if name, model := parseCPU(strings.NewReader("")); !strings.HasPrefix(name, "unknown ") || model != "" {
		t.Errorf("of nothing: %q %q", name, model)
	}
}

func TestModelOfTheProcessorIsKept(t *testing.T) {
	run := &Run{Machine: Machine{CPU: "AMD EPYC", Model: "family 25 model 1 stepping 1", Cores: 2}}
	run.Get("read", "procs=1", "PoolSwap").Add(1, map[string]float64{"ns/op": 4})
	var text strings.Builder
	if err := run.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	read, err := ReadText(strings.NewReader(text.String()), "text")
	if err != nil {
		t.Fatal(err)
	}
	if read.Machine != run.Machine {
		t.Errorf("%+v, want %+v", read.Machine, run.Machine)
	}
}
