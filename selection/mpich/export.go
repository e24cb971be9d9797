package mpich

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"tutti/coll"
	"tutti/coll/catalogue"
	"tutti/coll/mpichtree"
	"tutti/selection"
)

// The files that Write makes.
const (
	FileName = "mpich.json"
	EnvName  = "mpich.env"
)

// File is a complete selection file for one library.
type File struct {
	Tree        mpichtree.Object
	Collectives []coll.Collective // tuned in it, alphabetical
}

// Bytes returns the content of the file, the same for the same trees.
func (f File) Bytes() []byte { return f.Tree.Bytes() }

// Env returns the settings that make MPICH obey the file at an absolute path: the
// file itself, and for each tuned collective that the device leaves it alone.
func (f File) Env(path string) ([]selection.Setting, error) {
	if !filepath.IsAbs(path) {
		return nil, fmt.Errorf("mpich: selection file %s: want an absolute path, every process opens it from its own directory", path)
	}
	out := []selection.Setting{{Name: "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE", Value: path}}
	for _, c := range f.Collectives {
		out = append(out, selection.Setting{Name: "MPIR_CVAR_" + strings.ToUpper(string(c)) + "_DEVICE_COLLECTIVE", Value: "0"})
	}
	return out, nil
}

// Write puts FileName and EnvName into a folder that exists.
func (f File) Write(dir string) error {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return fmt.Errorf("mpich: %w", err)
	}
	path := filepath.Join(abs, FileName)
	env, err := f.Env(path)
	if err != nil {
		return err
	}
	if err := selection.WriteFile(path, f.Bytes()); err != nil {
		return err
	}
	return selection.WriteFile(filepath.Join(abs, EnvName), selection.EnvFile(env))
}

// exporter writes the tree of one collective.
type exporter struct {
	lib        mpichtree.Library
	cat        *catalogue.Catalogue
	collective coll.Collective
	untuned    mpichtree.Object // the library's own decision, where it stays
}

// Export merges trees, fitted with Size, into the complete tree of the library.
//
// Communicator sizes are asked before processes per node, these before message
// sizes; outside the tuned range and where a tree says coll.Default stands a copy
// of the library's own subtree. Every algorithm is guarded by what the catalogue
// says it requires. The error matches catalogue.ErrUnknown when the release has
// not an algorithm or one lacks a parameter.
func Export(trees []*selection.Tree, lib mpichtree.Library, cat *catalogue.Catalogue) (File, error) {
	if cat.Library != catalogue.MPICH {
		return File{}, fmt.Errorf("mpich: the catalogue of %s %s is not one of MPICH", cat.Library, cat.Version)
	}
	sorted := slices.Clone(trees)
	slices.SortStableFunc(sorted, func(a, b *selection.Tree) int { return cmp.Compare(a.Collective, b.Collective) })
	file := File{Tree: lib.Tree}
	for i, t := range sorted {
		if len(t.Comms) == 0 {
			continue
		}
		if i > 0 && t.Collective == sorted[i-1].Collective {
			return File{}, fmt.Errorf("mpich: two trees for %s: want one", t.Collective)
		}
		x := &exporter{lib: lib, cat: cat, collective: t.Collective}
		subtree, err := x.export(t)
		if err != nil {
			return File{}, err
		}
		file.Tree = file.Tree.With(mpichtree.CollectiveKey+string(t.Collective), subtree)
		file.Collectives = append(file.Collectives, t.Collective)
	}
	if err := check(file.Tree, lib); err != nil {
		return File{}, err
	}
	return file, nil
}

// export returns the whole subtree of the collective. Tuned rules go into the
// branch of intracommunicators, and there into that of separate buffers if the
// library asks for it; all else stays the library's.
func (x *exporter) export(t *selection.Tree) (mpichtree.Object, error) {
	own, ok := x.lib.Tree.Get(mpichtree.CollectiveKey + string(x.collective))
	if !ok {
		return nil, fmt.Errorf("mpich: the tree of %s has no %s%s at its top", x.lib.Source, mpichtree.CollectiveKey, x.collective)
	}
	const intraKey, interKey, apartKey = "comm_type=intra", "comm_type=inter", "is_sendbuf_inplace=no"
	intra, split := own.Get(intraKey)
	if !split {
		intra = own
	}
	apart, inPlaceAsked := intra.Get(apartKey)
	if inPlaceAsked {
		x.untuned = closed(apart, false)
	} else {
		x.untuned = closed(intra, true)
	}
	tuned, err := x.comms(t.Comms)
	if err != nil {
		return nil, err
	}
	if inPlaceAsked {
		tuned = intra.With(apartKey, tuned)
	}
	if split {
		return own.With(intraKey, tuned), nil
	}
	return mpichtree.Object{alt(intraKey, tuned), alt(interKey, own)}, nil
}

func (x *exporter) comms(ranges []selection.CommRange) (mpichtree.Object, error) {
	const key = "comm_size"
	var out mpichtree.Object
	next := int64(1)
	add := func(high int, rule func(own mpichtree.Object) (mpichtree.Object, error)) error {
		value, err := rule(narrowed(x.untuned, key, next, int64(high)))
		if err == nil {
			out, next = append(out, alt(atMost(key, int64(high)), value)), int64(high)+1
		}
		return err
	}
	if low := ranges[0].Low; low > 1 {
		if err := add(low-1, asIs); err != nil {
			return nil, err
		}
	}
	for _, r := range ranges {
		if err := add(r.High, func(own mpichtree.Object) (mpichtree.Object, error) { return x.ppns(r.PPNs, own) }); err != nil {
			return nil, err
		}
	}
	return append(out, alt(key+"=any", narrowed(x.untuned, key, next, math.MaxInt64))), nil
}

func asIs(own mpichtree.Object) (mpichtree.Object, error) { return own, nil }

// ppns closes with comm_size=any, which is always true and, unlike
// comm_avg_ppn=any, known to every release. own is the library's decision there.
func (x *exporter) ppns(ranges []selection.PPNRange, own mpichtree.Object) (mpichtree.Object, error) {
	if !slices.ContainsFunc(ranges, func(r selection.PPNRange) bool { return tuned(r.Bands) > 0 }) {
		return own, nil
	}
	var out mpichtree.Object
	if low := ranges[0].Low; low > 1 {
		out = append(out, alt(atMost("comm_avg_ppn", int64(low-1)), own))
	}
	for _, r := range ranges {
		rules, err := x.bands(r.Bands, own)
		if err != nil {
			return nil, err
		}
		out = append(out, alt(atMost("comm_avg_ppn", int64(r.High)), rules))
	}
	return append(out, alt("comm_size=any", own)), nil
}

// tuned returns the number of bands up to the last that is not the default.
func tuned(bands []selection.Band) int {
	n := len(bands)
	for n > 0 && bands[n-1].Algorithm.IsDefault() {
		n--
	}
	return n
}

func (x *exporter) bands(bands []selection.Band, own mpichtree.Object) (mpichtree.Object, error) {
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
	var out mpichtree.Object
	next := int64(0)
	for _, b := range bands {
		rule := narrowed(own, key, next, b.UpTo)
		if !b.Algorithm.IsDefault() {
			var err error
			if rule, err = x.guarded(b.Algorithm); err != nil {
				return nil, err
			}
		}
		if b.UpTo >= math.MaxInt32 { // read as a C int: nothing larger can be told apart
			return append(out, alt(key+"=any", rule)), nil
		}
		out, next = append(out, alt(atMost(key, b.UpTo), rule)), b.UpTo+1
	}
	return append(out, alt(key+"=any", narrowed(own, key, next, math.MaxInt64))), nil
}

// alt is one alternative: a condition or leaf and what follows from it.
func alt(key string, value mpichtree.Object) mpichtree.Member {
	return mpichtree.Member{Key: key, Value: value}
}

func atMost(name string, limit int64) string { return name + "<=" + strconv.FormatInt(limit, 10) }

// closed returns a subtree of the library to be put below other conditions, with
// every "less than" written as "at most". MPICH evaluates comm_size<N as
// comm_size<=N where it is not resolved per communicator, so what the library
// itself does there is kept, not what its tree says.
func closed(o mpichtree.Object, resolved bool) mpichtree.Object {
	out := make(mpichtree.Object, len(o))
	for i, m := range o {
		c, err := parseCondition(m.Key)
		if err != nil || strings.HasPrefix(m.Key, mpichtree.LeafKey) {
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
		out[i] = alt(m.Key, closed(m.Value, resolved))
	}
	return out
}

// narrowed returns what is left of a closed subtree where a measure is known to
// be low to high: alternatives that never hold are gone, one that always holds is
// the last.
func narrowed(o mpichtree.Object, name string, low, high int64) mpichtree.Object {
	var out mpichtree.Object
	for _, m := range o {
		c, err := parseCondition(m.Key)
		if err != nil || strings.HasPrefix(m.Key, mpichtree.LeafKey) {
			return o
		}
		if c.name == name && c.op == "<=" && c.limit < low {
			continue
		}
		if c.name == name && c.op == "<=" && c.limit >= high {
			m.Key = name + "=any"
		}
		out = append(out, alt(m.Key, narrowed(m.Value, name, low, high)))
		if m.Key == name+"=any" {
			break
		}
	}
	if len(out) == 1 && out[0].Key == name+"=any" {
		return out[0].Value
	}
	return out
}
