module github.com/poolswap/poolswap/fleet/verify

go 1.26.0

require (
	github.com/poolswap/poolswap v0.0.0
	go.uber.org/goleak v1.3.0
)

replace github.com/poolswap/poolswap => ../../
