package openmpi

import (
	"fmt"
	"strconv"

	"tutti/coll"
	"tutti/mpi"
	"tutti/selection"
)

// Replay implements mpi.Build. It applies the exported rules to each row. It returns an error if the rules for a
// row's layout choose another algorithm than the selection `sel`.
func (b build) Replay(x mpi.Export, sel selection.Selection, rows []selection.Row) error {
	common, err := b.reader(x, coll.Layout{})
	if err != nil {
		return fmt.Errorf("openmpi: %s: %w", b.fileName(), err)
	}
	own := map[coll.Layout]reader{}
	for _, l := range x.Setup.Layouts {
		if own[l.Layout], err = b.reader(x, l.Layout); err != nil {
			return fmt.Errorf("openmpi: %s: %w", b.layoutName(l.Layout), err)
		}
	}
	site, err := b.siteRules()
	if err != nil {
		return fmt.Errorf("openmpi: %w", err)
	}
	for _, r := range rows {
		p := r.Point
		alg, _ := sel.Select(p)
		want, err := ruleOf(p.Collective, alg, p.Ranks(), b.cat)
		if err != nil {
			return fmt.Errorf("openmpi: %v: %w", p, err)
		}
		find, ok := own[p.Layout()]
		if !ok {
			find = common
		}
		if left := site.Find(p.Collective, p.Ranks(), compared(p)); alg.IsDefault() {
			left.Size = 0
			if find(p) == left {
				continue
			}
		}
		if got := find(p); got != b.running(want, p) {
			return fmt.Errorf("openmpi: %v: the file reaches %+v: want %+v for %v", p, got, want, alg)
		}
	}
	return nil
}

// reader is a function that returns the rule of a rules file for the benchmark's call at a point. The size in
// the returned rule is 0. The zero rule means that the library selects by itself.
type reader func(p coll.Point) rule

func (b build) reader(x mpi.Export, l coll.Layout) (reader, error) {
	rules, err := b.load(x.Loaded(l, fileVariable))
	if err != nil {
		return nil, err
	}
	tuned := func(p coll.Point) rule { return rules.choice(p.Collective, p.Layout(), "", compared(p)) }
	text := x.Loaded(l, hanVariable)
	if text == nil {
		return tuned, nil
	}
	han, err := b.load(text)
	if err != nil {
		return nil, fmt.Errorf("coll/han: %w", err)
	}
	return func(p coll.Point) rule {
		r := tuned(p)
		if !b.hanServes(p.Collective, p.Layout()) {
			return r
		}
		serves := func(level string, l coll.Layout) int {
			return han.choice(p.Collective, l, level, p.Count()*p.Collective.ElementBytes()).Algorithm
		}
		switch component := serves(global, p.Layout()); {
		case component == simple:
			return rule{
				Algorithm:  hanSimpleID,
				BasicInter: serves(between, coll.Layout{Nodes: p.Nodes, PPN: 1}) == componentBasic,
				BasicIntra: serves(within, coll.Layout{Nodes: 1, PPN: p.PPN}) == componentBasic,
			}
		case component != componentTuned:
			return b.running(segment(x.Setup.For(l), p.Collective), p)
		case r == rule{}:
			return rule{Algorithm: -1} // the choice of coll/tuned is not the library's default
		}
		return r
	}, nil
}

// segment returns the rule that selects coll/han's segmenting algorithm (hanID), with the segment size in the
// settings of a job. Without such a setting it returns the zero rule.
func segment(settings []mpi.Setting, c coll.Collective) rule {
	for _, s := range settings {
		if n, err := strconv.ParseInt(s.Value, 10, 64); err == nil && s.Name == segmentVariable(c) {
			return rule{Algorithm: hanID, SegSize: n}
		}
	}
	return rule{}
}

// running returns the rule that takes effect at a point: r, or the zero rule (the library's default). Open MPI
// ignores a rule for coll/han if coll/han does not serve the layout, or if the message has only one segment.
func (b build) running(r rule, p coll.Point) rule {
	oneSegment := p.Count()*p.Collective.ElementBytes() <= min(r.SegSize, hanSegment)
	if isHan(r.Algorithm) && !b.hanServes(p.Collective, p.Layout()) || r.Algorithm == hanID && oneSegment {
		return rule{}
	}
	return r
}
