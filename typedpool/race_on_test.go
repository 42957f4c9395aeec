//go:build race

package typedpool_test

// raceDetector tells that sync.Pool drops one object in four at random.
const raceDetector = true
