// Package measure says what a suite of measurements is, and holds the clock
// that all of them share: how long a sample runs, when its clock starts, and
// what is counted while it runs.
package measure
