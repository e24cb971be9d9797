package mpich

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"tutti/coll"
	"tutti/internal/lazyregexp"
	"tutti/mpi"
)

// posixFile is the control variable that names the file of the collectives through shared memory.
const posixFile = "MPIR_CVAR_CH4_POSIX_COLL_SELECTION_TUNING_JSON_FILE"

var _ mpi.RuleReader = library{}

// treeFile is a selection tree in a file, with the places of its parts.
type treeFile struct {
	build
	*mpi.RuleFile
	doc    *mpi.JSON
	tree   treeObject
	device bool                                    // it selects compositions
	posix  bool                                    // it selects algorithms through shared memory
	places map[*mpi.JSON]map[string]mpi.JSONMember // see members
}

// ReadRules implements mpi.RuleReader. Without the library's file, and for a release whose trees are not known, it does
// not check names that the catalogue does not have.
func (library) ReadRules(cat *mpi.Catalogue, path string, text []byte) (*mpi.RuleFile, bool) {
	text = plainJSON(text)
	if !looksLikeTree(text) {
		return nil, false
	}
	f := &treeFile{build: build{cat: cat}, RuleFile: &mpi.RuleFile{
		Format: "selection tree of MPICH", Library: cat.Library, Version: cat.Version, Findings: []mpi.Finding{}, Collectives: []coll.Collective{},
	}}
	f.open(path)
	if f.parse(text) {
		f.check()
	}
	f.Loaded = len(f.Of(mpi.FindingError)) == 0
	f.Effect = fmt.Sprintf("MPICH %s loads the file; number of leaves: %d, of collectives with a catalogue: %d", cat.Version, f.Rules, len(f.Collectives))
	if !f.Loaded {
		f.Effect = fmt.Sprintf("programs abort with MPICH %s, in MPI_Init or at the first call that reaches the fault; builds without assertions may go on with wrong results", cat.Version)
	} else if f.tree != nil {
		f.Choose = f.choose
	}
	f.Sort()
	return f.RuleFile, true
}

// byteOrderMark begins files that some editors write. MPICH does not read such a file.
const byteOrderMark = "\ufeff"

var emptyTree = lazyregexp.New(`^\{\s*\}`)

func looksLikeTree(text []byte) bool {
	text = bytes.TrimSpace(bytes.TrimPrefix(text, []byte(byteOrderMark)))
	named := bytes.Contains(text, []byte(`"collective`)) || bytes.Contains(text, []byte(leafKey)) || bytes.Contains(text, []byte(compositionKey))
	return emptyTree.Match(text) || bytes.HasPrefix(text, []byte("{")) && named && !bytes.Contains(text, []byte(`"collectives"`))
}

// open reads the trees and names of the library, if they are known.
func (f *treeFile) open(path string) {
	opened, err := library{}.Open(f.cat, path)
	if err == nil {
		f.build = opened.(build)
		return
	}
	if path != "" {
		f.Add(0, mpi.FindingNote, err.Error())
	}
	f.lib.Source = "MPICH " + f.cat.Version
	f.Add(0, mpi.FindingNote, fmt.Sprintf("conditions and names of algorithms without a row in tutti's table are not checked: give --for mpich=%s:PATH of its libmpich.so", f.cat.Version))
}

// parse reads the tree. It returns false if there is none.
func (f *treeFile) parse(text []byte) bool {
	if bytes.HasPrefix(text, []byte(byteOrderMark)) {
		f.Add(1, mpi.FindingError, "a byte order mark before the tree: save the file as UTF-8 without it")
		return false
	}
	doc, trailing, err := mpi.ParseJSON(text)
	if syntax, ok := errors.AsType[*mpi.JSONError](err); ok {
		if doc == nil {
			f.Add(syntax.Line, mpi.FindingError, syntax.Text)
			return false
		}
		f.Add(syntax.Line, mpi.FindingNote, "text after the end of the tree: MPICH ignores it")
	}
	for _, line := range trailing {
		f.Add(line, mpi.FindingNote, "a comma after the last element: remove it, it is not JSON")
	}
	f.doc = doc
	if f.tree = treeOf(doc, 0, f.Add); len(f.Of(mpi.FindingError)) > 0 {
		return false
	}
	f.recognise()
	return true
}

// recognise finds out by most of the leaves which tree it is, and how the library loads it.
func (f *treeFile) recognise() {
	f.device = countLeaves(f.tree, compositionKey) > countLeaves(f.tree, leafKey)
	f.posix = strings.HasPrefix(anyLeaf(f.tree), leafKey+"MPIDI_POSIX")
	remark := ""
	switch {
	case f.device:
		f.Format, f.Load = "selection tree of MPICH's device ch4", []mpi.Setting{{Name: deviceFile, Value: mpi.RulePath}}
	case f.posix:
		f.Format, f.Load = "selection tree of MPICH's collectives through shared memory", []mpi.Setting{{Name: posixFile, Value: mpi.RulePath}}
		remark = "; 4.0 opens the file of the device instead"
	default:
		f.Load = []mpi.Setting{{Name: flatFile, Value: mpi.RulePath}, {Name: cvarPrefix + "DEVICE_COLLECTIVES", Value: "none"}}
		remark = "; without the second, the device's tree decides first, and this one only for the parts of a collective"
	}
	f.Activation = f.LoadText() + remark
	if len(f.tree) == 0 {
		f.Add(1, mpi.FindingNote, "an empty tree: as "+deviceFile+" it makes the device hand on all calls")
	}
}

// countLeaves returns the number of leaves that begin with a kind.
func countLeaves(o treeObject, kind string) int {
	n := 0
	for _, m := range o {
		if strings.HasPrefix(m.Key, kind) {
			n++
		}
		n += countLeaves(m.Value, kind)
	}
	return n
}

// line returns the line of the last key of a path. A leaf may stand without its kind.
func (f *treeFile) line(path []string) int {
	v, line := f.doc, 1
	for _, key := range path {
		m, found := f.members(v)[key]
		if !found {
			break
		}
		v, line = m.Value, m.Line
	}
	return line
}

// members returns the members of an object by key, and those of leaves also by their key without its kind. The last of
// equal keys counts.
func (f *treeFile) members(v *mpi.JSON) map[string]mpi.JSONMember {
	if out, known := f.places[v]; known {
		return out
	}
	out := make(map[string]mpi.JSONMember, len(v.Members))
	for _, m := range v.Members {
		key := plainKey(m.Key)
		out[key] = m
		for _, kind := range []string{leafKey, compositionKey} {
			if name, ok := strings.CutPrefix(key, kind); ok {
				out[name] = m
			}
		}
	}
	if f.places == nil {
		f.places = map[*mpi.JSON]map[string]mpi.JSONMember{}
	}
	f.places[v] = out
	return out
}

// check adds the faults of the tree, and what its leaves do.
func (f *treeFile) check() {
	own, lib := f.lib.Tree, f.lib
	switch {
	case f.device:
		own = treeObject{} // without a tree of its own, the device hands a collective on
	case f.posix:
		own, lib = treeObject{}, libraryTree{Source: f.lib.Source}
	}
	missing := map[int][]string{}
	for _, fault := range faultsOf(f.tree, own, lib, f.device) {
		if line := f.line(append(slices.Clone(fault.path), fault.key)); fault.missing != "" {
			missing[line] = append(missing[line], fault.missing)
		} else if fault.misread {
			f.Add(line, mpi.FindingHarm, fault.String())
		} else {
			f.Add(line, mpi.FindingError, fault.String())
		}
	}
	for line, names := range missing {
		f.Add(line, mpi.FindingHarm, fmt.Sprintf("a file replaces the whole tree, and these collectives are missing: %s; a program that calls one of them aborts, MPI_Init may be the first", strings.Join(names, ", ")))
	}
	if names := intraAlone(f.tree, own); len(names) > 0 {
		f.Add(1, mpi.FindingHarm, fmt.Sprintf("comm_type=inter is missing for: %s; calls on communicators between two groups abort", strings.Join(names, ", ")))
	}
	r := &reachable{treeFile: f}
	r.visit(nil, f.tree, calls{}, true)
}

// intraAlone returns the collectives of a tree that have no alternative for intercommunicators, where the library's own
// tree has one.
func intraAlone(tree, own treeObject) []string {
	var out []string
	for _, m := range tree {
		library, _ := own.Get(m.Key)
		_, inter := library.Get("comm_type=inter")
		if name, ok := strings.CutPrefix(m.Key, collectiveKey); ok && inter && len(m.Value) == 1 && m.Value[0].Key == "comm_type=intra" {
			out = append(out, name)
		}
	}
	return out
}

// choose returns what the tree selects for the benchmark's call at a point.
func (f *treeFile) choose(p coll.Point) mpi.RuleChoice {
	leaf, keys, ok, err := walk(f.tree, f.callAt(p))
	out := mpi.RuleChoice{Algorithm: coll.Default, Line: f.line(keys), Rule: keys}
	switch {
	case err != nil:
		out.Rule = append(keys, err.Error())
		return out
	case !ok && f.device:
		out.Rule = append(keys, "no alternative holds: the device hands the call on")
		return out
	case !ok:
		out.Rule = append(keys, "no alternative holds: MPICH aborts")
		return out
	}
	out.Line, out.Rule = f.line(append(slices.Clone(keys), leaf.Key)), append(keys, leaf.Key)
	out.Algorithm = f.algorithm(p.Collective, leaf)
	return out
}

// algorithm returns the algorithm of a leaf, named as in the catalogue if it is there.
func (f *treeFile) algorithm(c coll.Collective, leaf treeMember) coll.Algorithm {
	out := coll.Algorithm{Name: strings.TrimPrefix(leaf.Key, compositionKey)}
	if alg, err := leafAlgorithm(leaf); err == nil && !f.device {
		out = alg
	}
	if e, ok := f.entry(c, out.Name); ok {
		out.Name = e.Name
	}
	return out
}
