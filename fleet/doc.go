// Package fleet publishes content once for every replica of a service, and shows and
// steers which replica runs what. It is a client of [fleetd], over HTTPS.
//
// Content is immutable: each [Revision] has an id of its own. A [Plan] for each name
// says which revision the replicas want. Replicas follow it with a [Source] for package
// reload:
//
//	client, err := fleet.NewClient("https://fleet.example:8443", fleet.ClientOptions{TokenFile: "token"})
//	...
//	source, err := fleet.NewSource(client, "asn", fleet.SourceOptions{ID: hostname})
//	...
//	reloader := reload.New(tables, reload.Cache(source, dir), load, reload.Options{Observe: source.Observe})
//	err = reloader.Run(ctx)
//	source.Leave()
//
// A [Publisher] stores and publishes content; a [Controller] steers: canary, promote,
// rollout, rollback, pin, pause. A [Client] manages names and tokens. See docs/fleet.md,
// and docs/fleet-protocol.md for clients in other languages.
//
// [fleetd]: https://pkg.go.dev/github.com/poolswap/poolswap/fleet/fleetd
package fleet
