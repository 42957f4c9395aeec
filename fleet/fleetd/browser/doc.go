// Package browser holds the test that uses the page of fleetd in Chromium: it logs
// in, sees replicas swap, tries a canary and rolls it back.
//
// It is its own module because the driver of the browser is one. It is never
// imported or released. The tests of package reload's page say which browser it
// takes.
package browser
