package learner

import "tutti/coll"

// Measured are times of candidates. At its point a measurement takes the place of the
// prediction.
type Measured map[coll.Candidate]Time

// Time is log10 of seconds and the variance of its noise.
type Time struct{ Log, Noise float64 }
