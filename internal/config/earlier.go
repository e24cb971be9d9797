package config

import (
	"tutti/coll"
)

// Earlier has the measurements of an earlier campaign. The journal of a campaign that starts with
// them includes them all. Resuming needs only this journal.
type Earlier struct {
	Campaign string           `json:"campaign"`
	ID       string           `json:"id,omitempty"`
	Machine  string           `json:"machine,omitempty"`
	Problems []EarlierProblem `json:"problems"`
}

// EarlierProblem has the measurements of one library and collective of an earlier campaign.
type EarlierProblem struct {
	Library      string             `json:"library"`
	Version      string             `json:"version"`
	Collective   coll.Collective    `json:"collective"`
	Measurements []coll.Measurement `json:"measurements"`
}

// Of returns the measurements of a library and a collective. It reports false if there are none.
func (e Earlier) Of(library string, collective coll.Collective) (EarlierProblem, bool) {
	for _, p := range e.Problems {
		if p.Library == library && p.Collective == collective && len(p.Measurements) > 0 {
			return p, true
		}
	}
	return EarlierProblem{}, false
}
