package mpich

import (
	"fmt"
	"strings"

	"tutti/coll"
)

// reach returns the algorithm that a call reaches in the selection tree. Its name is the function of the
// leaf, such as MPIR_Bcast_intra_binomial. MPICH enters the first alternative whose condition holds, and
// never returns to a later one.
func reach(o treeObject, call signature) (coll.Algorithm, error) {
	m, ok, err := walk(o, call)
	if err == nil && !ok {
		err = fmt.Errorf("%s on %d ranks: no alternative holds, MPICH would abort", call.Collective, call.Ranks)
	}
	if err != nil {
		return coll.Algorithm{}, err
	}
	return leafAlgorithm(m)
}

// reachDevice returns the composition that MPICH uses for a call: a plan of the ch4 device, which builds a
// collective from several parts. It returns false if the device tree has no composition for this call.
func reachDevice(o treeObject, call signature) (string, bool, error) {
	m, ok, err := walk(o, call)
	if err != nil || !ok {
		return "", false, err
	}
	name, ok := strings.CutPrefix(m.Key, compositionKey)
	if !ok {
		return "", false, fmt.Errorf("leaf %s: want %s in the device's tree", m.Key, compositionKey)
	}
	return name, true, nil
}

// walk returns the leaf that a call reaches in a selection tree, and false if no alternative applies to the
// call. MPICH evaluates the conditions up to the first one that depends on the call when it creates the
// communicator.
func walk(o treeObject, call signature) (treeMember, bool, error) {
	resolved := true
	for range maxTreeDepth + 1 {
		if len(o) == 1 && isLeaf(o[0].Key) {
			return o[0], true, nil
		}
		next, err := enter(o, call, &resolved)
		if err != nil || next < 0 {
			return treeMember{}, false, err
		}
		o = o[next].Value
	}
	return treeMember{}, false, fmt.Errorf("%s: tree deeper than %d", call.Collective, maxTreeDepth)
}

// enter returns the index of the first alternative whose condition is true for the call, or -1.
func enter(o treeObject, call signature, resolved *bool) (int, error) {
	for i, m := range o {
		c, err := parseCondition(m.Key)
		if err != nil {
			return -1, err
		}
		if c.name == "collective" {
			if c.value == string(call.Collective) {
				return i, nil
			}
			continue
		}
		*resolved = *resolved && c.ofComm()
		holds, err := c.holds(call, *resolved)
		if err != nil {
			return -1, err
		}
		if holds {
			return i, nil
		}
	}
	return -1, nil
}

// leafAlgorithm returns the algorithm of a leaf algorithm=NAME. The keys below the leaf are its parameters.
func leafAlgorithm(m treeMember) (coll.Algorithm, error) {
	var params []coll.Param
	for _, p := range m.Value {
		name, value, _ := strings.Cut(p.Key, "=")
		params = append(params, coll.Param{Name: name, Value: value})
	}
	alg, err := coll.NewAlgorithm(strings.TrimPrefix(m.Key, leafKey), params...)
	if err != nil {
		return coll.Algorithm{}, fmt.Errorf("leaf %s: %w", m.Key, err)
	}
	return alg, nil
}

// leaf returns an object with one leaf for the algorithm. It is the inverse of leafAlgorithm.
func leaf(alg coll.Algorithm) treeObject {
	var params treeObject
	for _, p := range alg.Params() {
		params = append(params, treeMember{Key: p.Name + "=" + p.Value})
	}
	return treeObject{alternative(leafKey+alg.Name, params)}
}
