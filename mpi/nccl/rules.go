package nccl

import (
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
	for i, r := range d.rules {
		at := slices.IndexFunc(coll.Collectives(), func(c coll.Collective) bool { return names[c] == r.collective })
		if c := coll.Collectives()[at]; !slices.Contains(f.Collectives, c) {
			f.Collectives = append(f.Collectives, c)
		}
		f.Listing = append(f.Listing, mpi.ListedRule{Collective: r.collective, RuleChoice: mpi.RuleChoice{Algorithm: r.selected(), Line: r.line, Rule: r.conditions()}})
		l.addFindings(f, r, d.rules[:i])
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

func isTunerFile(file []byte) bool {
	for line := range strings.Lines(string(file)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		first, rest, ok := strings.Cut(line, ",")
		return ok && strings.Count(rest, ",") >= leastColumns-2 && (slices.Contains(knownNames(), first) || first == columnNames[0] || first == "colltype")
	}
	return false
}

// addFindings adds what is wrong with a rule that the reader accepts.
func (l library) addFindings(f *mpi.RuleFile, r rule, before []rule) {
	if r.channels == -1 && l.plugin != "" {
		f.Add(r.line, mpi.FindingHarm, "channels -1: the plugin gives such calls one channel: give a number")
	}
	for _, o := range before {
		if o.collective == r.collective && o.low <= r.low && r.high <= o.high && covers(o.nodes, r.nodes) && covers(o.ranks, r.ranks) && covers(o.pipeOps, r.pipeOps) && covers(o.buffer, r.buffer) {
			f.Add(r.line, mpi.FindingUnreachable, fmt.Sprintf("line %d serves all its calls", o.line))
			return
		}
	}
}

func covers(outer, inner int) bool { return outer == -1 || outer == inner }

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
