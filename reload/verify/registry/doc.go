// Package registry has tests of reload/oci with a real registry: that of the distribution
// project, in this process, to which oras pushes.
package registry
