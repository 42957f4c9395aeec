module github.com/poolswap/poolswap/trace

go 1.26.0

require (
	github.com/google/pprof v0.0.0-20261016150608-1facf8f91b50
	github.com/poolswap/poolswap v0.0.0
)

replace github.com/poolswap/poolswap => ../
