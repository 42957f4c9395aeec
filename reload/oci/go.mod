module github.com/poolswap/poolswap/reload/oci

go 1.26.0

require (
	github.com/opencontainers/go-digest v1.0.0
	github.com/opencontainers/image-spec v1.1.1
	github.com/poolswap/poolswap v0.0.0
	oras.land/oras-go/v2 v2.7.0
)

require golang.org/x/sync v0.24.0 // indirect

replace github.com/poolswap/poolswap => ../../
