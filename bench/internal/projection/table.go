package projection

import (
	"fmt"
	"math"
	"strings"

	"github.com/poolswap/poolswap/bench/internal/results"
)

// Table returns the projection from a run, in Markdown: what is assumed, and a row
// for each number of replicas and design.
func Table(run *results.Run) (string, error) {
	m, err := Of(run)
	if err != nil {
		return "", err
	}
	a := Default
	var b strings.Builder
	line := func(format string, values ...any) { _, _ = fmt.Fprintf(&b, format+"\n", values...) }
	line("\nMeasured for each replica: a publication of %s takes %.0f messages, %s and %.1f ms of a server's core; a minute without one takes %.1f messages, %s and %.2f ms. "+
		"A report has %s, a plan %s and %.0f bytes for each id of a canary. "+
		"Assumed: small messages that cost the server what those of an idle replica do; servers with %.0f cores, all in use, that send %.0f Gbit/s; replicas that take it as fast; a leaf node or cache for %d replicas; a canary that names %.0f %% of the replicas.\n",
		size(m.Size), m.Publication.Messages, size(m.Publication.Bytes), 1000*m.Publication.CPU, m.Idle.Messages, size(m.Idle.Bytes), 1000*m.Idle.CPU,
		size(m.Report), size(m.Plan), m.PlanID, a.Cores, a.LineRate*8/1e9, a.Group, 100*a.Canary)
	line("| replicas | design | messages of the centre | bytes of the centre | edges | bytes of each edge | seconds | idle messages/s | idle cores | plans of a canary |")
	line("|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|")
	for _, n := range []int{10, 1_000, 100_000} {
		for _, r := range Project(m, a, n) {
			edges, edge := "", ""
			if r.Edges > 0 {
				edges, edge = number(float64(r.Edges)), size(r.Edge)
			}
			line("| %s | %s | %s | %s | %s | %s | %s | %s | %.2f | %s |", number(float64(n)), r.Design, number(r.Messages), size(r.Bytes), edges, edge,
				seconds(r.Seconds), number(math.Ceil(r.IdleMessages)), r.IdleCores, size(r.CanaryBytes))
		}
	}
	return b.String(), nil
}

func seconds(s float64) string {
	if s < 1 {
		return fmt.Sprintf("%.2f", s)
	}
	return fmt.Sprintf("%.3g", s)
}

// number writes a whole number with commas.
func number(n float64) string {
	text := fmt.Sprintf("%.0f", n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

func size(bytes float64) string {
	unit := 0
	for bytes >= 1023.5 && unit < 4 {
		bytes /= 1024
		unit++
	}
	if bytes >= 100 || unit == 0 {
		return fmt.Sprintf("%.0f %s", bytes, units[unit])
	}
	return fmt.Sprintf("%.3g %s", bytes, units[unit])
}

var units = []string{"B", "KiB", "MiB", "GiB", "TiB"}
