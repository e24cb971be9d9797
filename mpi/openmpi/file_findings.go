package openmpi

import (
	"fmt"
	"math"
	"slices"

	"tutti/coll"
	"tutti/mpi"
)

// addFindings adds findings about rules that are loaded.
func (f *ruleFile) addFindings() {
	for _, r := range f.rules {
		switch {
		case r.Unreachable != "":
			f.Add(r.Line, mpi.FindingUnreachable, r.Unreachable)
		case r.Collective != "" && !f.han && r.Algorithm != 0:
			f.judgeAlgorithm(r)
		}
	}
	for _, c := range f.Collectives {
		if !f.han {
			f.judgeSizes(c)
		}
	}
	f.judgeComponents()
}

// judgeAlgorithm adds findings about the algorithm of a rule.
func (f *ruleFile) judgeAlgorithm(r placedRule) {
	e, ok := f.entryOf(r)
	if !ok {
		f.Add(r.Line, mpi.FindingHarm, fmt.Sprintf("%s: Open MPI %s has no algorithm %d: the first call that reaches the rule aborts; want %s",
			r.Collective, f.cat.Version, r.Algorithm, f.numbersOf(r.Collective)))
		return
	}
	if e.Has(mpi.TwoRanks) && r.Ranks != (span{2, 2}) && !(r.Ranks.Low <= 2 && r.Ranks.High == 2) {
		f.Add(r.Line, mpi.FindingHarm, fmt.Sprintf("%s: %s runs on 2 ranks alone, and the rule is for %s: programs abort", r.Collective, e.Name, r.Ranks.text("ranks")))
	}
	if takesRadix(r.Collective, e) && r.FanInOut < 2 {
		f.Add(r.Line, mpi.FindingHarm, fmt.Sprintf("%s: the fan in/out of %s is its radix: with %d, calls never end; want 2 or more", r.Collective, e.Name, r.FanInOut))
	}
	if unsafe := e.Unsafe(f.algorithm(r)); unsafe != "" {
		f.Add(r.Line, mpi.FindingHarm, fmt.Sprintf("%s: %s %s", r.Collective, unsafe, harmOf(e)))
	}
}

// harmOf says for which calls an algorithm that is not safe is wrong.
func harmOf(e mpi.Entry) string {
	switch {
	case e.Has(mpi.Commutative):
		return "computes wrong results, silently, with operations that do not commute"
	case e.Has(mpi.NotInPlace):
		return "reads the send count, which calls in place leave undefined: wrong data or crashes"
	case e.Has(mpi.SameTypes), e.Segments != "":
		return "hangs or delivers wrong data where ranks describe the same data by different types"
	}
	return "is wrong for some valid calls"
}

func (f *ruleFile) numbersOf(c coll.Collective) string {
	highest := 0
	for _, e := range f.cat.Entries(c) {
		if !isHan(e.ID) {
			highest = max(highest, e.ID)
		}
	}
	return fmt.Sprintf("0 to %d", highest)
}

// judgeSizes adds findings about the message sizes of a collective's rules.
func (f *ruleFile) judgeSizes(c coll.Collective) {
	reached := slices.DeleteFunc(slices.Clone(f.rules), func(r placedRule) bool { return r.Collective != c || r.Unreachable != "" })
	if !slices.ContainsFunc(reached, func(r placedRule) bool { return r.Algorithm != 0 }) {
		return
	}
	for i, r := range reached {
		first := i == 0 || reached[i-1].Block != r.Block
		switch {
		case first && c == coll.Allgather && r.Sizes.Low == 0 && r.Algorithm != 0 && r.Sizes.High < math.MaxInt64:
			f.Add(r.Line, mpi.FindingHarm, "allgather: Open MPI takes calls in place for empty messages: this rule serves them at all sizes, slowly perhaps; let the first rule be 0 0 0 0 and this one begin at 1")
		case !first && (c == coll.Barrier || c == coll.Alltoallv):
			f.Add(r.Line, mpi.FindingUnreachable, fmt.Sprintf("%s compares no size: the first rule serves all calls", c))
		case !first && (c == coll.Scan || c == coll.Exscan):
			f.Add(r.Line, mpi.FindingNote, fmt.Sprintf("%s compares the size of one element times the ranks, not that of the message", c))
		case !first && !sized(c) && !sameChoice(r.rule, reached[i-1].rule):
			f.Add(r.Line, mpi.FindingHarm, fmt.Sprintf("%s: ranks may compute different sizes for one call, follow different rules, and hang or crash: want one rule, of size 0, for a communicator size", c))
		}
	}
	if c == coll.Allgather || c == coll.Alltoall || c == coll.Gather {
		f.Add(reached[0].Line, mpi.FindingNote, fmt.Sprintf("%s: with any rule, calls in place crash if their send type is MPI_DATATYPE_NULL (a fault of Open MPI)", c))
	}
}

// judgeComponents adds a note about the component that decides before coll/tuned.
func (f *ruleFile) judgeComponents() {
	if f.usesHan() && !f.han && slices.ContainsFunc(f.Collectives, func(c coll.Collective) bool { return f.hanServes(c, coll.Layout{Nodes: 2, PPN: 2}) }) {
		f.Add(0, mpi.FindingNote, fmt.Sprintf("on several nodes with several ranks each, coll/han decides first and asks coll/tuned for the parts alone: without rules of its own or %scoll_han_priority=0, the rules do not serve whole communicators there", mcaPrefix))
	}
}
