//go:build !race

package typedpool_test

// raceDetector tells that sync.Pool keeps all objects between collections.
const raceDetector = false
