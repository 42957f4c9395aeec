module github.com/poolswap/poolswap/examples/geodb

go 1.26.0

require (
	github.com/oschwald/maxminddb-golang/v2 v2.9.0
	github.com/poolswap/poolswap v0.0.0
)

require golang.org/x/sys v0.49.0 // indirect

replace github.com/poolswap/poolswap => ../..
