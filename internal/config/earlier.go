package config

import (
	"tutti/coll"
)

// Earlier is what an earlier campaign measured. A campaign that starts from it
// carries all of it, so that it can be resumed when the other one is gone.
type Earlier struct {
	Campaign string           `json:"campaign"`
	ID       string           `json:"id,omitempty"`
	Machine  string           `json:"machine,omitempty"`
	Problems []EarlierProblem `json:"problems"`
}

// EarlierProblem is one library and collective of an earlier campaign.
type EarlierProblem struct {
	Library      string             `json:"library"`
	Version      string             `json:"version"`
	Collective   coll.Collective    `json:"collective"`
	Measurements []coll.Measurement `json:"measurements"`
}

// Of returns what was measured of a library and a collective.
func (e Earlier) Of(library string, collective coll.Collective) (EarlierProblem, bool) {
	for _, p := range e.Problems {
		if p.Library == library && p.Collective == collective && len(p.Measurements) > 0 {
			return p, true
		}
	}
	return EarlierProblem{}, false
}
