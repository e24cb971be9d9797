package mpich

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"tutti/coll"
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
	places map[*mpi.JSON]map[string]mpi.JSONMember // see members
}

// ReadRules implements mpi.RuleReader. Without the library's file, and for a release whose trees are not known, it does
// not check names that the catalogue does not have.
func (library) ReadRules(cat *mpi.Catalogue, path string, text []byte) (*mpi.RuleFile, bool) {
	text = blankComment(text)
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

// blankComment replaces a comment before a tree by blanks, so that lines keep their numbers. MPICH reads its files with
// json-c, which accepts comments; tutti writes where a file comes from there.
func blankComment(text []byte) []byte {
	start := len(text) - len(bytes.TrimLeft(text, " \t\r\n"))
	if !bytes.HasPrefix(text[start:], []byte("/*")) {
		return text
	}
	length := bytes.Index(text[start:], []byte("*/"))
	if length < 0 {
		return text
	}
	out := slices.Clone(text)
	for i := range start + length + len("*/") {
		if out[i] != '\n' {
			out[i] = ' '
		}
	}
	return out
}

func looksLikeTree(text []byte) bool {
	return bytes.HasPrefix(bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\ufeff"))), []byte("{")) &&
		(bytes.Contains(text, []byte(`"collective`)) || bytes.Contains(text, []byte(leafKey)) || bytes.Contains(text, []byte(compositionKey))) &&
		!bytes.Contains(text, []byte(`"collectives"`))
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
	var syntax *mpi.JSONError
	doc, trailing, err := mpi.ParseJSON(text)
	if errors.As(err, &syntax) {
		f.Add(syntax.Line, mpi.FindingError, syntax.Text)
		return false
	}
	for _, line := range trailing {
		f.Add(line, mpi.FindingNote, "a comma after the last element: remove it, it is not JSON")
	}
	f.doc = doc
	if f.tree = f.object(doc, 0); len(f.Of(mpi.FindingError)) > 0 {
		return false
	}
	leaf := anyLeaf(f.tree)
	f.device = strings.HasPrefix(leaf, compositionKey)
	remark := ""
	switch {
	case f.device:
		f.Format, f.Load = "selection tree of MPICH's device ch4", []mpi.Setting{{Name: deviceFile, Value: mpi.RulePath}}
	case strings.HasPrefix(leaf, leafKey+"MPIDI_POSIX"):
		f.Format, f.Load = "selection tree of MPICH's collectives through shared memory", []mpi.Setting{{Name: posixFile, Value: mpi.RulePath}}
		remark = "; 4.0 opens the file of the device instead"
	default:
		f.Load = []mpi.Setting{{Name: flatFile, Value: mpi.RulePath}, {Name: cvarPrefix + "DEVICE_COLLECTIVES", Value: "none"}}
		remark = "; without the second, the device's tree decides first, and this one only for the parts of a collective"
	}
	f.Activation = f.LoadText() + remark
	return true
}

// object converts a JSON value. Like MPICH, it removes spaces from keys, and the last of equal keys counts.
func (f *treeFile) object(v *mpi.JSON, depth int) treeObject {
	if v.Kind != mpi.JSONObject || depth > maxTreeDepth {
		f.Add(v.Line, mpi.FindingError, fmt.Sprintf("want an object in braces, at most %d deep, got %s", maxTreeDepth, v.Kind))
		return nil
	}
	var out treeObject
	at := map[string]int{}
	for _, m := range v.Members {
		key, value := plainKey(m.Key), f.object(m.Value, depth+1)
		if i, twice := at[key]; twice {
			f.Add(m.Line, mpi.FindingNote, fmt.Sprintf("%s is there twice in one object: the last one counts, at the place of the first", key))
			out[i].Value = value
			continue
		}
		at[key] = len(out)
		out = append(out, treeMember{key, value})
	}
	return out
}

func plainKey(key string) string { return strings.ReplaceAll(key, " ", "") }

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
	own := f.lib.Tree
	lib := f.lib
	switch {
	case f.device:
		own = treeObject{} // without a tree of its own, the device hands a collective on
	case strings.HasPrefix(anyLeaf(f.tree), leafKey+"MPIDI_POSIX"):
		own, lib = treeObject{}, libraryTree{Source: f.lib.Source}
	}
	c := checker{lib: lib, kind: leafKey, names: lib.Leaves}
	if f.device {
		c.kind, c.names = compositionKey, lib.Compositions
	}
	c.top(nil, f.tree, own)
	missing := map[int][]string{}
	for _, fault := range c.faults {
		if line := f.line(append(slices.Clone(fault.path), fault.key)); fault.missing != "" {
			missing[line] = append(missing[line], fault.missing)
		} else {
			f.Add(line, mpi.FindingError, fault.String())
		}
	}
	for line, names := range missing {
		f.Add(line, mpi.FindingHarm, fmt.Sprintf("a file replaces the whole tree, and these collectives are missing: %s; a program that calls one of them aborts, MPI_Init may be the first", strings.Join(names, ", ")))
	}
	r := &reachable{treeFile: f}
	r.visit(nil, f.tree, calls{}, true)
}

// choose returns what the tree selects for the benchmark's call at a point.
func (f *treeFile) choose(p coll.Point) mpi.RuleChoice {
	leaf, keys, ok, err := walkKeys(f.tree, f.callAt(p))
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
