package openmpi

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"tutti/coll"
	"tutti/mpi"
)

// readJSON reads rules in JSON as Open MPI 6 does. Source: ompi/mca/coll/tuned/coll_tuned_dynamic_file.c, main.
func (f *ruleFile) readJSON(text []byte) {
	f.Format = "rules of coll/tuned, JSON"
	if !f.newer() {
		f.OtherSeries = true
		f.Add(1, mpi.FindingError, fmt.Sprintf("Open MPI %s reads the classic format alone: JSON is for 6.0 and later", f.cat.Version))
	}
	doc, trailing, err := mpi.ParseJSON(text)
	if syntax, ok := errors.AsType[*mpi.JSONError](err); ok {
		f.Add(syntax.Line, mpi.FindingError, syntax.Text)
		return
	}
	for _, line := range trailing {
		f.Add(line, mpi.FindingNote, "a comma after the last element: Open MPI accepts it, other programs do not")
	}
	f.unknownKeys(doc, "rule_file_version", "module", "collectives", "$schema")
	if v := doc.Get("rule_file_version"); v == nil || v.Text != "3" {
		f.Add(1, mpi.FindingNote, "want rule_file_version 3")
	}
	if m := doc.Get("module"); m == nil || m.Text != "tuned" {
		f.Add(1, mpi.FindingNote, `want "module": "tuned"`)
	}
	collectives := doc.Get("collectives")
	if collectives == nil || collectives.Kind != mpi.JSONObject {
		f.Add(doc.Line, mpi.FindingError, "collectives: is missing or no object: want the rules of each collective there")
		return
	}
	for _, m := range collectives.Members {
		c, err := coll.ParseCollective(m.Key)
		switch known := slices.Contains(otherCollectives, m.Key); {
		case known:
			f.Add(m.Line, mpi.FindingUnreachable, fmt.Sprintf("%s: coll/tuned has no rules for it", m.Key))
		case err != nil:
			f.Add(m.Line, mpi.FindingError, fmt.Sprintf("collective %q: %v", m.Key, err))
		}
		if m.Value.Kind != mpi.JSONArray {
			f.Add(m.Value.Line, mpi.FindingError, fmt.Sprintf("%s: want a list of blocks, got %s", m.Key, m.Value.Kind))
			continue
		}
		for i, block := range m.Value.Items {
			f.readJSONBlock(c, i, block)
		}
	}
	f.findCovered()
}

// otherCollectives are the collectives that Open MPI knows and that coll/tuned has no rules for.
var otherCollectives = []string{"alltoallw", "gatherv", "scatterv", "neighbor_allgather", "neighbor_allgatherv", "neighbor_alltoall", "neighbor_alltoallv", "neighbor_alltoallw"}

func (f *ruleFile) unknownKeys(v *mpi.JSON, known ...string) {
	for _, m := range v.Members {
		if !slices.Contains(known, m.Key) {
			f.Add(m.Line, mpi.FindingNote, fmt.Sprintf("%s: Open MPI ignores this key: want one of %s", m.Key, strings.Join(known, ", ")))
		}
	}
}

func (f *ruleFile) readJSONBlock(c coll.Collective, number int, v *mpi.JSON) {
	if v.Kind != mpi.JSONObject {
		f.Add(v.Line, mpi.FindingError, fmt.Sprintf("%s: want a block of rules in braces, got %s", c, v.Kind))
		return
	}
	f.unknownKeys(v, "comm_size_min", "comm_size_max", "comm_rank_distribution", "rules")
	r := placedRule{Collective: c, Block: number, BlockLine: v.Line, Distribution: anyDistribution}
	r.Ranks = span{f.jsonNumber(v, "comm_size_min", 0), f.jsonNumber(v, "comm_size_max", math.MaxInt32)}
	why := ""
	if m := v.Get("comm_size_max"); m != nil && m.Kind == mpi.JSONString {
		why = `comm_size_max "inf" is read as -1: leave the key out`
	} else if r.Ranks.empty() {
		why = "comm_size_min is above comm_size_max"
	}
	if d := v.Get("comm_rank_distribution"); d != nil {
		r.Distribution = distribution(d.Text)
		if !slices.Contains([]distribution{anyDistribution, onePerNode, singleNode}, r.Distribution) {
			f.Add(d.Line, mpi.FindingNote, fmt.Sprintf("comm_rank_distribution %q is taken for any: want any, one-per-node or single-node", d.Text))
			r.Distribution = anyDistribution
		}
	}
	rules := v.Get("rules")
	if rules == nil || rules.Kind != mpi.JSONArray {
		f.Add(v.Line, mpi.FindingError, fmt.Sprintf("%s: rules: is missing or no list", c))
		return
	}
	for _, item := range rules.Items {
		f.readJSONRule(r, item, why)
	}
}

func (f *ruleFile) readJSONRule(r placedRule, v *mpi.JSON, why string) {
	if v.Kind != mpi.JSONObject {
		f.Add(v.Line, mpi.FindingError, fmt.Sprintf("%s: want a rule in braces, got %s", r.Collective, v.Kind))
		return
	}
	f.unknownKeys(v, "msg_size_min", "msg_size_max", "alg", "faninout", "seg_size", "reqs")
	r.Line, r.Unreachable = v.Line, why
	r.Sizes = span{f.jsonNumber(v, "msg_size_min", 0), f.jsonNumber(v, "msg_size_max", math.MaxInt64)}
	r.Size, r.FanInOut, r.SegSize = r.Sizes.Low, int(f.jsonNumber(v, "faninout", 0)), f.jsonNumber(v, "seg_size", 0)
	f.jsonNumber(v, "reqs", 0)
	if r.Unreachable == "" && r.Sizes.empty() {
		r.Unreachable = "msg_size_min is above msg_size_max"
	}
	switch alg := v.Get("alg"); {
	case alg == nil || alg.Kind != mpi.JSONString && alg.Kind != mpi.JSONNumber:
		f.Add(v.Line, mpi.FindingNote, "alg: is missing or neither name nor number: the rule leaves the decision to the library")
	default:
		r.Algorithm = f.number(r.Collective, alg.Text)
		if alg.Text == ignore {
			r.Algorithm = 0
		}
		_, known := f.entryOf(r)
		if r.Collective != "" && !known && r.Algorithm != 0 && r.Unreachable == "" {
			r.Unreachable = fmt.Sprintf("Open MPI %s has no algorithm %s of %s and ignores the rule: want a number of %s, or a name", f.cat.Version, alg.Text, r.Collective, f.numbersOf(r.Collective))
		}
	}
	f.rules = append(f.rules, r)
}

// jsonNumber returns the whole number of a key, or `initial` if the key is missing.
func (f *ruleFile) jsonNumber(v *mpi.JSON, key string, initial int64) int64 {
	m := v.Get(key)
	if m == nil {
		return initial
	}
	if m.Kind == mpi.JSONString && slices.Contains([]string{"inf", "Inf", "INF"}, m.Text[:min(3, len(m.Text))]) {
		return math.MaxInt64
	}
	n, err := strconv.ParseInt(m.Text, 10, 64)
	if err != nil || m.Kind != mpi.JSONNumber {
		f.Add(m.Line, mpi.FindingError, fmt.Sprintf("%s %q: want a whole number or \"inf\"", key, m.Text))
		return initial
	}
	return n
}

// findCovered marks rules that no call reaches because the blocks or rules before serve all their calls.
func (f *ruleFile) findCovered() {
	type class struct {
		collective   coll.Collective
		distribution distribution
	}
	served := map[class]spanSet{} // ranks that blocks before serve, for calls of a distribution
	var block placedRule          // the first rule of the current block
	var sizes spanSet             // that rules before serve in this block
	for i, r := range f.rules {
		if i == 0 || r.Collective != block.Collective || r.Block != block.Block {
			if i > 0 && block.Unreachable == "" {
				for _, d := range []distribution{anyDistribution, onePerNode, singleNode} {
					if at := (class{block.Collective, d}); block.Distribution == anyDistribution || block.Distribution == d {
						served[at] = served[at].with(block.Ranks)
					}
				}
			}
			block, sizes = r, nil
		}
		ranks := span{max(2, r.Ranks.Low), r.Ranks.High}
		switch {
		case r.Unreachable != "":
		case served[class{r.Collective, r.Distribution}].covers(ranks):
			f.rules[i].Unreachable = "blocks before serve all communicators of " + r.Ranks.text("ranks")
		case sizes.covers(r.Sizes):
			f.rules[i].Unreachable = "rules before serve all messages of " + r.Sizes.text("B")
		default:
			sizes = sizes.with(r.Sizes)
		}
	}
}

// spanSet is a set of numbers: spans that are disjoint, not adjacent and ascending.
type spanSet []span

// upTo returns the index of the first span that ends at n or above.
func (s spanSet) upTo(n int64) int {
	at, _ := slices.BinarySearchFunc(s, n, func(x span, n int64) int { return cmp.Compare(x.High, n) })
	return at
}

// with returns the set with the numbers of a span. It may change s. An empty span adds nothing.
func (s spanSet) with(n span) spanSet {
	if n.empty() {
		return s
	}
	first := s.upTo(n.Low - 1)
	end := first
	for ; end < len(s) && s[end].Low <= n.High+1; end++ {
		n = span{min(n.Low, s[end].Low), max(n.High, s[end].High)}
	}
	return slices.Replace(s, first, end, n)
}

// covers reports whether the set has all numbers of n. An empty span is covered by any set but the empty one.
func (s spanSet) covers(n span) bool {
	if n.empty() {
		return len(s) > 0
	}
	i := s.upTo(n.High)
	return i < len(s) && s[i].Low <= n.Low
}
