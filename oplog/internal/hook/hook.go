// Package hook gives package oplogtest access to a Log.
package hook

// Verify is the implementation of oplogtest.Verify, which package oplog sets. log is
// an *oplog.Log[T, P, Op], and equal a func(a, b *T) bool.
var Verify func(log, equal any) error
