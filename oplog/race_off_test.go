//go:build !race

package oplog_test

// raceDetector tells that everything takes longer.
const raceDetector = false
