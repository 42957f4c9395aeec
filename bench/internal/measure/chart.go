package measure

// Chart is a picture of a suite: the medians of all rivals at each point.
type Chart struct {
	Title  string
	Kind   Kind
	Axis   string // what the points of lines and plots are
	Points []Point

	// X is the unit whose median is the place of a point in a plot; if empty, At of
	// the point is.
	X string

	// Fit draws through the points of a plot the straight line that fits them best.
	Fit bool
}

// Kind is how a chart is drawn.
type Kind int

// Bars stand in groups, one for each point, on a linear scale. Lines go from
// point to point, on a logarithmic one. A plot has two linear scales from zero.
const (
	Bars Kind = iota
	Lines
	Plot
)

// Point is a place in a chart.
type Point struct {
	Label string
	Case  string
	Unit  string
	At    float64 // in plots
}
