// Package browser holds the tests that look at the status page of package reload
// in Chromium: that it says what is so, fits on a phone and on a wide screen, can
// be read in light and in dark, and neither loads nor runs anything from outside.
//
// It is its own module because the driver of the browser is one. It is never
// released; the tests of other pages use its Tab and View. POOLSWAP_CHROMIUM names
// the browser; without it the tests look for one in PATH.
package browser
