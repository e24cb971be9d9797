package openmpi

import (
	"context"
	"fmt"
	"math"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"tutti/coll"
	"tutti/mpi"
	"tutti/selection"
)

// Names of the files. Files for a single layout have names such as 2x4.rules, 2x4.json and 2x4.han. Since 6.0
// the file newerName has the rules for all layouts.
const (
	classicName = "openmpi.rules"
	newerName   = "openmpi.json"
	hanName     = "openmpi.han"
	snippetName = "openmpi.env"
	layoutDir   = "layouts"
)

// stale lists patterns that match every file an export may have written, for any release and any layout.
var stale = []string{classicName, newerName, hanName, layoutDir + "/*.rules", layoutDir + "/*.json", layoutDir + "/*.han", layoutDir}

type build struct{ cat *mpi.Catalogue }

// Open implements mpi.Library. It asks the ompi_info next to the file or on the PATH for the algorithms of an
// unknown series.
func (library) Open(cat *mpi.Catalogue, file string) (mpi.Build, error) {
	if cat.KnownSeries() {
		return build{cat}, nil
	}
	tools := besides(file)
	path := tools.Find(mpi.ComponentTool)
	info := ask(context.Background(), tools, path)
	if !mpi.SameRelease(info.version, cat.Version) || len(info.tuned) == 0 {
		return nil, fmt.Errorf("openmpi %s: %w: no release of this series is known: put its ompi_info first on the PATH", cat.Version, mpi.ErrUnknown)
	}
	return build{cat.Listing(info.listing())}, nil
}

func (b build) Catalogue() *mpi.Catalogue { return b.cat }

func (b build) newer() bool { return mpi.AtLeast(b.cat.Version, 6) }

func (b build) fileName() string {
	if b.newer() {
		return newerName
	}
	return classicName
}

func (b build) layoutName(l coll.Layout) string {
	return path.Join(layoutDir, l.String()+path.Ext(b.fileName()))
}

type bundle struct {
	rules        classicRules
	site         classicRules  // that apply where the others leave the decision to the library
	layouts      []layoutRules // in a file each, to be chosen when a job starts
	inCommonFile []layoutRules // from 6.0 on: layouts that the rules of one file distinguish
}

type layoutRules struct {
	layout coll.Layout
	rules  classicRules
}

// Export implements mpi.Build. It writes the classic format before 6.0 and JSON since 6.0. In JSON, a block
// contains the lowest and highest communicator size to which it applies.
func (b build) Export(sel selection.Selection, dir string) (mpi.Export, error) {
	if !filepath.IsAbs(dir) {
		return mpi.Export{}, fmt.Errorf("openmpi: folder %s: want an absolute path, every rank opens the rules from its own directory", dir)
	}
	rules, err := b.bundle(sel)
	if err != nil {
		return mpi.Export{}, err
	}
	return b.files(rules, dir), nil
}

func (b build) bundle(sel selection.Selection) (bundle, error) {
	var out bundle
	var err error
	if out.site, err = b.siteRules(); err != nil {
		return bundle{}, err
	}
	if out.rules, err = exportAll(sel.Trees, b.cat); err != nil {
		return bundle{}, err
	}
	for _, l := range sel.Layouts {
		rules, err := exportAll(l.Trees, b.cat)
		if err != nil {
			return bundle{}, err
		}
		own := layoutRules{l.Layout, rules}
		if b.newer() && (l.Layout.PPN == 1 || l.Layout.Nodes == 1) {
			out.inCommonFile = append(out.inCommonFile, own)
		} else {
			out.layouts = append(out.layouts, own)
		}
	}
	return out, nil
}

// files returns the files that contain the rules, and the settings with which the library loads these files
// from the folder `dir`. Files of single layouts come first.
func (b build) files(rules bundle, dir string) mpi.Export {
	x := mpi.Export{Snippet: snippetName, Stale: stale, Setup: mpi.Setup{Files: []string{fileVariable, hanVariable}}}
	x.Setup.Remarks = []string{"Settings that make Open MPI " + b.cat.Version + " follow " + b.fileName() + "."}
	var off []string
	for _, r := range b.turnedOff() {
		off = append(off, r.component)
	}
	x.Setup.Remarks = append(x.Setup.Remarks, "They turn off coll/"+strings.Join(off, ", coll/")+", which would serve calls before the rules do, for all collectives of a job.")
	if b.usesHan() {
		x.Setup.Remarks = append(x.Setup.Remarks, "coll/han stays on. Where the rules select an algorithm of coll/tuned, it passes calls on.")
	}
	if len(rules.site) > 0 {
		x.Setup.Remarks = append(x.Setup.Remarks, "Where tutti selects nothing, the rules have the site's own choice of the time of the campaign.")
	}
	if len(rules.layouts) > 0 {
		x.Setup.Remarks = append(x.Setup.Remarks, "Some layouts have rules of their own: to be read in a job, where Slurm says which it is.")
	}
	x.Setup.Remarks = append(x.Setup.Remarks, warnings(rules)...)
	if !slices.Contains(tried, b.cat.Version) {
		x.Setup.Remarks = append(x.Setup.Remarks, "Replayed at every tuned point, but not tried on a real Open MPI "+b.cat.Version+".")
	}
	style := mpi.HashComment
	if b.newer() {
		style = "" // Open MPI's reader of JSON accepts no comments
	}
	add := func(name string, r classicRules, job coll.Layout) []mpi.Setting {
		common := slices.Clone(rules.inCommonFile)
		for i, l := range common {
			common[i].rules = overlay(b.guarded(withoutHan(l.rules), job), rules.site)
		}
		x.Files = append(x.Files, mpi.File{Name: name, Content: b.text(overlay(b.guarded(withoutHan(r), job), rules.site), common), Comment: style})
		han := b.hanRules(r, job)
		if len(han) == 0 { // the site's own file stays
			return b.settings(rules.tuned(), filepath.Join(dir, name), "")
		}
		hanFile := strings.TrimSuffix(name, path.Ext(name)) + path.Ext(hanName)
		x.Files = append(x.Files, mpi.File{Name: hanFile, Content: append(han, b.siteHan(han)...).Bytes(), Comment: mpi.HashComment})
		return append(b.settings(rules.tuned(), filepath.Join(dir, name), filepath.Join(dir, hanFile)), segments(r, job)...)
	}
	for _, l := range rules.layouts {
		x.Setup.Layouts = append(x.Setup.Layouts, mpi.LayoutSettings{Layout: l.layout, Settings: add(b.layoutName(l.layout), l.rules, l.layout)})
	}
	x.Setup.Settings = add(b.fileName(), rules.rules, coll.Layout{})
	return x
}

// tuned returns the collectives for which some rule selects an algorithm.
func (r bundle) tuned() []coll.Collective {
	decided := map[coll.Collective]bool{}
	for _, l := range slices.Concat([]layoutRules{{rules: r.rules}}, r.layouts, r.inCommonFile) {
		for _, c := range l.rules.decided() {
			decided[c.Collective] = true
		}
	}
	return slices.DeleteFunc(coll.Collectives(), func(c coll.Collective) bool { return !decided[c] })
}

// warnings returns remarks about calls that may fail with rules although they succeed without them. The MPI
// standard ignores the send type of a call in place, but with rules coll/tuned reads it.
func warnings(rules bundle) []string {
	tuned := rules.tuned()
	var null []string
	for _, c := range []coll.Collective{coll.Allgather, coll.Allgatherv, coll.Alltoall, coll.Gather, coll.Scatter} {
		if slices.Contains(tuned, c) {
			null = append(null, string(c))
		}
	}
	if len(null) == 0 {
		return nil
	}
	return []string{"With rules for " + strings.Join(null, ", ") + " Open MPI crashes if a program passes NULL instead of MPI_DATATYPE_NULL as send type."}
}

// text returns the content of a file in the format of the release. Collectives for which no rule selects an
// algorithm are left out.
func (b build) text(rules classicRules, inCommonFile []layoutRules) []byte {
	if b.newer() {
		return toJSON(rules, inCommonFile, b.cat.NameOf).Bytes()
	}
	return rules.decided().Bytes()
}

// fileVariable is the variable that contains the path of the rules file.
const fileVariable = mcaPrefix + "coll_tuned_dynamic_rules_filename"

// settings returns the variables that make the library load a rules file and, if there is one, a file with
// rules for coll/han. They also turn off other components above coll/tuned, as during the measurements, and
// settings that pin the algorithms of tuned collectives.
func (b build) settings(tuned []coll.Collective, file, hanFile string) []mpi.Setting {
	out := append([]mpi.Setting{dynamicRules, {Name: fileVariable, Value: file}}, disable(b.turnedOff())...)
	for _, s := range b.siteSettings(tuned) {
		if !slices.ContainsFunc(out, func(o mpi.Setting) bool { return o.Name == s.Name }) {
			out = append(out, s)
		}
	}
	if hanFile != "" {
		out = append(out, mpi.Setting{Name: hanSwitch, Value: "1"}, mpi.Setting{Name: hanVariable, Value: hanFile})
	}
	return out
}

func exportAll(trees []*selection.Tree, cat *mpi.Catalogue) (classicRules, error) {
	var out classicRules
	for _, t := range trees {
		if len(t.Comms) == 0 {
			continue
		}
		if _, err := coll.ParseCollective(string(t.Collective)); err != nil {
			return nil, fmt.Errorf("openmpi: %w", err)
		}
		blocks, err := exportTree(t, cat)
		if err != nil {
			return nil, err
		}
		out = append(out, classicCollective{t.Collective, blocks})
	}
	return out, nil
}

func undecided() []rule { return []rule{{}} }

// exportTree returns the blocks of a tree in ascending order. The first and the last block leave
// communicators outside the tuned range to the library. The first block is needed because Open MPI also
// uses it for smaller communicators.
func exportTree(t *selection.Tree, cat *mpi.Catalogue) ([]classicBlock, error) {
	var blocks []classicBlock
	if t.Comms[0].Low > 1 {
		blocks = append(blocks, classicBlock{1, undecided()})
	}
	for _, c := range t.Comms {
		if len(c.PPNs) != 1 {
			return nil, fmt.Errorf("openmpi %s: rules know no processes per node: fit the tree by ranks", t.Collective)
		}
		for _, low := range starts(c) {
			rules, err := exportBands(t.Collective, c.PPNs[0].Bands, low, cat)
			if err != nil {
				return nil, err
			}
			blocks = withBlock(blocks, classicBlock{low, rules})
		}
	}
	if high := t.Comms[len(t.Comms)-1].High; high < math.MaxInt32 {
		blocks = append(blocks, classicBlock{high + 1, undecided()})
	}
	return blocks, nil
}

// starts divides one range of communicator sizes into blocks of a rules file. It returns the smallest number
// of ranks of each block. Communicators of two ranks have a block of their own, because some algorithms abort
// on any other number of ranks.
func starts(c selection.CommRange) []int {
	out := []int{c.Low}
	for _, n := range []int{2, 3} {
		if n > c.Low && n <= c.High {
			out = append(out, n)
		}
	}
	return out
}

// exportBands returns one rule for each range of message sizes, for communicators of at least the given number
// of ranks. If this number is 2, the rules are for exactly two ranks.
func exportBands(c coll.Collective, bands []selection.Band, ranks int, cat *mpi.Catalogue) ([]rule, error) {
	var out []rule
	from := int64(0)
	for _, b := range bands {
		r, err := ruleOf(c, b.Algorithm, ranks, cat)
		if err != nil {
			return nil, err
		}
		r.Size = from
		out = append(out, r)
		from = b.UpTo + 1
	}
	if !sized(c) {
		if len(out) != 1 {
			return nil, fmt.Errorf("openmpi %s: rules know no message size: fit the tree without sizes", c)
		}
		return out, nil
	}
	out = append(out, rule{Size: from})
	return slices.CompactFunc(out, sameChoice), nil
}

func ruleOf(c coll.Collective, alg coll.Algorithm, ranks int, cat *mpi.Catalogue) (rule, error) {
	if alg.IsDefault() {
		return rule{}, nil
	}
	entry, err := cat.Lookup(c, alg)
	if err != nil {
		return rule{}, err
	}
	if entry.Has(mpi.TwoRanks) && ranks != 2 {
		return rule{}, nil
	}
	r := rule{Algorithm: entry.ID}
	for _, p := range alg.Params() {
		if basic := map[string]*bool{"inter": &r.BasicInter, "intra": &r.BasicIntra}[p.Name]; basic != nil {
			*basic = p.Value == "basic"
			continue
		}
		n, err := strconv.ParseInt(p.Value, 10, 64)
		if err != nil || n < 0 || p.Name != "segsize" && n > math.MaxInt32 {
			return rule{}, fmt.Errorf("openmpi %s %v: parameter %s: want a whole number, zero or more", c, alg, p.Name)
		}
		switch {
		case p.Name == "segsize":
			r.SegSize = n
		case p.Name == "faninout":
			r.FanInOut = int(n)
		case p.Name != "max_requests" || n != 0:
			return rule{}, fmt.Errorf("openmpi %s %v: parameter %s: rules have segsize, faninout and max_requests=0 alone", c, alg, p.Name)
		}
	}
	return r, nil
}
