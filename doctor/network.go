package doctor

import (
	"fmt"

	"tutti/topology/discover"
)

// NetworkFindings are what pairs of nodes tell of a machine.
type NetworkFindings struct {
	Nodes      int
	Latency    discover.SuspectReport // by empty messages
	Bandwidth  discover.SuspectReport // by large ones
	Bisections []Bisection
	Gaps       []string
}

// Bisection is what the two halves of a switch exchange when all their nodes do at once.
type Bisection struct {
	Switch   string
	Pairs    int
	Bytes    float64 // a second, in both directions together
	Slowdown float64 // of a pair, over one pair alone
	Chance   float64 // that pairs which do not disturb one another look like this
}

// Of a bisection that is worth a word.
const (
	leastOversubscribed = 1.5
	mostChance          = 0.05
)

// NetworkChecks says what is slow: nodes, links, and switches whose halves get less
// together than pairs do alone.
func NetworkChecks(f NetworkFindings) []Check {
	checks := []Check{ok(Network, "nodes", fmt.Sprintf("%d nodes; noise of a pair %.2g %% (empty messages), %.2g %% (large ones)",
		f.Nodes, 100*f.Latency.Noise, 100*f.Bandwidth.Noise))}
	checks[0].Details = append(checks[0].Details, f.Gaps...)
	for _, of := range []struct {
		discover.SuspectReport
		what string
	}{{f.Latency, "empty messages"}, {f.Bandwidth, "large messages"}} {
		if of.LeftOut > 0 {
			checks[0].Details = append(checks[0].Details, fmt.Sprintf("%d pairs say nothing by %s: too few meet at the same height", of.LeftOut, of.what))
		}
		for _, s := range of.Suspects {
			text := fmt.Sprintf("%s take %.2g times as long as usual, %d pairs; by chance: %s", of.what, s.Slowdown, s.Pairs, chance(s.Chance))
			checks = append(checks, Check{Network, s.Component.String(), Warning, []string{text}, "leave it out of campaigns until it is fixed"})
		}
		for _, p := range of.Unclear {
			checks = append(checks, Check{Network, p.String(), Warning, []string{of.what + ": looks slow, but is not told from what all its pairs pass besides"}, "measure it with others"})
		}
	}
	for _, b := range f.Bisections {
		checks = append(checks, b.check())
	}
	return checks
}

func (b Bisection) check() Check {
	text := fmt.Sprintf("%.3g GB/s between its halves, %d pairs at once: each %.2g times as long as alone; by chance: %s", b.Bytes/1e9, b.Pairs, b.Slowdown, chance(b.Chance))
	c := ok(Network, "switch "+b.Switch, text)
	if b.Slowdown >= leastOversubscribed && b.Chance <= mostChance {
		return c.with(Warning, "it is oversubscribed: keep jobs below one switch where messages are large")
	}
	return c
}

// chance is a probability as nobody reads it too exactly.
func chance(p float64) string {
	const least = 1e-9
	if p < least {
		return "less than 1e-9"
	}
	return fmt.Sprintf("%.2g", p)
}
