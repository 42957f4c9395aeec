package stats

// Line is y = Intercept + Slope * x.
type Line struct{ Intercept, Slope float64 }

// At returns y at x.
func (l Line) At(x float64) float64 { return l.Intercept + l.Slope*x }

// FitLine returns the line with the least sum of squared distances from the
// points, in y. It reports false if the points do not lie at two places in x.
func FitLine(x, y []float64) (line Line, ok bool) {
	n := float64(len(x))
	var sumX, sumY float64
	for i := range x {
		sumX += x[i]
		sumY += y[i]
	}
	meanX, meanY := sumX/n, sumY/n
	var squares, products float64
	for i := range x {
		squares += (x[i] - meanX) * (x[i] - meanX)
		products += (x[i] - meanX) * (y[i] - meanY)
	}
	if len(x) < 2 || squares == 0 {
		return Line{}, false
	}
	slope := products / squares
	return Line{meanY - slope*meanX, slope}, true
}
