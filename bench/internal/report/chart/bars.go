package chart

import "slices"

// Bars draws groups of horizontal bars, one group for each point, each bar with
// its value and a whisker for its interval. The scale of each unit is its own:
// scales says for each group which scale it is on.
func Bars(title string, groups []string, scales []string, series []Series) string {
	const (
		left, right = 114.0, 64.0 // room for names and values
		row, head   = 15.0, 20.0
	)
	largest := make(map[string]float64)
	for _, s := range series {
		for g, p := range s.Points {
			if finite(p.Value) {
				largest[scales[g]] = max(largest[scales[g]], p.Value)
			}
		}
	}
	var d drawing
	y := 0.0
	for g, group := range groups {
		if !slices.ContainsFunc(series, func(s Series) bool { return finite(s.Points[g].Value) }) {
			continue
		}
		y += head
		d.text(0, y-6, "group", "start", group)
		for _, s := range series {
			p := s.Points[g]
			if !finite(p.Value) {
				continue
			}
			at := func(v float64) float64 {
				if largest[scales[g]] <= 0 {
					return left
				}
				return left + (width-left-right)*min(1, max(0, v/largest[scales[g]]))
			}
			d.text(left-6, y+row-4, "label", "end", s.Name)
			d.add(`<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="2" class="%s"><title>%s: %s</title></rect>`,
				left, y+2, max(1, at(p.Value)-left), row-4, s.Class, s.Name, p.Text)
			if p.High > p.Low {
				d.add(`<path d="M%.1f %.1fH%.1f" class="whisker"/>`, at(p.Low), y+row/2, at(p.High))
			}
			d.text(max(at(p.Value), at(p.High))+4, y+row-4, "value", "start", p.Text)
			y += row
		}
	}
	return d.svg(title, y+4)
}
