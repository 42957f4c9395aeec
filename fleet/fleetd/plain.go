package main

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// plain returns text of others for a line of a terminal, to which control
// characters are commands.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return utf8.RuneError
		}
		return r
	}, text)
}

// printPlain is fmt.Fprintf with plain strings.
func printPlain(w io.Writer, format string, values ...any) {
	for i, value := range values {
		if text, ok := value.(string); ok {
			values[i] = plain(text)
		}
	}
	fmt.Fprintf(w, format, values...)
}
