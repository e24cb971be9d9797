package benchrunner

import (
	"slices"

	"tutti/coll"
)

// Sweeps groups cases for programs that measure one algorithm and sweep the sizes: sizes
// ascend, and each launch is as long as follows allows. A duplicate case gets its own
// launch if follows(c, c) is false.
func Sweeps(cases []Case, follows func(a, b Case) bool) [][]Case {
	sorted := slices.Clone(cases)
	slices.SortStableFunc(sorted, func(a, b Case) int {
		pa, pb := a.Candidate, b.Candidate
		pa.MsgBytes, pb.MsgBytes = 0, 0
		if d := coll.CompareCandidates(pa, pb); d != 0 {
			return d
		}
		return coll.CompareCandidates(a.Candidate, b.Candidate)
	})
	var groups [][]Case
	for _, c := range sorted {
		if n := len(groups); n > 0 && follows(groups[n-1][len(groups[n-1])-1], c) {
			groups[n-1] = append(groups[n-1], c)
			continue
		}
		groups = append(groups, []Case{c})
	}
	return groups
}

// Ascending reports whether b has the collective, layout and algorithm of a and a larger
// size.
func Ascending(a, b Case) bool {
	return a.Collective == b.Collective && a.Layout() == b.Layout() && a.Algorithm == b.Algorithm && a.MsgBytes < b.MsgBytes
}
