package verify

import "slices"

// This file estimates what is left of a pass while it runs.

// fewestRatios is the number of ratios of a point from which its further ones are predicted.
const fewestRatios = 3

// predicted is the logarithmic ratio that is expected of a point with fewer ratios than fewestRatios: clearly faster than
// the default, as most selections are.
const predicted = -1

// launchPoints is the number of points that take as long to measure as the launches of a block, where Options.BlockSeconds
// is not known.
const launchPoints = 6

// cost returns the expected cost of a block, in the unit of Event.Ahead.
func (m *measurer) cost(points []int) float64 {
	if m.opt.BlockSeconds == nil {
		return launchPoints + float64(len(points))
	}
	return m.opt.BlockSeconds(m.testPoints(points))
}

// bounded returns an expected cost, at most what the limit of machine time leaves.
func (m *measurer) bounded(cost float64) float64 {
	if most := m.opt.MachineTime.Seconds(); most > 0 && m.opt.BlockSeconds != nil {
		return min(cost, most-m.spent)
	}
	return cost
}

// ahead returns the expected cost of the blocks that are left of a pass. It applies the rules of the pass to the ratios
// that are expected if those of each point repeat.
func (m *measurer) ahead(stage Stage, seen []series, wants wantsBlock) float64 {
	cost, seen := m.stageAhead(seen, wants)
	if stage == Screening {
		if suspects := m.suspects(seen); len(suspects) > 0 {
			_, wants := m.confirmation(suspects, seen)
			second, _ := m.stageAhead(make([]series, len(seen)), wants)
			cost += second
		}
	}
	return cost
}

// stageAhead returns the expected cost of the blocks that are left of a stage, and the expected series of all points at its
// end.
func (m *measurer) stageAhead(seen []series, wants wantsBlock) (cost float64, end []series) {
	end = slices.Clone(seen)
	for {
		points := wants.of(end)
		if len(points) == 0 {
			return cost, end
		}
		cost += m.cost(points)
		for _, i := range points {
			end[i] = end[i].continued(seen[i])
		}
	}
}

// continued returns a series with one more block than s. The first blocks of s are those of `first`, which repeat.
func (s series) continued(first series) series {
	n := len(first.ratios)
	next := float64(predicted)
	switch {
	case n >= fewestRatios:
		next = s.ratios[len(s.ratios)-n]
	case n > 0:
	case first.tunedFailed > 0:
		s.tunedFailed++
		return s
	case first.blocks() > 0:
		s.unusable++
		return s
	}
	s.ratios = append(slices.Clip(s.ratios), next)
	return s
}
