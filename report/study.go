package report

import (
	"strconv"

	"tutti/campaign"
	"tutti/hpo"
)

// studyFacts lists the trials with the best value up to each.
func studyFacts(s campaign.Study) []HPOTrial {
	var out []HPOTrial
	for i, t := range s.Trials {
		h := HPOTrial{Number: t.Number, State: string(t.State), Value: t.Value, Params: forestFacts(t.Params)}
		if best, ok := (campaign.Study{Trials: s.Trials[:i+1]}).Best(); ok {
			h.Best = best.Value
		}
		out = append(out, h)
	}
	return out
}

func forestFacts(p hpo.ForestParams) []Param {
	whole := func(name string, v int) Param { return Param{Name: name, Value: strconv.Itoa(v)} }
	return []Param{
		whole("trees", p.Trees), {Name: "criterion", Value: p.Criterion}, whole("max_depth", p.MaxDepth),
		whole("min_split", p.MinSplit), whole("min_leaf", p.MinLeaf),
	}
}
