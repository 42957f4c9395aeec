module github.com/poolswap/poolswap/reload/watch

go 1.26

require (
	github.com/fsnotify/fsnotify v1.10.1
	github.com/poolswap/poolswap v0.0.0
)

require golang.org/x/sys v0.13.0 // indirect

replace github.com/poolswap/poolswap => ../../
