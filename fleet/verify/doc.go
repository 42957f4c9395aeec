// Package verify tests package fleet with real servers: it builds the command fleetd
// and runs it, in processes that it kills and behind networks that it cuts.
package verify
