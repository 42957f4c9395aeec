package verify_test

import "testing"

// FuzzConcurrent records and judges a history. The bytes choose the counting mode,
// the number of containers and clients, and what each client does.
func FuzzConcurrent(f *testing.F) {
	widen(f)
	recorders := []*recorder{newRecorder(false, 1), newRecorder(true, 1), newRecorder(false, 2), newRecorder(true, 2)}
	f.Fuzz(func(t *testing.T, choices []byte) {
		if len(choices) > 1<<8 {
			t.Skip("judging longer histories takes too long")
		}
		s := script(choices)
		recorder := recorders[s.pick(len(recorders))]
		scripts := make([]script, 2+s.pick(4))
		for i, b := range s {
			to := &scripts[i%len(scripts)]
			*to = append(*to, b)
		}
		judge(t, recorder.run(t, scripts))
		recorder.quiescent(t)
	})
}
