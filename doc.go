// Package poolswap replaces a heavy object under full read load.
package poolswap
