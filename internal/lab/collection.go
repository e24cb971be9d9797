package lab

import (
	"context"
	"strconv"
)

// fig8 shows the machine time to collect training sets at random and by active
// learning, summed over the sets, and which of them meet the criteria. The random
// ones are the same with and without scaling; the selections are not.
func fig8(ctx context.Context, sets []Set, seeds []uint64, opt Options) (Figure, error) {
	sources := []source{plain, rescale, fact}
	all, err := samples(ctx, sets, seeds, opt, sources)
	if err != nil {
		return Figure{}, err
	}
	f := Figure{
		Title:  "Time to collect training sets: sum of the data sets, " + strconv.Itoa(len(seeds)) + " seeds",
		Header: []string{"series", "share_percent", "machine_seconds", "low", "high", "slowdown", "mistakes", "meets_criteria", "seeds"},
	}
	p := sharePanel("machine time, s")
	p.log, p.legend = true, true
	p.note = "filled: meets the criteria; hollow: does not"
	for i, src := range sources {
		line := series{name: src.name}
		for _, share := range figureShares {
			here := func(s sample) bool { return s.source == i && s.share == share }
			seconds := totals(all, len(seeds), here)
			slowdown := average(all, slowdownMetric.pick, here)
			mistakes := average(all, func(q Quality) (float64, bool) { return q.Mistakes, true }, here)
			good := slowdown.mean < opt.Criteria.Slowdown && mistakes.mean < opt.Criteria.Mistakes
			line.add(sharePosition(share), seconds)
			line.filled = append(line.filled, good)
			f.Rows = append(f.Rows, []string{
				src.name, percent(share), number(seconds.mean), number(seconds.low), number(seconds.high),
				number(slowdown.mean), number(mistakes.mean), strconv.FormatBool(good), strconv.Itoa(seconds.runs),
			})
		}
		p.series = append(p.series, line)
	}
	f.panels = []panel{p}
	return f, nil
}

// totals sums the collection time over the sets, seed by seed.
func totals(all []sample, seeds int, wanted func(sample) bool) averages {
	sums := make([]float64, seeds)
	for _, s := range all {
		if wanted(s) {
			sums[s.seed] += s.seconds
		}
	}
	var a averages
	for _, v := range sums {
		a.take(v)
	}
	return a
}
