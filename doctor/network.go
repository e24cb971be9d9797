package doctor

import (
	"fmt"

	"tutti/topology/discover"
)

// A switch counts as oversubscribed if it slows pairs down by more than the factor leastOversubscribed. The
// probability that this happens by chance must be below mostChance.
const (
	leastOversubscribed = 1.5
	mostChance          = 0.05
)

// NetworkChecks returns a summary of the measured nodes, and warnings for slow nodes, slow links and
// oversubscribed switches. A switch is oversubscribed if its pairs are slower when they communicate at the
// same time.
func NetworkChecks(f *discover.NetworkReport) []Check {
	checks := []Check{ok(Network, "nodes", fmt.Sprintf("%d nodes; noise of a pair %.2g %% (empty messages), %.2g %% (large ones)",
		f.Nodes, 100*f.Latency.Noise, 100*f.Bandwidth.Noise))}
	checks[0].Details = append(checks[0].Details, f.Gaps...)
	for _, of := range []struct {
		discover.SuspectReport
		what string
	}{{f.Latency, "empty messages"}, {f.Bandwidth, "large messages"}} {
		if of.LeftOut > 0 {
			checks[0].Details = append(checks[0].Details, fmt.Sprintf("%d pairs with %s are not judged: too few pairs meet at the same height of the tree", of.LeftOut, of.what))
		}
		for _, s := range of.Suspects {
			text := fmt.Sprintf("%s take %.2g times as long as usual, %d pairs; by chance: %s", of.what, s.Slowdown, s.Pairs, chance(s.Chance))
			checks = append(checks, Check{Network, s.Component.String(), Warning, []string{text}, "leave it out of campaigns until it is fixed"})
		}
		for _, p := range of.Unclear {
			checks = append(checks, Check{Network, p.String(), Warning, []string{of.what + ": looks slow, but all its pairs pass another component, too"}, "measure it with other partners"})
		}
	}
	for _, b := range f.Bisections {
		checks = append(checks, bisectionCheck(b))
	}
	return checks
}

func bisectionCheck(b discover.Bisection) Check {
	text := fmt.Sprintf("%.3g GB/s between its halves, %d pairs at once: each %.2g times as long as alone; by chance: %s", b.Bytes/1e9, b.Pairs, b.Slowdown, chance(b.Chance))
	c := ok(Network, "switch "+b.Switch, text)
	if b.Slowdown >= leastOversubscribed && b.Chance <= mostChance {
		return c.with(Warning, "it is oversubscribed: keep jobs below one switch where messages are large")
	}
	return c
}

func chance(p float64) string {
	if p < 1e-9 {
		return "less than 1e-9"
	}
	return fmt.Sprintf("%.2g", p)
}
