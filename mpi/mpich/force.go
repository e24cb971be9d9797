package mpich

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tutti/coll"
	"tutti/mpi"
)

// fallbackName is the control variable that says what happens if a forced algorithm cannot run: the call
// fails, or MPICH selects another algorithm.
const fallbackName = "MPIR_CVAR_COLLECTIVE_FALLBACK"

// fallback is a value of the control variable fallbackName. The environment gives the value as a text, MPI_T as
// a number.
type fallback struct {
	name string
	id   int
}

// If a forced algorithm cannot run, the call usually fails. For two kinds of algorithms the library may select
// another algorithm instead. The first kind calls the same collective again for a part of the work. The second
// kind cannot run for small calls or calls in place, which programs make in addition to the measured call.
//
// Exported files also allow the library to select another algorithm, because MPICH would abort otherwise. The
// measured call always runs the forced algorithm: a point that violates a requirement is rejected before
// anything runs.
var (
	fallbackError  = fallback{"error", 0}
	fallbackSilent = fallback{"silent", 2}
)

func fallbackOf(e mpi.Entry) fallback {
	if e.Has(mpi.Parent) || e.Has(mpi.CountPowerOfTwo) || e.Has(mpi.NotInPlace) {
		return fallbackSilent
	}
	return fallbackError
}

func variables(c coll.Collective) string { return "MPIR_CVAR_" + strings.ToUpper(string(c)) + "_" }

func to(name string, value int) mpi.Switch { return mpi.Switch{Name: name, Value: value} }

// Force implements mpi.Measurable. A forced algorithm runs on the whole communicator. For the default
// candidate, the device and the library select by themselves. The values of the control variables are
// positions in MPICH's own lists of algorithms. With the value 0 the library selects.
//
// If settings of the site pin algorithms or turn on components above, the default starts with them and without
// switches. All other candidates start with these settings turned off. The site's trees stay on in both.
func (library) Force(cat *mpi.Catalogue, c coll.Candidate) (mpi.Forcing, error) {
	off := cat.Site.Neutral(staysOn)
	if len(off) > 0 && c.Algorithm.IsDefault() {
		return mpi.Forcing{}, nil
	}
	f, err := force(cat, c)
	f.Base = slices.Concat(off, f.Base)
	if len(f.Env) > 0 {
		f.Env = slices.Concat(off, f.Env)
	}
	return f, err
}

func force(cat *mpi.Catalogue, c coll.Candidate) (mpi.Forcing, error) {
	prefix := variables(c.Collective)
	device, algorithm := prefix+"DEVICE_COLLECTIVE", prefix+"INTRA_ALGORITHM"
	base := []mpi.Var{{Name: fallbackName, Value: fallbackError.name}}
	if c.Algorithm.IsDefault() {
		return mpi.Forcing{
			Base: base,
			Switches: slices.Concat(
				[]mpi.Switch{to(fallbackName, fallbackError.id), to(device, 1), to(algorithm, 0)},
				resetComposition(cat, c.Collective),
				paramSwitches(prefix, cat.Entries(c.Collective), nil)),
		}, nil
	}
	e, err := cat.Lookup(c.Collective, c.Algorithm)
	if err != nil {
		return mpi.Forcing{}, err
	}
	if composes(e) {
		return forceComposition(cat, e, c)
	}
	settings, err := settingsOf(prefix, c)
	if err != nil {
		return mpi.Forcing{}, err
	}
	fb := fallbackOf(e)
	f := mpi.Forcing{
		Env:  []mpi.Var{{Name: fallbackName, Value: fb.name}, {Name: device, Value: "0"}, {Name: algorithm, Value: e.Name}},
		Base: base,
		Switches: slices.Concat(
			[]mpi.Switch{to(fallbackName, fb.id), to(device, 0), to(algorithm, e.ID)},
			resetComposition(cat, c.Collective),
			paramSwitches(prefix, cat.Entries(c.Collective), settings)),
	}
	for _, s := range settings {
		f.Env = append(f.Env, mpi.Var{Name: s.name, Value: s.text})
		if s.isText { // MPI_T programs write integers only
			f.Base = append(f.Base, mpi.Var{Name: s.name, Value: s.text})
		}
	}
	return f, nil
}

// knob is the control variable that sets a parameter of an algorithm. It has the variable's name without the
// prefix of the collective, and the variable's default.
type knob struct {
	name    string
	shipped int
	isText  bool
}

// knobs lists the control variable of every parameter except k. otherDefaults lists those whose default differs between
// collectives.
var knobs = map[string]knob{
	"tree_type":         {name: "TREE_TYPE", isText: true},
	"chunk_size":        {name: "TREE_PIPELINE_CHUNK_SIZE", shipped: 8192},
	"buffer_per_child":  {name: "TREE_BUFFER_PER_CHILD"},
	"is_non_blocking":   {name: "IS_NON_BLOCKING", shipped: 1},
	"recv_pre_posted":   {name: "RECV_PRE_POST"},
	"single_phase_recv": {name: "RECEXCH_SINGLE_PHASE_RECV"},
}

var otherDefaults = map[string]int{
	"MPIR_CVAR_IALLREDUCE_TREE_PIPELINE_CHUNK_SIZE": 0,
	"MPIR_CVAR_IBCAST_TREE_PIPELINE_CHUNK_SIZE":     0,
	"MPIR_CVAR_IREDUCE_TREE_PIPELINE_CHUNK_SIZE":    -1,
}

// knobOf returns the control variable of a parameter. The variable of parameter k depends on the family of
// the algorithm. Source: coll_algorithms.txt (cvar_params) and cvars.txt of MPICH 4.1 to 4.3.
func knobOf(algorithm, param string) (knob, bool) {
	if param == "k" {
		name, ok := radices[algorithm]
		return knob{name: name, shipped: 2}, ok
	}
	if algorithm == "tsp_ring" && param == "chunk_size" {
		return knob{name: "RING_CHUNK_SIZE"}, true
	}
	k, ok := knobs[param]
	return k, ok
}

var radices = map[string]string{
	"k_brucks":                    "BRUCKS_KVAL",
	"k_dissemination":             "DISSEM_KVAL",
	"k_reduce_scatter_allgather":  "RECEXCH_KVAL",
	"pipelined_tree":              "TREE_KVAL",
	"recexch":                     "RECEXCH_KVAL",
	"recexch_doubling":            "RECEXCH_KVAL",
	"recexch_halving":             "RECEXCH_KVAL",
	"recursive_multiplying":       "RECURSIVE_MULTIPLYING_KVAL",
	"tree":                        "TREE_KVAL",
	"tsp_recexch_multiple_buffer": "RECEXCH_KVAL",
	"tsp_recexch_reduce_scatter_recexch_allgatherv": "RECEXCH_KVAL",
	"tsp_recexch_single_buffer":                     "RECEXCH_KVAL",
	"tsp_tree":                                      "TREE_KVAL",
}

type setting struct {
	name   string
	text   string
	number int
	isText bool
}

func settingsOf(prefix string, c coll.Candidate) ([]setting, error) {
	var out []setting
	for _, p := range c.Algorithm.Params() {
		k, ok := knobOf(c.Algorithm.Name, p.Name)
		if !ok {
			return nil, fmt.Errorf("%v: %w: MPICH has no variable for parameter %s", c, mpi.ErrInfeasible, p.Name)
		}
		s := setting{name: prefix + k.name, text: p.Value, isText: k.isText}
		if k.isText {
			name, err := treeType(p.Value)
			if err != nil {
				return nil, fmt.Errorf("%v: %w: parameter %s: %w", c, mpi.ErrInfeasible, p.Name, err)
			}
			s.text = name
		} else {
			n, err := strconv.Atoi(p.Value)
			if err != nil {
				return nil, fmt.Errorf("%v: %w: parameter %s=%s: want a whole number", c, mpi.ErrInfeasible, p.Name, p.Value)
			}
			s.number = n
		}
		out = append(out, s)
	}
	return out, nil
}

// treeType returns the name of a kind of tree for an environment variable. Selection files of MPICH before
// 4.3 contain the number instead.
func treeType(value string) (string, error) {
	if n, err := strconv.Atoi(value); err == nil && n >= 0 && n < 3 {
		return treeTypes[n], nil
	}
	if slices.Contains(treeTypes, value) {
		return value, nil
	}
	return "", fmt.Errorf("%q: want 0, 1, 2 or one of %s", value, strings.Join(treeTypes, ", "))
}

// treeTypes lists the kinds of trees. The first three have numbers before 4.3.
var treeTypes = []string{"kary", "knomial_1", "knomial_2", "topology_aware", "topology_aware_k", "topology_wave"}

// paramSwitches returns a switch (a control variable with a value) for every numeric parameter of the
// collective's algorithms. The value is the given one, or the default.
func paramSwitches(prefix string, entries []mpi.Entry, settings []setting) []mpi.Switch {
	var out []mpi.Switch
	for _, e := range entries {
		for _, p := range e.Params {
			k, ok := knobOf(e.Name, p)
			name := prefix + k.name
			if !ok || k.isText || slices.ContainsFunc(out, func(s mpi.Switch) bool { return s.Name == name }) {
				continue
			}
			value, ok := otherDefaults[name]
			if !ok {
				value = k.shipped
			}
			if i := slices.IndexFunc(settings, func(s setting) bool { return s.name == name }); i >= 0 {
				value = settings[i].number
			}
			out = append(out, to(name, value))
		}
	}
	return out
}
