package openmpi

import (
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"tutti/coll"
	"tutti/internal/lazyregexp"
	"tutti/mpi"
)

//go:embed site.csv
var siteText string

var siteTable = mpi.NewSiteTable(siteText, func(c coll.Collective) string { return string(c) })

// overrideFile is the parameter file whose values outrank the environment (mca_base_var.c).
const overrideFile = "openmpi-mca-params-override.conf"

// absentTuned is the name of the setting of an installation that has no component coll/tuned.
const absentTuned = "coll/tuned"

// Settings implements mpi.Measurable. What ompi_info lists counts more than the environment, since it also has the
// parameter files, of which one can outrank the environment.
func (library) Settings(environ []string, listing string) []mpi.SiteSetting {
	listed := parseOmpiInfo(listing)
	found := listed.settings
	for _, v := range environ {
		name, value, _ := strings.Cut(v, "=")
		if param, ok := strings.CutPrefix(name, mcaPrefix); ok {
			found = append(found, mpi.SiteSetting{Name: param, Value: value, Source: mpi.FromEnvironment})
		}
	}
	out := siteTable.Select(append(found, controlVariables(listing)...))
	for i, s := range out {
		if s.Name == "coll" && !usesTuned(s.Value) {
			out[i].Effect = mpi.PreventsTuning
		}
		out[i].Name = mcaPrefix + s.Name
	}
	for _, s := range listed.settings { // no program can turn dynamic rules on
		if mcaPrefix+s.Name == dynamicRules.Name && s.Value == "false" && strings.Contains(s.Source, overrideFile) {
			out = append(out, mpi.SiteSetting{Name: dynamicRules.Name, Value: s.Value, Source: s.Source, Effect: mpi.PreventsTuning})
		}
	}
	if len(listed.components) > 0 && listed.components["tuned"] == nil {
		out = append(out, mpi.SiteSetting{Name: absentTuned, Value: "absent", Source: mpi.ComponentTool, Effect: mpi.PreventsTuning})
	}
	return out
}

// usesTuned reports whether a list of components, the value of the parameter coll, has coll/tuned. A list that begins
// with ^ names components to leave out.
func usesTuned(list string) bool {
	names, without := strings.CutPrefix(list, "^")
	return list == "" || slices.Contains(strings.Split(names, ","), "tuned") != without
}

var controlForm = lazyregexp.New(`(?m)^cvar (coll[a-z0-9_]*)=(.*)$`)

// controlVariables returns the settings that tutti's benchmark program reads by MPI_T. They have no source, so only
// variables with a known default count.
func controlVariables(listing string) []mpi.SiteSetting {
	var out []mpi.SiteSetting
	for _, m := range controlForm.FindAllStringSubmatch(listing, -1) {
		s := mpi.SiteSetting{Name: m[1], Value: m[2], Source: "parameter file"}
		known := siteTable.Select([]mpi.SiteSetting{s})
		if m[1] == "coll" && m[2] != "" || len(known) == 1 && (known[0].Effect == mpi.SelectsByFile || known[0].Effect == mpi.PinsAlgorithm) {
			out = append(out, s)
		}
	}
	return out
}

// siteRules returns the rules that users of the site get: those of the site's file, and where it selects nothing, the
// algorithms that settings pin. They count only if dynamic rules are on.
//
// In 4.1 the file counts more than a pinned algorithm, from 5.0 on less (coll_tuned_*_decision.c).
func (b build) siteRules() (classicRules, error) {
	on, ok := b.cat.Site.Value(dynamicRules.Name)
	if !ok || on.Value == "0" {
		return nil, nil
	}
	var file classicRules
	if s, ok := b.cat.Site.Value(fileVariable); ok {
		if f, err := b.load(s.Content); err == nil { // like Open MPI, it ignores a file that is not valid
			if file, err = f.classic(); err != nil {
				return nil, fmt.Errorf("%w: %v: %w", mpi.ErrSite, s, err)
			}
		}
	}
	pinned, err := b.pinned()
	if err != nil {
		return nil, err
	}
	if mpi.AtLeast(b.cat.Version, 5) {
		return overlay(pinned, file), nil
	}
	return overlay(file, pinned), nil
}

// siteHan returns the site's rules of coll/han for the collectives that the exported rules do not have. Like Open MPI, it
// ignores a file that is not valid.
func (b build) siteHan(exported hanFile) hanFile {
	_, on := b.cat.Site.Value(hanSwitch)
	s, named := b.cat.Site.Value(hanVariable)
	f, err := b.load(s.Content)
	if !on || !named || err != nil {
		return nil
	}
	return slices.DeleteFunc(f.hanFile(), func(c hanCollective) bool {
		return slices.ContainsFunc(exported, func(o hanCollective) bool { return o.Collective == c.Collective })
	})
}

// siteSettings returns the settings that keep those of the site from outranking exported rules. It leaves out those of
// coll/han, which has rules of its own.
func (b build) siteSettings(collectives []coll.Collective) []mpi.Setting {
	var out []mpi.Setting
	for _, c := range collectives {
		out = append(out, mpi.Setting{Name: mcaPrefix + "coll_tuned_" + string(c) + "_algorithm", Value: "0"})
	}
	for _, s := range b.cat.Site.On(mpi.PinsAlgorithm, mpi.TurnsOn) {
		if !strings.HasPrefix(s.Name, mcaPrefix+"coll_han_") && !slices.ContainsFunc(out, func(o mpi.Setting) bool { return o.Name == s.Name }) {
			out = append(out, mpi.Setting{Name: s.Name, Value: s.Neutral})
		}
	}
	return out
}

// pinned returns one rule for each collective whose algorithm a setting pins.
func (b build) pinned() (classicRules, error) {
	var out classicRules
	for _, c := range coll.Collectives() {
		prefix := "coll_tuned_" + string(c) + "_algorithm"
		s, ok := b.cat.Site.Value(mcaPrefix + prefix)
		if !ok {
			continue
		}
		r := rule{Algorithm: b.number(c, s.Value)}
		if r.Algorithm <= 0 {
			return nil, fmt.Errorf("%w: %v: Open MPI %s has no such algorithm of %s: remove the setting", mpi.ErrSite, s, b.cat.Version, c)
		}
		r.FanInOut = 4 // as shipped, see coll_tuned_component.c
		for _, p := range tunedParams(c, b.cat.Entries(c)) {
			x, _ := b.cat.Site.Value(mcaPrefix + prefix + p.suffix)
			n, err := strconv.ParseInt(x.Value, 10, 32)
			switch {
			case err != nil:
			case p.name == "segsize":
				r.SegSize = n
			case p.name == "faninout":
				r.FanInOut = int(n)
			}
		}
		out = append(out, classicCollective{c, []classicBlock{{1, []rule{r}}}})
	}
	return out, nil
}

// number returns the number of an algorithm that a setting names by number or name. It returns -1 for an unknown one.
func (b build) number(c coll.Collective, text string) int {
	if n, err := strconv.Atoi(text); err == nil {
		return n
	}
	if e, ok := b.cat.Find(c, func(e mpi.Entry) bool { return plain(e.Name) == plain(text) }); ok {
		return e.ID
	}
	return -1
}

// classic converts the rules of a file of coll/tuned. It returns an error for rules that depend on how ranks are
// distributed over nodes, which classic rules cannot express.
func (f *ruleFile) classic() (classicRules, error) {
	for _, r := range f.rules {
		if r.Distribution != anyDistribution && r.Distribution != "" {
			return nil, fmt.Errorf("rules of %s for comm_rank_distribution %s cannot be joined with tuned ones", r.Collective, r.Distribution)
		}
	}
	var out classicRules
	for _, c := range coll.Collectives() {
		if blocks := f.blocks(c, ""); len(blocks) > 0 {
			out = append(out, classicCollective{c, blocks})
		}
	}
	return out, nil
}

// blocks returns the rules of a collective on a level as blocks of a classic file.
func (f *ruleFile) blocks(c coll.Collective, level string) []classicBlock {
	var ranks, sizes []span
	for _, r := range f.rules {
		if r.Collective == c && r.Level == level {
			ranks, sizes = append(ranks, r.Ranks), append(sizes, r.Sizes)
		}
	}
	if len(ranks) == 0 {
		return nil
	}
	var out []classicBlock
	for _, n := range bounds(ranks, 1, math.MaxInt32) {
		block := classicBlock{Ranks: int(n)}
		for _, size := range bounds(sizes, 0, math.MaxInt64) {
			r := f.choice(c, coll.Layout{Nodes: 1, PPN: int(n)}, level, size)
			r.Size = size
			block.Rules = append(block.Rules, r)
		}
		block.Rules = slices.CompactFunc(block.Rules, sameChoice)
		out = withBlock(out, block)
	}
	return out
}

// bounds returns `low`, and the numbers up to `high` at which one of the spans begins or has ended, ascending.
func bounds(spans []span, low, high int64) []int64 {
	out := []int64{low}
	for _, s := range spans {
		for _, n := range []int64{s.Low, s.High + 1} { // negative beyond the largest number
			if low < n && n <= high {
				out = append(out, n)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// overlay joins two sets of rules. Where the first one leaves the decision to the library, the second one counts.
func overlay(first, second classicRules) classicRules {
	out := slices.Clone(first)
	for _, c := range second {
		i := slices.IndexFunc(out, func(o classicCollective) bool { return o.Collective == c.Collective })
		if i < 0 {
			out = append(out, c)
			continue
		}
		out[i].Blocks = overlayBlocks(out[i].Blocks, c.Blocks)
	}
	slices.SortStableFunc(out, func(a, b classicCollective) int {
		return slices.Index(numbers, a.Collective) - slices.Index(numbers, b.Collective)
	})
	return out
}

func overlayBlocks(first, second []classicBlock) []classicBlock {
	starts := []int{1}
	for _, b := range slices.Concat(first, second) {
		starts = append(starts, b.Ranks)
	}
	slices.Sort(starts)
	var out []classicBlock
	for _, ranks := range slices.Compact(starts) {
		out = withBlock(out, classicBlock{ranks, overlayRules(rulesFor(first, ranks), rulesFor(second, ranks))})
	}
	return out
}

func overlayRules(first, second []rule) []rule {
	var sizes []int64
	for _, r := range slices.Concat(first, second) {
		sizes = append(sizes, r.Size)
	}
	slices.Sort(sizes)
	var out []rule
	for _, size := range slices.Compact(sizes) {
		r := ruleFor(first, size)
		if r.Algorithm == 0 {
			r = ruleFor(second, size)
		}
		r.Size = size
		out = append(out, r)
	}
	return slices.CompactFunc(out, sameChoice)
}
