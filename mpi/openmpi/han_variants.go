package openmpi

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"tutti/coll"
	"tutti/mpi"
	"tutti/selection"
)

// Numbers of the algorithms of coll/han in tutti's catalogue. Rules of coll/tuned select algorithms by smaller
// numbers, which are the library's own.
//
// The algorithm with the number hanID is the library's default on several nodes. It divides messages into segments.
// The size of segments is a setting of a whole job. The algorithm with the number hanSimpleID calls one component
// between the nodes and another one within the nodes. Rules of coll/han set these two components for each message
// size. Source: coll_han_bcast.c, coll_han_reduce.c and coll_han_allreduce.c, 5.0.7.
const (
	hanID       = 101
	hanSimpleID = 102
)

func isHan(id int) bool { return id == hanID || id == hanSimpleID }

// hanSegment is the library's size of segments in bytes (coll_han_component.c).
const hanSegment = 65536

// checkParts returns an error for an algorithm of coll/han with an unknown component.
func checkParts(cat *mpi.Catalogue, c coll.Collective, alg coll.Algorithm) error {
	for _, name := range []string{"inter", "intra"} {
		if value, ok := alg.Param(name); ok && value != "tuned" && value != "basic" {
			return fmt.Errorf("%s %s %s %s: parameter %s: %w: want tuned or basic", cat.Library, cat.Version, c, alg, name, mpi.ErrUnknown)
		}
	}
	return nil
}

// forceHan returns the settings that force an algorithm of coll/han. As in exported settings, they turn off the
// components that would take calls before coll/han.
func forceHan(cat *mpi.Catalogue, e mpi.Entry, c coll.Candidate) (mpi.Forcing, error) {
	r, err := ruleOf(c.Collective, c.Algorithm, c.Ranks(), cat)
	if err != nil {
		return mpi.Forcing{}, fmt.Errorf("%w: %w", mpi.ErrInfeasible, err)
	}
	prefix := "coll_han_" + string(c.Collective)
	switches := []mpi.Switch{
		{Name: "coll_han_use_" + string(c.Collective) + "_algorithm", Value: e.ID - hanID + 1},
		{Name: prefix + "_segsize", Value: cmp.Or(int(r.SegSize), hanSegment)},
		{Name: prefix + "_dynamic_" + between + "_module", Value: r.part(between)},
		{Name: prefix + "_dynamic_" + within + "_module", Value: r.part(within)},
	}
	return newForcing(disable(build{cat}.turnedOff()), switches), nil
}

func (r rule) part(level string) int {
	if level == between && r.BasicInter || level == within && r.BasicIntra {
		return componentBasic
	}
	return componentTuned
}

// withoutHan returns the rules of coll/tuned. Where a rule selects an algorithm of coll/han, the returned rule
// leaves the call to the library.
func withoutHan(rules classicRules) classicRules {
	out := slices.Clone(rules)
	for i, c := range out {
		out[i].Blocks = slices.Clone(c.Blocks)
		for k, b := range c.Blocks {
			kept := slices.Clone(b.Rules)
			for m, r := range kept {
				if isHan(r.Algorithm) {
					kept[m] = rule{Size: r.Size}
				}
			}
			out[i].Blocks[k].Rules = slices.CompactFunc(kept, sameChoice)
		}
	}
	return out
}

// segments returns the Open MPI variables that set the segment sizes of the component coll/han, for jobs of one
// layout. Each collective gets the size in its first rule that selects coll/han.
func segments(rules classicRules, job coll.Layout) []mpi.Setting {
	var out []mpi.Setting
	for _, c := range rules {
		for _, r := range rules.block(c.Collective, job.Ranks()) {
			if r.Algorithm == hanID {
				out = append(out, mpi.Setting{Name: segmentVariable(c.Collective), Value: strconv.FormatInt(r.SegSize, 10)})
				break
			}
		}
	}
	return out
}

func segmentVariable(c coll.Collective) string {
	return mcaPrefix + "coll_han_" + string(c) + "_segsize"
}

// oneSegment removes options so that all options of a layout and collective can run with one segment size. A size is
// considered if each point then keeps an option that is not slower than the default. The library's own size is always
// considered. Of these sizes oneSegment takes the one with the shortest times: the sum of the logarithms of the
// fastest times of all points is the least.
//
// If the size differs from the library's own, the default would run with it, too, and was not measured like that.
// oneSegment then removes the default for messages that the two sizes divide differently.
func oneSegment(rows []selection.Row) []selection.Row {
	type group struct {
		coll.Collective
		coll.Layout
	}
	sizes := map[group][]int64{}
	for _, r := range rows {
		g := group{r.Point.Collective, r.Point.Layout()}
		for _, o := range r.Options {
			if n := segmentOf(o.Algorithm); n > 0 && !slices.Contains(sizes[g], n) {
				sizes[g] = append(sizes[g], n)
			}
		}
	}
	out := slices.Clone(rows)
	for g, each := range sizes {
		least, kept := math.Inf(1), int64(0)
		for _, size := range append([]int64{0}, slices.Sorted(slices.Values(each))...) {
			sum := 0.0
			for _, r := range rows {
				if (group{r.Point.Collective, r.Point.Layout()}) != g {
					continue
				}
				best := fastest(allowed(r, size))
				sum += math.Log(best)
				if slices.ContainsFunc(r.Options, func(o selection.Option) bool { return o.Algorithm.IsDefault() && o.Seconds < best }) {
					sum = math.Inf(1)
				}
			}
			if sum < least {
				least, kept = sum, size
			}
		}
		for i, r := range out {
			if (group{r.Point.Collective, r.Point.Layout()}) == g {
				out[i] = allowed(r, kept)
			}
		}
	}
	return out
}

func segmentOf(a coll.Algorithm) int64 {
	text, ok := a.Param("segsize")
	if a.Name != "han" || !ok {
		return 0
	}
	n, _ := strconv.ParseInt(text, 10, 64)
	return n
}

// allowed removes the options of a row that were measured with another segment size, in bytes, than `size`. This
// includes the default if its messages would be divided differently. Size 0 stands for the library's own segment
// size.
func allowed(r selection.Row, size int64) selection.Row {
	bytes := r.Point.Count() * r.Point.Collective.ElementBytes()
	r.Options = slices.DeleteFunc(slices.Clone(r.Options), func(o selection.Option) bool {
		if own := segmentOf(o.Algorithm); own > 0 {
			return own != size
		}
		return o.Algorithm.IsDefault() && size > 0 && bytes > min(size, hanSegment)
	})
	return r
}

func fastest(r selection.Row) float64 {
	least := math.Inf(1)
	for _, o := range r.Options {
		least = min(least, o.Seconds)
	}
	return least
}

// onePart removes options so that allreduce does not disturb reduce and bcast. The algorithm "simple" of allreduce
// calls reduce and bcast within the nodes, where their rules apply, too. If "simple" is the fastest at some point,
// reduce and bcast lose their options with coll/basic within the nodes. Otherwise "simple" is removed from allreduce.
func onePart(rows []selection.Row) []selection.Row {
	isSimple := func(o selection.Option) bool { return o.Algorithm.Name == "han_simple" }
	pays := slices.ContainsFunc(rows, func(r selection.Row) bool {
		best := func(o selection.Option) bool { return isSimple(o) && o.Seconds <= fastest(r) }
		return r.Point.Collective == coll.Allreduce && slices.ContainsFunc(r.Options, best)
	})
	out := slices.Clone(rows)
	for i, r := range out {
		out[i].Options = slices.DeleteFunc(slices.Clone(r.Options), func(o selection.Option) bool {
			part, _ := o.Algorithm.Param("intra")
			if r.Point.Collective == coll.Allreduce {
				return isSimple(o) && !pays
			}
			return isSimple(o) && pays && part == "basic"
		})
	}
	return out
}
