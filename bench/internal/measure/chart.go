package measure

// Chart is a picture of a suite: the medians of all rivals at each point.
type Chart struct {
	Title  string
	Kind   Kind
	Axis   string // what the points of lines are
	Points []Point
}

// Kind is how a chart is drawn.
type Kind int

// Bars stand in groups, one for each point, on a linear scale. Lines go from
// point to point, on a logarithmic one.
const (
	Bars Kind = iota
	Lines
)

// Point is a place in a chart.
type Point struct {
	Label string
	Case  string
	Unit  string
}
