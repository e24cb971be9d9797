package mpich

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"tutti/internal/lazyregexp"
	"tutti/mpi"
)

// treeObject is a JSON object whose keys keep their order. It holds the alternatives of a selection tree,
// which MPICH tries in this order. Every value is again an object.
type treeObject []treeMember

type treeMember struct {
	Key   string
	Value treeObject
}

// The keys of a tree that do not express conditions.
const (
	collectiveKey  = "collective="
	leafKey        = "algorithm="   // of the trees of point-to-point algorithms
	compositionKey = "composition=" // of the device's tree
)

// isLeaf reports whether a key names an algorithm or a composition. Other keys are conditions.
func isLeaf(key string) bool {
	return strings.HasPrefix(key, leafKey) || strings.HasPrefix(key, compositionKey)
}

var errTreeSyntax = errors.New("not a selection tree")

// maxTreeDepth is the largest accepted depth of a selection tree. MPICH's own tree has depth 9.
const maxTreeDepth = 64

func (o treeObject) Get(key string) (treeObject, bool) {
	for _, m := range o {
		if m.Key == key {
			return m.Value, true
		}
	}
	return nil, false
}

// With returns a copy in which the key has the given value. A new key is appended.
func (o treeObject) With(key string, value treeObject) treeObject {
	out := append(treeObject(nil), o...)
	for i := range out {
		if out[i].Key == key {
			out[i].Value = value
			return out
		}
	}
	return append(out, treeMember{key, value})
}

// Bytes returns the tree as JSON, with each condition on its own line.
func (o treeObject) Bytes() []byte {
	var b strings.Builder
	o.write(&b, 0, false)
	b.WriteByte('\n')
	return []byte(b.String())
}

// write writes the object as JSON, indented by its depth. An empty object is on one line. If the only key of an
// object is a leaf (an algorithm or a composition), the object and everything inside it are on one line.
func (o treeObject) write(b *strings.Builder, depth int, oneLine bool) {
	oneLine = oneLine || len(o) == 0 || len(o) == 1 && isLeaf(o[0].Key)
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		if !oneLine {
			b.WriteString("\n" + strings.Repeat(" ", depth+1))
		} else if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(quote(m.Key) + ": ")
		m.Value.write(b, depth+1, oneLine)
	}
	if !oneLine {
		b.WriteString("\n" + strings.Repeat(" ", depth))
	}
	b.WriteByte('}')
}

func quote(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // keeps "<=" readable
	if err := e.Encode(s); err != nil {
		panic("mpich: " + err.Error()) // every string has a JSON form
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// parseTree reads a selection tree. The error matches errTreeSyntax and contains the line number.
func parseTree(text []byte) (treeObject, error) {
	doc, _, err := mpi.ParseJSON(plainJSON(text))
	if doc == nil {
		return nil, fmt.Errorf("%w: %w", errTreeSyntax, err)
	}
	var faults []error
	out := treeOf(doc, 0, func(line int, kind mpi.FindingKind, text string) {
		if kind == mpi.FindingError {
			faults = append(faults, fmt.Errorf("%w: line %d: %s", errTreeSyntax, line, text))
		}
	})
	if len(faults) > 0 {
		return nil, faults[0]
	}
	return out, nil
}

// treeOf converts a JSON value. Like MPICH, it removes spaces from keys, and the last of equal keys counts, at the place
// of the first. It calls `add` for equal keys and for what is not a tree.
func treeOf(v *mpi.JSON, depth int, add func(line int, kind mpi.FindingKind, text string)) treeObject {
	if v.Kind != mpi.JSONObject || depth > maxTreeDepth {
		add(v.Line, mpi.FindingError, fmt.Sprintf("want an object in braces, at most %d deep, got %s", maxTreeDepth, v.Kind))
		return nil
	}
	var out treeObject
	at := map[string]int{}
	for _, m := range v.Members {
		key, value := plainKey(m.Key), treeOf(m.Value, depth+1, add)
		if i, twice := at[key]; twice {
			add(m.Line, mpi.FindingNote, fmt.Sprintf("%s is there twice in one object: the last one counts, at the place of the first", key))
			out[i].Value = value
			continue
		}
		at[key] = len(out)
		out = append(out, treeMember{key, value})
	}
	return out
}

func plainKey(key string) string { return strings.ReplaceAll(key, " ", "") }

func (f files) check(lib libraryTree) error {
	if err := check(f.flat, lib.Tree, lib); err != nil || len(f.device) == 0 {
		return err
	}
	return check(f.device, lib.Device, lib)
}

// check returns an error if MPICH would abort with the tree. `own` is the library's tree that `tree`
// replaces.
func check(tree, own treeObject, lib libraryTree) error {
	for _, f := range faultsOf(tree, own, lib, strings.HasPrefix(anyLeaf(own), compositionKey)) {
		return fmt.Errorf("mpich: %s", f)
	}
	return nil
}

// treeFault is a part of a tree with which MPICH would abort.
type treeFault struct {
	path    []string // keys from the top
	text    string
	key     string // below the path, if the text names it
	missing string // collective without a tree; MPICH aborts only when it is called
	misread bool   // MPICH goes on, but not as the text says
}

func (f treeFault) String() string { return strings.Join(append(slices.Clone(f.path), f.text), ": ") }

// faultsOf returns the faults of a tree: of the device's tree if `device` is true.
func faultsOf(tree, own treeObject, lib libraryTree, device bool) []treeFault {
	c := checker{lib: lib, kind: leafKey, names: lib.Leaves}
	if device {
		c.kind, c.names = compositionKey, lib.Compositions
	}
	c.top(nil, tree, own)
	return c.faults
}

func anyLeaf(o treeObject) string {
	for len(o) > 0 && !isLeaf(o[0].Key) {
		o = o[0].Value
	}
	if len(o) == 0 {
		return ""
	}
	return o[0].Key
}

type checker struct {
	lib        libraryTree
	kind       string   // what leaves begin with
	names      []string // of leaves
	collective string
	faults     []treeFault
}

func (c *checker) fault(path []string, format string, args ...any) {
	c.faults = append(c.faults, treeFault{path: slices.Clone(path), text: fmt.Sprintf(format, args...)})
}

// top checks the part of a tree above the collectives. It may have conditions about the communicator.
func (c *checker) top(path []string, o, own treeObject) {
	if slices.ContainsFunc(o, func(m treeMember) bool { return strings.HasPrefix(m.Key, collectiveKey) }) || len(o) == 0 {
		for _, m := range own {
			if _, ok := o.Get(m.Key); !ok {
				c.fault(path, "%s is missing: MPICH aborts when it is called", m.Key)
				c.faults[len(c.faults)-1].missing = strings.TrimPrefix(m.Key, collectiveKey)
			}
		}
	}
	for i, m := range o {
		below := append(slices.Clone(path), m.Key)
		if name, ok := strings.CutPrefix(m.Key, collectiveKey); ok {
			c.collective = name
			c.branch(below, m.Value)
			continue
		}
		cond, err := parseCondition(m.Key)
		if err != nil || !cond.ofComm() {
			c.fault(below, "want %s at the top of the tree", collectiveKey)
			continue
		}
		c.condition(below, cond, i == len(o)-1)
		c.top(below, m.Value, own)
	}
}

// condition checks a condition, the last one of its object or not.
func (c *checker) condition(path []string, cond condition, last bool) {
	if text := cond.misread(); text != "" {
		c.fault(path, "%s", text)
		c.faults[len(c.faults)-1].misread = true
	}
	collectives, limited := conditionOf[cond.name]
	switch {
	case !cond.known(c.lib):
		c.fault(path, "no such condition; want one of %s (conditions: %s)", strings.Join(c.conditions(cond.name), ", "), c.lib.Source)
	case limited && c.collective != "" && cond.value != "any" && !slices.Contains(collectives, strings.TrimPrefix(c.collective, "i")):
		c.fault(path, "MPICH has no %s of %s: the first call that reaches the condition aborts; %s is for %s",
			cond.name, c.collective, cond.name, strings.Join(collectives, ", "))
	case cond.value == "any" && !last:
		c.fault(path, "want it as the last alternative")
	case cond.ranged() && last:
		c.fault(path, "want another alternative after it")
	}
}

// conditions returns the conditions of a name that the library accepts, with N for numbers. For another name, it returns
// the names.
func (c *checker) conditions(name string) []string {
	var names, own []string
	for _, key := range c.lib.Keys {
		if strings.HasSuffix(key, "<") || strings.HasSuffix(key, "<=") {
			key += "N"
		}
		its := key[:strings.IndexAny(key, "<=")]
		names = append(names, its)
		if its == strings.TrimRight(name, "<>=!") {
			own = append(own, key)
		}
	}
	if own == nil {
		return slices.Compact(names) // the keys are sorted
	}
	return own
}

// namesOf returns the names of leaves of a collective, for messages.
func (c *checker) namesOf(collective string) string {
	var out []string
	for _, name := range c.names {
		if parts := leafOf.FindStringSubmatch(name); parts != nil && strings.ToLower(parts[1]+parts[2]) == collective {
			out = append(out, name)
		}
	}
	return strings.Join(out, ", ")
}

func (c *checker) branch(path []string, o treeObject) {
	if len(o) == 0 {
		c.fault(path, "a branch ends without %s", c.kind)
		return
	}
	if isLeaf(o[0].Key) {
		c.leaf(path, o)
		return
	}
	for i, m := range o {
		cond, err := parseCondition(m.Key)
		if err != nil {
			c.fault(path, "%v", err)
			c.faults[len(c.faults)-1].key = m.Key
			continue
		}
		below := append(slices.Clone(path), m.Key)
		c.condition(below, cond, i == len(o)-1)
		c.branch(below, m.Value)
	}
}

var leafOf = lazyregexp.New(`^(?:MPIR_([A-Za-z_]+?)_(?:intra|inter|allcomm)_|MPIDI_([A-Za-z_]+?)_intra_composition_)`)

func (c *checker) leaf(path []string, o treeObject) {
	name, ok := strings.CutPrefix(o[0].Key, c.kind)
	parts := leafOf.FindStringSubmatch(name)
	switch {
	case !ok:
		c.fault(append(slices.Clone(path), o[0].Key), "want %s here", c.kind)
	case len(o) > 1:
		c.fault(append(slices.Clone(path), name), "%s next to a leaf: want nothing", o[1].Key)
	case c.names != nil && !slices.Contains(c.names, name):
		c.fault(append(slices.Clone(path), name), "no such algorithm; want one of %s (algorithms: %s)", c.namesOf(c.collective), c.lib.Source)
	case parts == nil || strings.ToLower(parts[1]+parts[2]) != c.collective:
		c.fault(append(slices.Clone(path), name), "not an algorithm of %s", c.collective)
	}
}
