// Package objectstore has tests of package reload with a real object store that checks
// signatures: the S3 gateway versitygw, in this process.
package objectstore
