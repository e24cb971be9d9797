// Package replay is a machine made of recorded measurements. It answers each
// request with the recorded time, or with one of several recorded repetitions that
// the seed draws, if wanted with seeded noise, failures and the
// price of launches, so that whole campaigns run in seconds and can be judged
// against the full truth.
//
//	m, err := replay.New(recorded, replay.Options{Seed: 1, Noise: replay.Noise{Sigma: 0.02}})
//	if err != nil {
//		return err
//	}
//	fmt.Println(len(m.Candidates()), m.ExhaustiveSeconds())
package replay
