package mpich

import (
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

// The names of the exported files. The device's file contains the device tree, by which the ch4 device selects
// a composition. It is written only if this tree changes. Files for a single layout have names such as 2x4.json
// and 2x4.ch4.json.
const (
	flatName    = "mpich.json"
	deviceName  = "mpich.ch4.json"
	snippetName = "mpich.env"
	layoutDir   = "mpich-layouts"
)

type build struct {
	lib libraryTree
	cat *mpi.Catalogue
}

// Open implements mpi.Library. If no library file is given, it uses the embedded trees of the release.
func (library) Open(cat *mpi.Catalogue, file string) (mpi.Build, error) {
	if file == "" {
		lib, err := embeddedTree(cat.Version)
		if err != nil {
			return nil, err
		}
		return newBuild(lib, cat).onSite()
	}
	lib, err := readLibraryTree(file)
	if err != nil {
		return nil, err
	}
	if lib.Version != "" && !mpi.SameRelease(lib.Version, cat.Version) {
		return nil, fmt.Errorf("%s is MPICH %s, but the campaign is for %s", file, lib.Version, cat.Version)
	}
	return newBuild(lib, cat).onSite()
}

func newBuild(lib libraryTree, cat *mpi.Catalogue) build {
	if !cat.KnownSeries() {
		cat = cat.Listing(lib.listing(cat))
	}
	return build{lib, cat.Only(lib.runs)}
}

// onSite returns the build with the trees that users of the site get.
func (b build) onSite() (mpi.Build, error) {
	var err error
	b.lib, err = b.lib.onSite(b.cat)
	return b, err
}

func (b build) Catalogue() *mpi.Catalogue { return b.cat }

// Export implements mpi.Build. It merges the selection into the complete trees of the library.
//
// The tree compares communicator sizes first, then processes per node, then message sizes. Outside the tuned
// range, and where the selection is coll.Default, the tree has a copy of the library's own subtree. There
// the library behaves as it does without files. Conditions before each leaf check the requirements that the
// catalogue lists for the leaf's algorithm.
//
// If each rank counts as a node, the trees do not compare processes per node. A layout that needs trees of
// its own then gets files of its own.
func (b build) Export(sel selection.Selection, dir string) (mpi.Export, error) {
	if !filepath.IsAbs(dir) {
		return mpi.Export{}, fmt.Errorf("mpich: folder %s: want an absolute path, every rank opens the files from its own directory", dir)
	}
	x := mpi.Export{Snippet: snippetName, Stale: []string{deviceName, layoutDir + "/*.json", layoutDir}, Setup: mpi.Setup{Files: []string{flatFile, deviceFile}}}
	for _, l := range sel.Layouts {
		files, settings, err := b.files(selection.Selection{Trees: l.Trees}, dir, path.Join(layoutDir, l.Layout.String()))
		if err != nil {
			return mpi.Export{}, err
		}
		x.Files = append(x.Files, files...)
		x.Setup.Layouts = append(x.Setup.Layouts, mpi.LayoutSettings{Layout: l.Layout, Settings: settings})
	}
	files, settings, err := b.files(sel, dir, strings.TrimSuffix(flatName, ".json"))
	if err != nil {
		return mpi.Export{}, err
	}
	x.Files, x.Setup.Settings = append(x.Files, files...), settings
	return x, nil
}

// files returns the files with the selection trees, and the settings that make the library load the files
// from the folder `dir`. The file names begin with `name`.
func (b build) files(sel selection.Selection, dir, name string) (out []mpi.File, settings []mpi.Setting, err error) {
	trees, off, err := b.merge(sel)
	if err != nil {
		return nil, nil, err
	}
	add := func(variable, file string, tree treeObject) {
		out = append(out, mpi.File{Name: file, Content: tree.Bytes(), Comment: mpi.BlockComment})
		settings = append(settings, mpi.Setting{Name: variable, Value: filepath.Join(dir, filepath.FromSlash(file))})
	}
	add(flatFile, name+".json", trees.flat)
	if len(trees.device) > 0 {
		add(deviceFile, name+".ch4.json", trees.device)
	}
	return out, append(settings, b.siteSettings(tunedBy(sel), off)...), nil
}

// merge returns the trees that contain the selection. The result `off` lists the collectives for which compositions
// must be turned off. The device tree is empty if it does not change.
func (b build) merge(sel selection.Selection) (out files, off []coll.Collective, err error) {
	out.flat = b.lib.Tree
	device := b.lib.Device
	for _, tree := range sel.Trees {
		if len(tree.Comms) == 0 {
			continue
		}
		c := tree.Collective
		x := &exporter{build: b, collective: c}
		subtree, err := x.algorithms(tree, selection.TreeOf(sel.Inter, c))
		if err != nil {
			return files{}, nil, err
		}
		out.flat = out.flat.With(collectiveKey+string(c), subtree)
		if c.Nonblocking() {
			continue // the device has no composition for it
		}
		if !b.mixes(c) {
			off = append(off, c)
			continue
		}
		if !splits(c) {
			continue // the device hands it on in any case
		}
		x.device = true
		if subtree, err = x.compositions(tree); err != nil {
			return files{}, nil, err
		}
		device = device.With(collectiveKey+string(c), subtree)
		out.device = device
	}
	return out, off, out.check(b.lib)
}

// tunedBy returns the collectives that a selection tunes.
func tunedBy(sel selection.Selection) []coll.Collective {
	var out []coll.Collective
	for _, tree := range sel.Trees {
		if len(tree.Comms) > 0 {
			out = append(out, tree.Collective)
		}
	}
	return out
}

type exporter struct {
	build
	collective coll.Collective
	device     bool
	untuned    treeObject // the library's own decision, where it stays
}

const intraKey, interKey, apartKey = "comm_type=intra", "comm_type=inter", "is_sendbuf_inplace=no"

// branch returns the library's subtree for intracommunicators. It also returns the function `put`, which
// replaces this subtree by another one.
func (x *exporter) branch() (intra treeObject, put func(treeObject) treeObject, err error) {
	source := x.lib.Tree
	if x.device {
		source = x.lib.Device
	}
	own, ok := source.Get(collectiveKey + string(x.collective))
	if !ok {
		return nil, nil, fmt.Errorf("mpich: the tree of %s has no %s%s at its top", x.lib.Source, collectiveKey, x.collective)
	}
	if intra, ok := own.Get(intraKey); ok {
		return intra, func(o treeObject) treeObject { return own.With(intraKey, o) }, nil
	}
	return own, func(o treeObject) treeObject {
		return treeObject{{intraKey, o}, {interKey, own}}
	}, nil
}

// algorithms returns the subtree of the collective in the tree of algorithms. Tuned rules replace the branch of
// intracommunicators. If the library has a branch for calls without MPI_IN_PLACE, tuned rules replace only this
// branch. All other branches are the library's.
//
// Compositions call collectives on communicators between nodes and within a node. These communicators get separate
// rules, because rules tuned for a program's communicators must not apply to them.
func (x *exporter) algorithms(tree, inter *selection.Tree) (treeObject, error) {
	intra, put, err := x.branch()
	if err != nil {
		return nil, err
	}
	apart, inPlaceAsked := intra.Get(apartKey)
	if inPlaceAsked {
		x.untuned = withInclusiveLimits(apart, false)
	} else {
		x.untuned = withInclusiveLimits(intra, true)
	}
	flat := func(alg coll.Algorithm) coll.Algorithm {
		if e, err := x.cat.Lookup(x.collective, alg); err == nil && composes(e) {
			return coll.Default
		}
		return alg
	}
	tuned, err := x.comms(selection.MapAlgorithms(tree.Comms, flat))
	if err != nil {
		return nil, err
	}
	if inPlaceAsked {
		return put(intra.With(apartKey, tuned)), nil
	}
	if !splits(x.collective) || x.partsAreFlat() { // tuned rules have a limit of comm_avg_ppn
		return put(tuned), nil
	}
	between := intra
	if inter != nil {
		if between, err = x.comms(inter.Comms); err != nil {
			return nil, err
		}
	}
	return put(treeObject{
		{"comm_hierarchy=node_roots", between}, {"comm_hierarchy=node", intra}, {"comm_hierarchy=any", tuned},
	}), nil
}

// compositions returns the subtree of the collective in the device tree, by which the ch4 device selects a composition.
// Where the selection is not a composition but an algorithm, the device runs it on the whole communicator.
func (x *exporter) compositions(tree *selection.Tree) (treeObject, error) {
	intra, put, err := x.branch()
	if err != nil {
		return nil, err
	}
	x.untuned = withInclusiveLimits(intra, true)
	flat, _ := handsOn(x.cat, x.collective)
	tuned, err := x.comms(selection.MapAlgorithms(tree.Comms, func(alg coll.Algorithm) coll.Algorithm {
		e, err := x.cat.Lookup(x.collective, alg)
		switch {
		case alg.IsDefault():
			return alg
		case err != nil || !composes(e):
			return coll.Algorithm{Name: flat.Name}
		}
		return coll.Algorithm{Name: e.Name}
	}))
	if err != nil {
		return nil, err
	}
	return put(tuned), nil
}

func (x *exporter) comms(ranges []selection.CommRange) (treeObject, error) {
	const key = "comm_size"
	var out treeObject
	next := int64(1)
	if low := int64(ranges[0].Low); low > 1 {
		out, next = append(out, treeMember{atMost(key, low-1), narrowed(x.untuned, key, next, low-1)}), low
	}
	for _, r := range ranges {
		high := int64(r.High)
		rules, err := x.ppns(r.PPNs, narrowed(x.untuned, key, next, high))
		if err != nil {
			return nil, err
		}
		out, next = append(out, treeMember{atMost(key, high), rules}), high+1
	}
	return append(out, treeMember{key + "=any", narrowed(x.untuned, key, next, math.MaxInt64)}), nil
}

// ppns returns the alternatives for processes per node. The last condition is comm_size=any, which is always
// true. (Some releases do not accept comm_avg_ppn=any.) `own` is the library's subtree for
// these communicators.
func (x *exporter) ppns(ranges []selection.PPNRange, own treeObject) (treeObject, error) {
	if x.lib.NoNodes {
		return x.bands(ranges[0].Bands, own)
	}
	if !slices.ContainsFunc(ranges, func(r selection.PPNRange) bool { return tuned(r.Bands) > 0 }) {
		return own, nil
	}
	var out treeObject
	if low := ranges[0].Low; low > 1 {
		out = append(out, treeMember{atMost("comm_avg_ppn", int64(low-1)), own})
	}
	for _, r := range ranges {
		rules, err := x.bands(r.Bands, own)
		if err != nil {
			return nil, err
		}
		out = append(out, treeMember{atMost("comm_avg_ppn", int64(r.High)), rules})
	}
	return append(out, treeMember{"comm_size=any", own}), nil
}

// tuned returns the number of message-size ranges up to the last one that does not select the default.
func tuned(bands []selection.Band) int {
	n := len(bands)
	for n > 0 && bands[n-1].Algorithm.IsDefault() {
		n--
	}
	return n
}

func (x *exporter) bands(bands []selection.Band, own treeObject) (treeObject, error) {
	bands = bands[:tuned(bands)]
	if len(bands) == 0 {
		return own, nil
	}
	key := sizeKey(x.collective)
	if key == "" {
		if len(bands) > 1 {
			return nil, fmt.Errorf("mpich %s: rules know no message size: fit the tree with mpich.Size", x.collective)
		}
		return x.guarded(bands[0].Algorithm)
	}
	var out treeObject
	next := int64(0)
	for _, b := range bands {
		rule := narrowed(own, key, next, b.UpTo)
		if !b.Algorithm.IsDefault() {
			var err error
			if rule, err = x.guarded(b.Algorithm); err != nil {
				return nil, err
			}
		}
		if b.UpTo >= math.MaxInt32 { // read as a C int: larger sizes are equal
			return append(out, treeMember{key + "=any", rule}), nil
		}
		out, next = append(out, treeMember{atMost(key, b.UpTo), rule}), b.UpTo+1
	}
	return append(out, treeMember{key + "=any", narrowed(own, key, next, math.MaxInt64)}), nil
}

func atMost(name string, limit int64) string { return name + "<=" + strconv.FormatInt(limit, 10) }

// withInclusiveLimits replaces "<" by "<=" in a subtree of the library, so that the subtree can stand below other
// conditions, which are written with "<=". A condition x<N becomes x<=N-1. There is one exception: if
// `resolved` is false, MPICH treats comm_size<N as comm_size<=N (see holds), so it becomes comm_size<=N.
func withInclusiveLimits(o treeObject, resolved bool) treeObject {
	out := make(treeObject, len(o))
	for i, m := range o {
		c, err := parseCondition(m.Key)
		if err != nil || isLeaf(m.Key) {
			out[i] = m
			continue
		}
		resolved = resolved && c.ofComm()
		if c.op == "<" && c.value != "pow2" && c.name != "comm_avg_ppn" && c.limit > 0 {
			limit := c.limit - 1
			if c.name == "comm_size" && !resolved {
				limit = c.limit
			}
			m.Key = atMost(c.name, limit)
		}
		out[i] = treeMember{m.Key, withInclusiveLimits(m.Value, resolved)}
	}
	return out
}

// narrowed simplifies a subtree that withInclusiveLimits has returned. It assumes that the value compared
// under `name`, such as a message size, lies between low and high. It removes alternatives that can then never
// be true, and all alternatives behind one that is then always true.
func narrowed(o treeObject, name string, low, high int64) treeObject {
	var out treeObject
	for _, m := range o {
		c, err := parseCondition(m.Key)
		if err != nil || isLeaf(m.Key) {
			return o
		}
		if c.name == name && c.op == "<=" && c.limit < low {
			continue
		}
		if c.name == name && c.op == "<=" && c.limit >= high {
			m.Key = name + "=any"
		}
		out = append(out, treeMember{m.Key, narrowed(m.Value, name, low, high)})
		if m.Key == name+"=any" {
			break
		}
	}
	if len(out) == 1 && out[0].Key == name+"=any" {
		return out[0].Value
	}
	return out
}
