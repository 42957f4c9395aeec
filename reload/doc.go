// Package reload keeps the current object of a container fresh from a file or a
// URL: it fetches new content, loads it into a recycled object, validates it and
// publishes it. It keeps the last good object until a new one passes.
//
//	pool := poolswap.NewPool(newTable, resetTable)
//	tables := poolswap.NewEmptyContainer(pool)
//	reloader := reload.New(tables, reload.File("asn.csv"), func(ctx context.Context, next, current *Table, content *reload.Content) error {
//		return next.parse(content.Body)
//	}, reload.Options{})
//	http.Handle("/status", reload.StatusPage(reloader))
//	return reload.Serve(ctx, server, reload.ServeOptions{Close: pool.Close}, reloader)
//
// [Serve] runs it beside a server until ctx ends, and Run alone. [NewValue] is for
// objects that need no pool, and package mapped for files that are mapped into memory.
//
// A hint is a hint, a fetch is the truth: the Reloader asks its [Source] at the
// start, at each hint, and on a timer. Revisions are compared for equality only,
// so a restored old file is loaded like a new one. Content is published only
// after load has returned nil, the body was read to its end, and its length,
// digest and signature, as far as there are any, were found right.
//
// A failure leaves the current object as it is. Content that load refuses is
// not fetched again until its revision changes; everything else is tried again.
package reload
