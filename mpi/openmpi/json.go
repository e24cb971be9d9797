package openmpi

import (
	"encoding/json"
	"slices"

	"tutti/coll"
)

// distribution is a condition of a rule of 6.0: how the ranks of a communicator are distributed over nodes.
type distribution string

const (
	anyDistribution distribution = "any"
	onePerNode      distribution = "one-per-node"
	singleNode      distribution = "single-node"
)

func (s distribution) holds(l coll.Layout) bool {
	switch s {
	case onePerNode:
		return l.PPN == 1
	case singleNode:
		return l.Nodes == 1
	}
	return true
}

type jsonRules map[coll.Collective][]jsonBlock

// jsonBlock applies to communicators with Low to High ranks, bounds included, whose ranks are distributed over nodes
// as the block says. Open MPI uses the first block that applies, even if this block has no rules.
type jsonBlock struct {
	Low          int          `json:"comm_size_min"`
	High         *int         `json:"comm_size_max,omitempty"` // nil: no bound
	Distribution distribution `json:"comm_rank_distribution"`
	Rules        []jsonRule   `json:"rules"`
}

// jsonRule applies to messages of Low to High bytes, bounds included. Open MPI uses the first rule that
// applies. If no rule applies, the library selects.
type jsonRule struct {
	Low       int64  `json:"msg_size_min"`
	High      *int64 `json:"msg_size_max,omitempty"` // nil: no bound
	Algorithm string `json:"alg"`                    // Open MPI's name or number; "ignore" and 0 leave the decision to the library
	FanInOut  int    `json:"faninout,omitempty"`
	SegSize   int64  `json:"seg_size,omitempty"`
}

// ignore is the name of the algorithm in a rule that leaves the choice to Open MPI.
const ignore = "ignore"

type jsonFile struct {
	Version     int       `json:"rule_file_version"`
	Module      string    `json:"module"`
	Collectives jsonRules `json:"collectives"`
}

// Bytes returns the rules as the content of a file. Equal rules give equal bytes. It omits upper bounds that
// exclude nothing, instead of writing "inf": Open MPI reads this as -1 for a number of ranks.
func (r jsonRules) Bytes() []byte {
	text, err := json.MarshalIndent(jsonFile{3, "tuned", r}, "", " ")
	if err != nil {
		panic("openmpi: " + err.Error()) // numbers and texts have a JSON form
	}
	return append(text, '\n')
}

// toJSON converts classic rules. A classic block or rule ends where the next one begins. `name` maps
// the number of an algorithm to its name. The rules in `inCommonFile` are for layouts with one node or with one rank
// on each node. They come first, and apply only to communicators with exactly the layout's number of ranks.
func toJSON(rules classicRules, inCommonFile []layoutRules, name func(coll.Collective, int) string) jsonRules {
	out := jsonRules{}
	for _, c := range rules {
		var blocks []jsonBlock
		for _, l := range inCommonFile {
			n := l.layout.Ranks()
			own, common := l.rules.block(c.Collective, n), rules.block(c.Collective, n)
			if slices.Equal(own, common) {
				continue
			}
			b := jsonBlock{Low: n, High: &n, Distribution: onePerNode, Rules: rulesToJSON(c.Collective, own, name)}
			if l.layout.Nodes == 1 {
				b.Distribution = singleNode
			}
			if len(b.Rules) == 0 { // not a block without rules, for the sake of readers that want one
				b.Rules = []jsonRule{{Algorithm: ignore}}
			}
			blocks = append(blocks, b)
		}
		for i, block := range c.Blocks {
			b := jsonBlock{Low: block.Ranks, Distribution: anyDistribution, Rules: rulesToJSON(c.Collective, block.Rules, name)}
			if i+1 < len(c.Blocks) {
				b.High = new(c.Blocks[i+1].Ranks - 1)
			}
			if len(b.Rules) > 0 {
				blocks = append(blocks, b)
			}
		}
		if len(blocks) > 0 {
			out[c.Collective] = blocks
		}
	}
	return out
}

func rulesToJSON(c coll.Collective, rules []rule, name func(coll.Collective, int) string) []jsonRule {
	var out []jsonRule
	for i, r := range rules {
		if r.Algorithm == 0 {
			continue
		}
		x := jsonRule{Low: r.Size, Algorithm: name(c, r.Algorithm), FanInOut: r.FanInOut, SegSize: r.SegSize}
		if i+1 < len(rules) {
			x.High = new(rules[i+1].Size - 1)
		}
		out = append(out, x)
	}
	return out
}
