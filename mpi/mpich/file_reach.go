package mpich

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"tutti/coll"
	"tutti/mpi"
)

// calls is the set of calls that reach a part of a tree: for each number that conditions compare, a range, and for each
// other property the values that are left. Properties that no condition has asked for are missing.
type calls struct {
	ranges map[string][2]int64
	values map[string][]string
}

// domain returns all values of a property.
func domain(property string) []string {
	switch property {
	case "comm_type":
		return []string{"intra", "inter"}
	case "comm_hierarchy":
		return []string{string(parentKind), string(rootsKind), string(nodeKind), string(flatKind)}
	}
	return []string{"yes", "no"}
}

// split returns the calls for which a condition holds, and the others. `resolved` is that of holds.
func (s calls) split(c condition, resolved bool) (yes, no calls) {
	yes, no = calls{maps.Clone(s.ranges), maps.Clone(s.values)}, calls{maps.Clone(s.ranges), maps.Clone(s.values)}
	set := func(to *calls, property string, keep func(string) bool) {
		left, ok := s.values[property]
		if !ok {
			left = domain(property)
		}
		if to.values == nil {
			to.values = map[string][]string{}
		}
		to.values[property] = slices.DeleteFunc(slices.Clone(left), func(v string) bool { return !keep(v) })
	}
	switch {
	case c.value == "any":
		set(&no, "", func(string) bool { return false })
	case c.op != "=" && c.value != "pow2":
		limit := c.limit
		if c.op == "<" && !(c.name == "comm_size" && !resolved) {
			limit--
		}
		low, high := s.span(c.name)
		yes.limit(c.name, low, min(high, limit))
		no.limit(c.name, max(low, limit+1), high)
	case c.value == "yes" || c.value == "no" || c.name == "comm_type" || c.name == "comm_hierarchy":
		set(&yes, c.name, func(v string) bool { return v == c.value })
		set(&no, c.name, func(v string) bool { return v != c.value })
	default: // comm_size=pow2, comm_size=node_comm_size, count<pow2
		name := c.name + c.op + c.value
		set(&yes, name, func(v string) bool { return v == "yes" })
		set(&no, name, func(v string) bool { return v == "no" })
	}
	return yes, no
}

func (s calls) span(name string) (low, high int64) {
	if r, ok := s.ranges[name]; ok {
		return r[0], r[1]
	}
	return 0, math.MaxInt64
}

func (s *calls) limit(name string, low, high int64) {
	if s.ranges == nil {
		s.ranges = map[string][2]int64{}
	}
	s.ranges[name] = [2]int64{low, high}
}

// empty reports whether no call is left.
func (s calls) empty() bool {
	for name, r := range s.ranges {
		if r[0] > r[1] || (name == "comm_size" || name == "comm_avg_ppn") && r[1] < 1 {
			return true
		}
	}
	for _, v := range s.values {
		if len(v) == 0 {
			return true
		}
	}
	return false
}

func (s calls) only(property, value string) bool {
	return slices.Equal(s.values[property], []string{value})
}

// meet reports whether all calls of a collective meet a requirement.
func (s calls) meet(r mpi.Requirement, collective string) bool {
	consecutive := s.only("is_node_consecutive", "yes")
	oneNode := s.only("comm_size=node_comm_size", "yes")
	minPPN, _ := s.span("comm_avg_ppn")
	ranks, mostRanks := s.span("comm_size")
	switch r {
	case mpi.PowerOfTwo:
		return s.only("comm_size=pow2", "yes") || ranks == mostRanks && ranks == coll.FloorPowerOfTwo(ranks) || mostRanks <= 2
	case mpi.Parent, mpi.Hierarchical: // one node is right for compositions, too, and for smp of allreduce
		return collective == string(coll.Allreduce) || s.only("comm_hierarchy", string(parentKind)) || consecutive || oneNode || minPPN >= 2
	case mpi.OneNode:
		return oneNode
	case mpi.NodeConsecutive:
		return consecutive
	case mpi.CountPowerOfTwo:
		count, _ := s.span("count")
		return s.only("count<pow2", "no") || mostRanks <= math.MaxInt32 && count >= coll.FloorPowerOfTwo(mostRanks)
	case mpi.Commutative:
		return s.only("is_commutative", "yes") || collective == string(coll.Scan) // MPICH's own tree does not ask there
	case mpi.BuiltinOp:
		return s.only("is_op_built_in", "yes")
	case mpi.InPlace:
		return s.only("is_sendbuf_inplace", "yes")
	case mpi.NotInPlace:
		return s.only("is_sendbuf_inplace", "no")
	}
	return true
}

// reachable visits a tree with the calls that reach each of its parts. O(n) steps for n keys.
type reachable struct {
	*treeFile
	collective string
}

func (r *reachable) visit(path []string, o treeObject, s calls, resolved bool) {
	if len(o) > 0 && isLeaf(o[0].Key) {
		r.leaf(append(slices.Clone(path), o[0].Key), o[0], s)
		return
	}
	for _, m := range o {
		below := append(slices.Clone(path), m.Key)
		if name, ok := strings.CutPrefix(m.Key, collectiveKey); ok {
			r.collective = name
			if c, err := coll.ParseCollective(name); err == nil && !slices.Contains(r.Collectives, c) {
				r.Collectives = append(r.Collectives, c)
			}
			r.visit(below, m.Value, s, resolved)
			continue
		}
		c, err := parseCondition(m.Key)
		if err != nil {
			continue // a fault of the tree
		}
		if c.name == "comm_size" && c.op == "<" && c.value != "pow2" && !resolved {
			r.Add(r.line(below), mpi.FindingNote, fmt.Sprintf("%s: %s below a condition about the call holds for %d ranks, too (a fault of MPICH): write <=", r.collective, m.Key, c.limit))
		}
		resolved = resolved && c.ofComm()
		yes, no := s.split(c, resolved)
		if yes.empty() {
			r.Add(r.line(below), mpi.FindingUnreachable, strings.Join(below, ": ")+": conditions before exclude it")
		} else {
			r.visit(below, m.Value, yes, resolved)
		}
		s = no
	}
	if collective := r.collective; len(o) > 0 && !s.empty() && collective != "" && !r.device && !strings.HasPrefix(o[0].Key, collectiveKey) {
		if c, err := parseCondition(o[len(o)-1].Key); err == nil && !c.ranged() && c.name != "comm_type" {
			r.Add(r.line(append(slices.Clone(path), o[len(o)-1].Key)), mpi.FindingHarm, fmt.Sprintf("%s: no alternative serves the other calls, which abort: add one, such as the opposite of %s", strings.Join(path, ": "), o[len(o)-1].Key))
		}
	}
}

// leaf judges a leaf that calls reach.
func (r *reachable) leaf(path []string, m treeMember, s calls) {
	r.Rules++
	r.Listing = append(r.Listing, mpi.ListedRule{Collective: r.collective, RuleChoice: mpi.RuleChoice{
		Algorithm: r.algorithm(coll.Collective(r.collective), m), Line: r.line(path), Rule: path[min(1, len(path)):],
	}})
	function := strings.TrimPrefix(strings.TrimPrefix(m.Key, leafKey), compositionKey)
	line := r.line(path)
	if r.isOwn(path) || r.ownChoice(m, s) {
		return // the library decides so without the file, too
	}
	known := !slices.Contains(leftOut(r.cat.Version), function)
	if !known {
		r.Add(line, mpi.FindingHarm, fmt.Sprintf("%s: crashes or delivers wrong data in MPICH %s when a file selects it", function, r.cat.Version))
	}
	c, err := coll.ParseCollective(r.collective)
	e, ok := r.entry(c, function)
	if err != nil || s.only("comm_type", "inter") {
		return
	}
	if !ok {
		if known && r.lib.Leaves == nil && ofCatalogue(function) {
			r.Add(line, mpi.FindingNote, fmt.Sprintf("%s: tutti's table of MPICH %s has no such algorithm of %s; MPICH aborts if it has none either", function, r.cat.Version, c))
		}
		return
	}
	for _, need := range e.Requires {
		if !s.meet(need, r.collective) {
			r.Add(line, mpi.FindingHarm, fmt.Sprintf("%s %s: %s; MPICH does not check this for files: the call aborts or computes wrong data", r.collective, e.Name, needText(need)))
		}
	}
	if composes(e) {
		return
	}
	for _, name := range e.Params {
		if text := paramFault(r.cat.Version, name, m); text != "" {
			r.Add(line, mpi.FindingHarm, fmt.Sprintf("%s %s: %s", r.collective, e.Name, text))
		}
	}
}

// paramFault says what is wrong with a parameter of a leaf, "" if nothing is.
func paramFault(release, name string, leaf treeMember) string {
	value, found := paramOf(leaf, name)
	n := atoi(value)
	kind, _ := paramOf(leaf, "tree_type")
	_, known := treeType(value)
	switch {
	case !found:
		return fmt.Sprintf("the parameter %s is missing: MPICH takes what is in memory; want a key such as \"%s=VALUE\"", name, name)
	case name == "tree_type" && namesTrees(release):
		if known != nil || leadingNumber.FindString(value) != "" {
			return fmt.Sprintf("tree_type=%s: want a name since MPICH 4.3: %s", value, strings.Join(treeTypes, ", "))
		}
	case name == "tree_type" && (known != nil || leadingNumber.FindString(value) == ""):
		return fmt.Sprintf("tree_type=%s: MPICH reads %d, and hangs beyond 2: want 0 (kary), 1 (knomial_1) or 2 (knomial_2) before MPICH 4.3", value, n)
	case name == "tree_type":
	case value != strconv.Itoa(int(n)):
		return fmt.Sprintf("%s=%s: MPICH reads %d: want a whole number", name, value, n)
	case name == "k" && (n < 1 || n == 1 && kind != "0" && kind != treeTypes[0]):
		return fmt.Sprintf("k=%d: the call aborts or hangs: want at least 2, or 1 for the tree kary", n)
	}
	return ""
}

// paramOf returns the value of a leaf's parameter.
func paramOf(leaf treeMember, name string) (value string, found bool) {
	for _, p := range leaf.Value {
		if value, found = strings.CutPrefix(p.Key, name+"="); found {
			return value, true
		}
	}
	return "", false
}

// isOwn reports whether the library's own tree has the same leaf at the same place.
func (r *reachable) isOwn(path []string) bool {
	o := r.lib.Tree
	if r.device {
		o = r.lib.Device
	}
	for _, key := range path {
		next, ok := o.Get(key)
		if !ok {
			return false
		}
		o = next
	}
	return true
}

// ownChoice reports whether the library's own tree has the same leaf for all these calls of the collective.
func (r *reachable) ownChoice(m treeMember, s calls) bool {
	own := r.lib.Tree
	if r.device {
		own = r.lib.Device
	}
	own, _ = own.Get(collectiveKey + r.collective)
	leaf := treeObject{m}.Bytes()
	leaves, same := 0, 0
	var descend func(treeObject, calls, bool)
	descend = func(o treeObject, s calls, resolved bool) {
		for _, next := range o {
			if isLeaf(next.Key) {
				leaves++
				if bytes.Equal(treeObject{next}.Bytes(), leaf) {
					same++
				}
				return
			}
			c, err := parseCondition(next.Key)
			if err != nil {
				continue // a fault of the tree
			}
			resolved = resolved && c.ofComm()
			yes, no := s.split(c, resolved)
			if !yes.empty() {
				descend(next.Value, yes, resolved)
			}
			if s = no; s.empty() {
				return
			}
		}
		leaves++ // no alternative holds for these calls
	}
	descend(own, s, true)
	return leaves == same
}

// needText says what a leaf needs and which condition ensures it.
func needText(r mpi.Requirement) string {
	ask := map[mpi.Requirement]string{
		mpi.PowerOfTwo: "comm_size=pow2", mpi.Parent: "comm_hierarchy=parent", mpi.Hierarchical: "comm_hierarchy=parent",
		mpi.OneNode: "comm_size=node_comm_size", mpi.NodeConsecutive: "is_node_consecutive=yes", mpi.CountPowerOfTwo: "count<pow2 (with another algorithm) before it",
		mpi.Commutative: "is_commutative=yes", mpi.BuiltinOp: "is_op_built_in=yes", mpi.InPlace: "is_sendbuf_inplace=yes", mpi.NotInPlace: "is_sendbuf_inplace=no",
	}[r]
	return fmt.Sprintf("needs %s, and no condition above asks for it: want %s", r.Text(), ask)
}
