module github.com/poolswap/poolswap

go 1.26
