package config

import (
	"tutti/coll"
	"tutti/hpo"
	"tutti/mpi"
)

// Earlier has the measurements of an earlier campaign. A new campaign that uses them copies them into its
// own journal, so that it can be resumed without the earlier campaign.
type Earlier struct {
	Campaign string           `json:"campaign"`
	ID       string           `json:"id,omitempty"`
	Machine  string           `json:"machine,omitempty"`
	Problems []EarlierProblem `json:"problems"`
}

// EarlierProblem has the measurements that an earlier campaign made for one library and collective.
type EarlierProblem struct {
	Library      string             `json:"library"`
	Version      string             `json:"version"`
	Users        []mpi.User         `json:"users,omitempty"` // algorithms of users that it had
	Collective   coll.Collective    `json:"collective"`
	Measurements []coll.Measurement `json:"measurements"`
	Forest       *hpo.ForestParams  `json:"forest,omitempty"` // hyperparameters of the study's best forest; nil without a study
}

// Of returns the measurements of a library and a collective. It returns false if there are none.
func (e Earlier) Of(library string, collective coll.Collective) (EarlierProblem, bool) {
	for _, p := range e.Problems {
		if p.Library == library && p.Collective == collective && len(p.Measurements) > 0 {
			return p, true
		}
	}
	return EarlierProblem{}, false
}
