package live

import (
	"math"

	"tutti/coll"
)

// part is what is known of the wall time of one start, in seconds; of one that ran on
// some of the nodes, that share of it.
type part struct {
	wall, warmup, measure float64
	cases                 []float64 // wall time of each case, the program's figures
	decided               []bool    // which cases have a trial
}

// scaled is the part of the same start on some of the nodes of its job.
func (p part) scaled(share float64) part {
	q := part{wall: p.wall * share, warmup: p.warmup * share, measure: p.measure * share, decided: p.decided}
	for _, c := range p.cases {
		q.cases = append(q.cases, c*share)
	}
	return q
}

// stretched returns the parts of starts that ran side by side as long together as the
// job was held: nodes that nobody used are paid in proportion.
func stretched(parts []part, held float64) []part {
	walls := 0.0
	for _, p := range parts {
		walls += clean(p.wall)
	}
	if walls == 0 || held <= walls {
		return parts
	}
	var out []part
	for _, p := range parts {
		out = append(out, p.scaled(held/walls))
	}
	return out
}

// spent splits the time a job was held. held is at least the sum of the starts.
func spent(parts []part, held, queue float64) coll.Spent {
	s := coll.Spent{Queue: clean(queue)}
	walls := 0.0
	for _, p := range parts {
		wall := clean(p.wall)
		warmup, measure := clean(p.warmup), clean(p.measure)
		if sum := warmup + measure; sum > wall { // more than there was
			warmup, measure = warmup*wall/sum, measure*wall/sum
		}
		s.Warmup += warmup
		s.Measure += measure
		s.Launch += max(0, wall-warmup-measure)
		walls += wall
	}
	s.Idle = max(0, clean(held)-walls)
	return s
}

// shares deals held to the decided cases: to each its own time, the rest of a start
// equally to its cases, all else equally to all. The sum is held when any case is
// decided.
func shares(parts []part, held float64) [][]float64 {
	out := make([][]float64, len(parts))
	count, left := 0, held
	for i, p := range parts {
		out[i] = p.shares(&left)
		for _, s := range p.decided {
			if s {
				count++
			}
		}
	}
	for i, p := range parts {
		for k, s := range p.decided {
			if s {
				out[i][k] += max(0, left) / float64(count)
			}
		}
	}
	return out
}

// shares deals the wall time of one start and takes it from left.
func (p part) shares(left *float64) []float64 {
	out := make([]float64, len(p.decided))
	count, sum := 0, 0.0
	for k, s := range p.decided {
		if s {
			count++
			out[k] = clean(p.cases[k])
			sum += out[k]
		}
	}
	if count == 0 {
		return out
	}
	wall := clean(p.wall)
	for k, s := range p.decided {
		switch {
		case !s:
		case sum > wall:
			out[k] *= wall / sum
		default:
			out[k] += (wall - sum) / float64(count)
		}
	}
	*left -= wall
	return out
}

// clean makes nothing of what is no time.
func clean(seconds float64) float64 {
	if !(seconds > 0) || math.IsInf(seconds, 0) {
		return 0
	}
	return seconds
}
