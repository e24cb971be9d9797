package settings

import (
	"errors"
	"fmt"

	"tutti/coll"
	"tutti/mpi"
	"tutti/selection"
)

// jobSyntax is the syntax of variables whose value holds for all calls of a job, such as a name or a number of an
// algorithm, a switch or a threshold. Several variables may make up one algorithm. An exported selection has settings
// for each layout, and a collective has the same algorithm at every size.
type jobSyntax struct{ sizesSyntax }

func (jobSyntax) settings(b build, t *selection.Tree) ([]mpi.Setting, error) {
	alg := coll.Default
	if len(t.Comms) != 1 || len(t.Comms[0].PPNs) != 1 {
		return nil, errors.New("values for a job know no ranks: fit the selection for each layout")
	}
	for _, band := range t.Comms[0].PPNs[0].Bands {
		switch {
		case band.Algorithm.IsDefault() && alg.IsDefault(): // sizes below the tuned ones
		case alg.IsDefault():
			alg = band.Algorithm
		case band.Algorithm != alg:
			return nil, errors.New("values for a job know no sizes: fit the selection for each layout")
		}
	}
	e, err := b.cat.Lookup(t.Collective, alg)
	if err != nil {
		return nil, err
	}
	return jobSyntax{}.forced(b, t.Collective, e, alg), nil
}

func (jobSyntax) forced(b build, collective coll.Collective, e mpi.Entry, alg coll.Algorithm) []mpi.Setting {
	var out []mpi.Setting
	for _, v := range b.of(collective) {
		if value, ok := v.set(e, alg); ok {
			out = append(out, mpi.Setting{Name: v.name, Value: value})
		}
	}
	return out
}

func (jobSyntax) selects(b build, set []mpi.Setting, p coll.Point, alg coll.Algorithm) error {
	var want []mpi.Setting
	if !alg.IsDefault() {
		e, err := b.cat.Lookup(p.Collective, alg)
		if err != nil {
			return err
		}
		want = jobSyntax{}.forced(b, p.Collective, e, alg)
	}
	for _, v := range b.of(p.Collective) {
		got, set := b.tuned(set, v.name)
		wanted, needed := b.tuned(want, v.name)
		if set != needed || set && got != wanted {
			return fmt.Errorf("the settings have %s=%q: want %q for %v", v.name, got, wanted, alg)
		}
	}
	return nil
}
