package mpich

import (
	"fmt"
	"strings"

	"tutti/coll"
	"tutti/coll/mpichtree"
)

// Replay returns the leaf that a call reaches in a file, as an algorithm named by
// the leaf's function: MPIR_Bcast_intra_binomial. MPICH enters the first
// alternative whose condition holds and never leaves it again.
func Replay(file []byte, call Call) (coll.Algorithm, error) {
	tree, err := mpichtree.Parse(file)
	if err != nil {
		return coll.Algorithm{}, err
	}
	return reach(tree, call)
}

// reach walks the tree. Conditions are resolved per communicator as long as
// nothing but the communicator and the collective was asked.
func reach(o mpichtree.Object, call Call) (coll.Algorithm, error) {
	resolved := true
	for depth := 0; depth <= mpichtree.MaxDepth; depth++ {
		if len(o) == 1 && strings.HasPrefix(o[0].Key, mpichtree.LeafKey) {
			return leafAlgorithm(o[0])
		}
		next := -1
		for i, m := range o {
			c, err := parseCondition(m.Key)
			if err != nil {
				return coll.Algorithm{}, err
			}
			if c.name == "collective" {
				if c.value == string(call.Collective) {
					next = i
					break
				}
				continue
			}
			resolved = resolved && c.ofComm()
			holds, err := c.holds(call, resolved)
			if err != nil {
				return coll.Algorithm{}, err
			}
			if holds {
				next = i
				break
			}
		}
		if next < 0 {
			return coll.Algorithm{}, fmt.Errorf("%s on %d processes: no alternative holds, MPICH would abort", call.Collective, call.Processes)
		}
		o = o[next].Value
	}
	return coll.Algorithm{}, fmt.Errorf("%s: tree deeper than %d", call.Collective, mpichtree.MaxDepth)
}

// leafAlgorithm reads algorithm=NAME with its parameters, which are keys too.
func leafAlgorithm(m mpichtree.Member) (coll.Algorithm, error) {
	var params []coll.Param
	for _, p := range m.Value {
		name, value, _ := strings.Cut(p.Key, "=")
		params = append(params, coll.Param{Name: name, Value: value})
	}
	alg, err := coll.NewAlgorithm(strings.TrimPrefix(m.Key, mpichtree.LeafKey), params...)
	if err != nil {
		return coll.Algorithm{}, fmt.Errorf("leaf %s: %w", m.Key, err)
	}
	return alg, nil
}

// leaf is the inverse of leafAlgorithm: an object with one leaf.
func leaf(alg coll.Algorithm) mpichtree.Object {
	var params mpichtree.Object
	for _, p := range alg.Params() {
		params = append(params, mpichtree.Member{Key: p.Name + "=" + p.Value})
	}
	return mpichtree.Object{alt(mpichtree.LeafKey+alg.Name, params)}
}
