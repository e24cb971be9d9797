package verify

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"tutti/benchrunner"
	"tutti/coll"
	"tutti/mpi"
)

// Sight is what was seen of a library's obedience at one point.
type Sight struct {
	Spot
	State SightState `json:"state"`
	Note  string     `json:"note,omitzero"` // what was seen instead, or why nothing can be
}

// SightState says whether the library obeyed.
type SightState string

// The states of obedience.
const (
	Obeyed    SightState = "obeyed"
	NotObeyed SightState = "not obeyed"
	Unseen    SightState = "cannot be seen"
)

// sightsOfAlgorithm is at how many points each algorithm of a collective is probed.
const sightsOfAlgorithm = 2

// probeSpots returns where to look: for each algorithm of each collective points of
// different layouts whose neighbours in size have it too, where there are such.
func probeSpots(problems []Problem) []Spot {
	var out []Spot
	for _, p := range problems {
		taken := map[coll.Algorithm]int{}
		layouts := map[coll.Layout]bool{}
		for _, s := range interior(p) {
			if taken[s.Choice] < sightsOfAlgorithm && (taken[s.Choice] == 0 || !layouts[s.Layout()]) {
				taken[s.Choice]++
				layouts[s.Layout()] = true
				out = append(out, s)
			}
		}
	}
	return out
}

// interior returns the grid points with an algorithm, those inside a place first,
// small jobs first.
func interior(p Problem) []Spot {
	type ranked struct {
		Spot
		edges int
	}
	var all []ranked
	for _, lane := range lanesOf(p.Grid) {
		for i, at := range lane {
			alg := p.Choose(at)
			if alg.IsDefault() {
				continue
			}
			edges := 0
			if i > 0 && p.Choose(lane[i-1]) != alg {
				edges++
			}
			if i+1 < len(lane) && p.Choose(lane[i+1]) != alg {
				edges++
			}
			all = append(all, ranked{Spot{Point: at, Choice: alg, Why: OnGrid}, edges})
		}
	}
	slices.SortStableFunc(all, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(a.edges, b.edges), cmp.Compare(a.Ranks(), b.Ranks()))
	})
	out := make([]Spot, len(all))
	for i, r := range all {
		out[i] = r.Spot
	}
	return out
}

// mustLook reports whether obedience is to be seen now: of files that nobody has
// looked at, or again where the library did not obey.
func (s *Session) mustLook() bool {
	must := true
	for _, e := range s.entries {
		switch {
		case e.Session != s.number:
		case e.Sights != nil:
			must = slices.ContainsFunc(e.Sights, func(x Sight) bool { return x.State == NotObeyed })
		case e.Verdict != nil && !e.Verdict.End:
			must = true
		}
	}
	return must
}

// lookForObedience probes the files and reports whether the library was seen not to
// obey.
func (s *Session) lookForObedience(ctx context.Context, files Files) (disobeyed bool, err error) {
	spots := probeSpots(files.Problems)
	if files.Probe == nil || len(spots) == 0 {
		return false, nil
	}
	round, known := s.openProbe()
	trials := map[coll.Candidate]coll.Trial{}
	for _, t := range known.trials {
		trials[t.Candidate] = t
	}
	batch := benchrunner.Batch{Label: s.opt.Library + "-probe", Round: round, Jobs: known.jobs}
	for _, spot := range spots {
		c := coll.Candidate{Point: spot.Point, Algorithm: Tuned}
		_, ended := trials[c]
		batch.Requests = append(batch.Requests, benchrunner.Request{Candidate: c, Attempt: 1, Ended: ended})
	}
	if err := files.Probe.Run(ctx, batch, &blockLog{s, round, Probing, trials}); err != nil {
		return false, fmt.Errorf("%s: probing: %w", s.opt.Library, err)
	}
	s.round = max(s.round, round)
	sights := []Sight{}
	for _, spot := range spots {
		sight := sightOf(spot, trials[coll.Candidate{Point: spot.Point, Algorithm: Tuned}])
		sights = append(sights, sight)
		disobeyed = disobeyed || sight.State == NotObeyed
	}
	return disobeyed, s.append(Entry{Sights: sights})
}

// openProbe returns the round of probing that was begun and has no sights, or the
// next one.
func (s *Session) openProbe() (int, block) {
	from := 0
	for _, e := range s.entries {
		switch {
		case e.Session != s.number:
		case e.Sights != nil:
			from = 0
		case e.Look == Probing && from == 0:
			from = e.Round
		}
	}
	if from == 0 {
		return s.round + 1, block{}
	}
	return from, s.known(from)
}

// sightOf reads the trial of a probe: it ended well when the algorithm that was
// wanted was seen, and its error says what was instead, or why nothing can be.
func sightOf(spot Spot, t coll.Trial) Sight {
	if t.State == coll.TrialDone {
		return Sight{Spot: spot, State: Obeyed}
	}
	if saw, ok := strings.CutPrefix(t.Error, mpi.ErrDisobeyed.Error()+": "); ok {
		return Sight{Spot: spot, State: NotObeyed, Note: saw}
	}
	return Sight{Spot: spot, State: Unseen, Note: cmp.Or(t.Error, "no answer")}
}
