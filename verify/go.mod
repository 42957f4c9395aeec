module github.com/poolswap/poolswap/verify

go 1.26

require (
	github.com/anishathalye/porcupine v1.3.1
	github.com/poolswap/poolswap v0.0.0-00010101000000-000000000000
	go.uber.org/goleak v1.3.0
	pgregory.net/rapid v1.3.0
)

replace github.com/poolswap/poolswap => ../
