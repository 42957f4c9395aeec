package docs_test

import (
	"bufio"
	"bytes"
	"fmt"
	"strings"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/slab"
)

type Names struct {
	poolswap.Ref
	byCode slab.Strings
}

func NewNames() *poolswap.Pool[Names, *Names] {
	return poolswap.NewPool(
		func() *Names { return new(Names) },
		func(n *Names) bool { n.byCode.Reset(); return true }) // ends the life of its strings
}

func (n *Names) load(lines *bufio.Scanner) error {
	for lines.Scan() {
		code, name, _ := bytes.Cut(lines.Bytes(), []byte(","))
		n.byCode.SetBytes(code, name) // copies both
	}
	return lines.Err()
}

func Example_mapOfStrings() {
	names := NewNames().Get()
	fmt.Println(names.load(bufio.NewScanner(strings.NewReader("is,Iceland\nie,Ireland\n"))))
	fmt.Println(names.byCode.Get("ie"))
	// Output:
	// <nil>
	// Ireland true
}
