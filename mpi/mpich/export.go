package mpich

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"tutti/coll"
	"tutti/mpi"
	"tutti/mpi/mpich/csel"
	"tutti/selection"
)

// The files that Write makes. There is none for the device when its own tree stays.
const (
	FileName   = "mpich.json"
	DeviceName = "mpich.ch4.json"
	EnvName    = "mpich.env"
)

// File holds complete selection files for one library.
type File struct {
	Tree   csel.Object // of the algorithms
	Device csel.Object // of the compositions, empty when the library's own stays

	Collectives []coll.Collective // tuned in it, alphabetical
	off         []coll.Collective // that the device has to leave alone
}

// Bytes returns the content of the file of algorithms, the same for the same plans.
func (f File) Bytes() []byte { return f.Tree.Bytes() }

// DeviceBytes returns the content of the device's file, nil when there is none.
func (f File) DeviceBytes() []byte {
	if len(f.Device) == 0 {
		return nil
	}
	return f.Device.Bytes()
}

// Names returns the files that Write makes.
func (f File) Names() []string {
	if len(f.Device) == 0 {
		return []string{FileName, EnvName}
	}
	return []string{FileName, DeviceName, EnvName}
}

// Env returns the settings that make MPICH obey the files in a folder, given by
// its absolute path.
func (f File) Env(dir string) ([]selection.Setting, error) {
	if !filepath.IsAbs(dir) {
		return nil, fmt.Errorf("mpich: folder %s: want an absolute path, every process opens the files from its own directory", dir)
	}
	out := []selection.Setting{{Name: "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE", Value: filepath.Join(dir, FileName)}}
	if len(f.Device) > 0 {
		out = append(out, selection.Setting{Name: "MPIR_CVAR_CH4_COLL_SELECTION_TUNING_JSON_FILE", Value: filepath.Join(dir, DeviceName)})
	}
	for _, c := range f.off {
		out = append(out, selection.Setting{Name: "MPIR_CVAR_" + strings.ToUpper(string(c)) + "_DEVICE_COLLECTIVE", Value: "0"})
	}
	return out, nil
}

// Write puts the files into a folder that exists.
func (f File) Write(dir string) error {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return fmt.Errorf("mpich: %w", err)
	}
	env, err := f.Env(abs)
	if err != nil {
		return err
	}
	if err := selection.WriteFile(filepath.Join(abs, FileName), f.Bytes()); err != nil {
		return err
	}
	if err := f.writeDevice(filepath.Join(abs, DeviceName)); err != nil {
		return err
	}
	return selection.WriteFile(filepath.Join(abs, EnvName), selection.EnvFile(env))
}

// writeDevice also takes away the file of an earlier export that needed one.
func (f File) writeDevice(path string) error {
	if len(f.Device) > 0 {
		return selection.WriteFile(path, f.DeviceBytes())
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("mpich: %w", err)
	}
	return nil
}

// exporter writes the subtree of one collective, of the algorithms or the device.
type exporter struct {
	lib        csel.Library
	cat        *mpi.Catalogue
	collective coll.Collective
	device     bool
	untuned    csel.Object // the library's own decision, where it stays
}

// Export merges plans into the complete trees of the library.
//
// Communicator sizes are asked before processes per node, these before message
// sizes; outside the tuned range and where a plan says coll.Default stands a copy
// of the library's own subtree, the device's in the device's tree, so that the
// library does there what it does as shipped. Every algorithm is guarded by what
// the catalogue says it requires. The error matches mpi.ErrUnknown when the
// release has not an algorithm or one lacks a parameter.
func Export(plans []Plan, lib csel.Library, cat *mpi.Catalogue) (File, error) {
	sorted := slices.Clone(plans)
	slices.SortStableFunc(sorted, func(a, b Plan) int { return cmp.Compare(a.Collective, b.Collective) })
	file := File{Tree: lib.Tree}
	device := lib.Device
	for i, p := range sorted {
		if len(p.Comms) == 0 {
			continue
		}
		if i > 0 && p.Collective == sorted[i-1].Collective {
			return File{}, fmt.Errorf("mpich: two plans for %s: want one", p.Collective)
		}
		x := &exporter{lib: lib, cat: cat, collective: p.Collective}
		subtree, err := x.algorithms(p)
		if err != nil {
			return File{}, err
		}
		file.Tree = file.Tree.With(csel.CollectiveKey+string(p.Collective), subtree)
		file.Collectives = append(file.Collectives, p.Collective)
		if !mixes(lib, cat, p.Collective) {
			file.off = append(file.off, p.Collective)
			continue
		}
		if !splits(p.Collective) {
			continue // the device hands it on in any case
		}
		x.device = true
		if subtree, err = x.compositions(p); err != nil {
			return File{}, err
		}
		device = device.With(csel.CollectiveKey+string(p.Collective), subtree)
		file.Device = device
	}
	if err := file.check(lib); err != nil {
		return File{}, err
	}
	return file, nil
}

func (f File) check(lib csel.Library) error {
	if err := check(f.Tree, lib.Tree, lib); err != nil || len(f.Device) == 0 {
		return err
	}
	return check(f.Device, lib.Device, lib)
}

const intraKey, interKey, apartKey = "comm_type=intra", "comm_type=inter", "is_sendbuf_inplace=no"

// branch returns the library's decision for intracommunicators and a function that
// puts another one in its place.
func (x *exporter) branch() (intra csel.Object, put func(csel.Object) csel.Object, err error) {
	source := x.lib.Tree
	if x.device {
		source = x.lib.Device
	}
	own, ok := source.Get(csel.CollectiveKey + string(x.collective))
	if !ok {
		return nil, nil, fmt.Errorf("mpich: the tree of %s has no %s%s at its top", x.lib.Source, csel.CollectiveKey, x.collective)
	}
	if intra, ok := own.Get(intraKey); ok {
		return intra, func(o csel.Object) csel.Object { return own.With(intraKey, o) }, nil
	}
	return own, func(o csel.Object) csel.Object {
		return csel.Object{alt(intraKey, o), alt(interKey, own)}
	}, nil
}

// algorithms returns the whole subtree of the collective in the tree of
// algorithms. Tuned rules go into the branch of intracommunicators, and there into
// that of separate buffers if the library asks for it; all else stays the
// library's. Communicators of parts have rules of their own: what is tuned for
// communicators of programs must not change what compositions are made of.
func (x *exporter) algorithms(p Plan) (csel.Object, error) {
	intra, put, err := x.branch()
	if err != nil {
		return nil, err
	}
	apart, inPlaceAsked := intra.Get(apartKey)
	if inPlaceAsked {
		x.untuned = closed(apart, false)
	} else {
		x.untuned = closed(intra, true)
	}
	flat := func(alg coll.Algorithm) coll.Algorithm {
		if e, err := x.cat.Lookup(x.collective, alg); err == nil && composes(e) {
			return coll.Default
		}
		return alg
	}
	tuned, err := x.comms(mapped(p.Comms, flat))
	if err != nil {
		return nil, err
	}
	if inPlaceAsked {
		return put(intra.With(apartKey, tuned)), nil
	}
	if !splits(x.collective) || !mixes(x.lib, x.cat, x.collective) {
		return put(tuned), nil
	}
	between := intra
	if p.Inter != nil && len(p.Inter.Comms) > 0 {
		if between, err = x.comms(p.Inter.Comms); err != nil {
			return nil, err
		}
	}
	return put(csel.Object{
		alt("comm_hierarchy=node_roots", between), alt("comm_hierarchy=node", intra), alt("comm_hierarchy=any", tuned),
	}), nil
}

// compositions returns the whole subtree of the collective in the device's tree:
// where an algorithm was selected, the communicator is handed on.
func (x *exporter) compositions(p Plan) (csel.Object, error) {
	intra, put, err := x.branch()
	if err != nil {
		return nil, err
	}
	x.untuned = closed(intra, true)
	flat, _ := handsOn(x.cat, x.collective)
	tuned, err := x.comms(mapped(p.Comms, func(alg coll.Algorithm) coll.Algorithm {
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

// mapped returns the ranges with other algorithms, and neighbours that have become
// equal joined.
func mapped(ranges []selection.CommRange, to func(coll.Algorithm) coll.Algorithm) []selection.CommRange {
	var out []selection.CommRange
	for _, c := range ranges {
		var ppns []selection.PPNRange
		for _, r := range c.PPNs {
			var bands []selection.Band
			for _, b := range r.Bands {
				b.Algorithm = to(b.Algorithm)
				if n := len(bands); n > 0 && bands[n-1].Algorithm == b.Algorithm {
					bands[n-1].UpTo = b.UpTo
				} else {
					bands = append(bands, b)
				}
			}
			if n := len(ppns); n > 0 && slices.Equal(ppns[n-1].Bands, bands) {
				ppns[n-1].High = r.High
			} else {
				ppns = append(ppns, selection.PPNRange{Low: r.Low, High: r.High, Bands: bands})
			}
		}
		same := func(a, b selection.PPNRange) bool {
			return a.Low == b.Low && a.High == b.High && slices.Equal(a.Bands, b.Bands)
		}
		if n := len(out); n > 0 && slices.EqualFunc(out[n-1].PPNs, ppns, same) {
			out[n-1].High = c.High
		} else {
			out = append(out, selection.CommRange{Low: c.Low, High: c.High, PPNs: ppns})
		}
	}
	return out
}

func (x *exporter) comms(ranges []selection.CommRange) (csel.Object, error) {
	const key = "comm_size"
	var out csel.Object
	next := int64(1)
	add := func(high int, rule func(own csel.Object) (csel.Object, error)) error {
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
		if err := add(r.High, func(own csel.Object) (csel.Object, error) { return x.ppns(r.PPNs, own) }); err != nil {
			return nil, err
		}
	}
	return append(out, alt(key+"=any", narrowed(x.untuned, key, next, math.MaxInt64))), nil
}

func asIs(own csel.Object) (csel.Object, error) { return own, nil }

// ppns closes with comm_size=any, which is always true and, unlike
// comm_avg_ppn=any, known to every release. own is the library's decision there.
func (x *exporter) ppns(ranges []selection.PPNRange, own csel.Object) (csel.Object, error) {
	if !slices.ContainsFunc(ranges, func(r selection.PPNRange) bool { return tuned(r.Bands) > 0 }) {
		return own, nil
	}
	var out csel.Object
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

func (x *exporter) bands(bands []selection.Band, own csel.Object) (csel.Object, error) {
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
	var out csel.Object
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
func alt(key string, value csel.Object) csel.Member {
	return csel.Member{Key: key, Value: value}
}

func atMost(name string, limit int64) string { return name + "<=" + strconv.FormatInt(limit, 10) }

// closed returns a subtree of the library to be put below other conditions, with
// every "less than" written as "at most". MPICH evaluates comm_size<N as
// comm_size<=N where it is not resolved per communicator, so what the library
// itself does there is kept, not what its tree says.
func closed(o csel.Object, resolved bool) csel.Object {
	out := make(csel.Object, len(o))
	for i, m := range o {
		c, err := parseCondition(m.Key)
		if err != nil || csel.IsLeaf(m.Key) {
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
func narrowed(o csel.Object, name string, low, high int64) csel.Object {
	var out csel.Object
	for _, m := range o {
		c, err := parseCondition(m.Key)
		if err != nil || csel.IsLeaf(m.Key) {
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
