// Package steer decides what happens to plans: what an operation makes of one, when
// a canary is put on hold, and how a rollout goes on or ends.
package steer
