package nccl

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"tutti/coll"
	"tutti/mpi"
)

var _ mpi.RuleReader = library{}

// ReadRules implements mpi.RuleReader. A text is a tuner file if its first row begins with the name of a collective and has
// commas.
func (l library) ReadRules(cat *mpi.Catalogue, _ string, file []byte) (*mpi.RuleFile, bool) {
	if !isTunerFile(file) {
		return nil, false
	}
	d := l.parse(file)
	f := &mpi.RuleFile{
		Format: "tuner file of " + l.title, Library: l.name, Version: cat.Version, Loaded: true, Rules: len(d.rules), Findings: d.findings, Collectives: []coll.Collective{},
		Effect: "the first rule that fits decides; lines with errors are ignored or taken for something else",
		Load:   []mpi.Setting{{Name: configVariable, Value: mpi.RulePath}},
	}
	if l.plugin != "" {
		f.Load = append(f.Load, mpi.Setting{Name: pluginVariable, Value: l.plugin})
	}
	f.Activation = f.LoadText()
	before := wider{}
	for _, r := range d.rules {
		at := slices.IndexFunc(coll.Collectives(), func(c coll.Collective) bool { return names[c] == r.collective })
		if c := coll.Collectives()[at]; !slices.Contains(f.Collectives, c) {
			f.Collectives = append(f.Collectives, c)
		}
		f.Listing = append(f.Listing, mpi.ListedRule{Collective: r.collective, RuleChoice: mpi.RuleChoice{Algorithm: r.selected(), Line: r.line, Rule: r.conditions()}})
		l.addFindings(f, r, before)
	}
	f.Sort()
	f.Choose = func(p coll.Point) mpi.RuleChoice {
		alg, line := d.choose(l.Size(p), p)
		c := mpi.RuleChoice{Algorithm: alg, Line: line}
		if i := slices.IndexFunc(d.rules, func(r rule) bool { return r.line == line }); i >= 0 {
			c.Rule = d.rules[i].conditions()
		}
		return c
	}
	return f, true
}

// isTunerFile reports whether the first row begins with a name of tuner files. The row may have other separators, quotes or a
// byte order mark, which the readers do not know: they are findings.
func isTunerFile(file []byte) bool {
	for line := range strings.Lines(strings.TrimPrefix(string(file), "\ufeff")) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(",;\t", r) })
		first := strings.ToLower(strings.Trim(fields[0], `"' `))
		return len(fields) >= leastColumns && (slices.Contains(knownNames(), first) || first == columnNames[0] || first == "colltype")
	}
	return false
}

// addFindings adds what is wrong with a rule that the reader accepts, given the rules before it.
func (l library) addFindings(f *mpi.RuleFile, r rule, before wider) {
	if r.channels == -1 && l.plugin != "" {
		f.Add(r.line, mpi.FindingHarm, "channels -1: the plugin gives such calls one channel: give a number")
	}
	if r.partition {
		f.Add(r.line, mpi.FindingHarm, "partitionMode and localGroup count only with RCCL_CHIPLET_TUNER_ENABLE=1: without it the row serves every mode")
	}
	switch lines := before.lines(r); {
	case len(lines) == 1:
		f.Add(r.line, mpi.FindingUnreachable, fmt.Sprintf("line %d serves all its calls", lines[0]))
		return
	case len(lines) > 1:
		f.Add(r.line, mpi.FindingUnreachable, fmt.Sprintf("rules from line %d to line %d together serve all its calls", slices.Min(lines), slices.Max(lines)))
		return
	}
	before.add(r)
}

// wider finds rules that together serve all calls of another one. For each combination of conditions it has the rules of which
// none serves all sizes of another one, in ascending order of their lowest size, and so of their highest size.
type wider map[conditions][]rule

// conditions are those of a rule without its sizes; -1: any.
type conditions struct {
	collective                    string
	nodes, ranks, pipeOps, buffer int
}

func (w wider) add(r rule) {
	key := conditions{r.collective, r.nodes, r.ranks, r.pipeOps, r.buffer}
	at := atSize(w[key], r.low)
	end := at
	for end < len(w[key]) && w[key][end].high <= r.high {
		end++
	}
	w[key] = slices.Replace(w[key], at, end, r)
}

// lines returns the lines of the rules that together serve all calls of r, in the order of their sizes; none if a call is
// left.
func (w wider) lines(r rule) (lines []int) {
	for next := r.low; ; {
		best := w.at(r, next)
		if best.high < next {
			return nil
		}
		if lines = append(lines, best.line); best.high >= r.high {
			return lines
		}
		next = best.high + 1
	}
}

// at returns, of the rules that serve the calls of r of a size, the one that serves the largest sizes. If there is none, the
// highest size is -1.
func (w wider) at(r rule, size int64) rule {
	best := rule{high: -1}
	for mask := range 1 << 4 {
		key := conditions{r.collective, r.nodes, r.ranks, r.pipeOps, r.buffer}
		for i, n := range []*int{&key.nodes, &key.ranks, &key.pipeOps, &key.buffer} {
			if mask>>i&1 == 1 {
				*n = -1
			}
		}
		list := w[key]
		if i := atSize(list, size+1); i > 0 && list[i-1].high > best.high {
			best = list[i-1]
		}
	}
	return best
}

// atSize returns the index of the first rule whose lowest size is `low` or above.
func atSize(list []rule, low int64) int {
	at, _ := slices.BinarySearchFunc(list, low, func(r rule, low int64) int { return cmp.Compare(r.low, low) })
	return at
}

func (r rule) conditions() []string {
	out := []string{fmt.Sprintf("%d to %d bytes", r.low, r.high)}
	for _, c := range []struct {
		n    int
		what string
	}{{r.nodes, "nodes"}, {r.ranks, "ranks"}, {r.pipeOps, "pipe operations"}, {r.buffer, "registered buffers"}} {
		if c.n != -1 {
			out = append(out, fmt.Sprintf("%d %s", c.n, c.what))
		}
	}
	return out
}
