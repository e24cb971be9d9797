// Package replay simulates a machine with recorded measurements. It answers each request with
// the recorded time, or with one of several recorded repetitions. Options add random noise,
// failures and launch costs. So whole campaigns run in seconds and can be compared with the
// complete data.
//
//	m, err := replay.New(recorded, replay.Options{Seed: 1, Noise: replay.Noise{Sigma: 0.02}})
//	if err != nil {
//		return err
//	}
//	fmt.Println(len(m.Candidates()), m.ExhaustiveSeconds())
package replay
