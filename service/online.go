package service

// Probe is the result of tutti verify --drift: a small batch of a campaign measured again.
type Probe struct {
	Candidates int     `json:"candidates"` // measured again
	Failed     int     `json:"failed"`
	Change     float64 `json:"change"` // median of |new time over old - 1|
	Ratio      float64 `json:"ratio"`  // geometric mean of new time over old

	NodeSeconds float64 `json:"node_seconds"` // of the machine
}
