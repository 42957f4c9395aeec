module github.com/poolswap/poolswap/verify/browser

go 1.26.0

require (
	github.com/chromedp/cdproto v0.159.0
	github.com/chromedp/chromedp v0.23.0
	github.com/nats-io/nats.go v1.55.0
	github.com/poolswap/poolswap v0.0.0
	github.com/poolswap/poolswap/fleet v0.0.0
)

require (
	github.com/go-json-experiment/json v0.0.0-20260213210345-44df1a37e875 // indirect
	github.com/klauspost/compress v1.20.0 // indirect
	github.com/nats-io/nkeys v0.4.16 // indirect
	github.com/nats-io/nuid v1.0.1 // indirect
	golang.org/x/crypto v0.57.0 // indirect
	golang.org/x/sys v0.48.0 // indirect
)

replace (
	github.com/poolswap/poolswap => ../../
	github.com/poolswap/poolswap/fleet => ../../fleet
)
