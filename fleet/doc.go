// Package fleet publishes content once for every replica of a service, and shows
// and steers which replica runs what. It keeps content, plan, reports and history
// in NATS JetStream.
//
// Content is immutable: each [Revision] is an object of its own. A [Plan] for each
// name says which revision the replicas want. Replicas follow it with a [Source]
// for package reload:
//
//	source, err := fleet.NewSource(conn, "asn", fleet.SourceOptions{ID: hostname})
//	...
//	reloader := reload.New(tables, reload.Cache(source, dir), load, reload.Options{Observe: source.Observe})
//	go reloader.Run(ctx)
//
// A [Publisher] stores and publishes content; a [Controller] steers: canary,
// promote, rollback, pin, pause.
//
// A fleet is not safe against its own replicas: a NATS user who may write one
// report can destroy plans, content and history of every name. See docs/fleet.md.
package fleet
