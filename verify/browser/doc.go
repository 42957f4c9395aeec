// Package browser holds the tests that look at the pages of package reload and of
// fleetd in Chromium: their words, that they fit on a phone and on a wide screen,
// can be read in light and in dark, and neither load nor run anything from outside.
//
// It is a module because the driver of the browser is one, and is never released.
// POOLSWAP_CHROMIUM names the browser; without it the tests look for one in PATH.
package browser
