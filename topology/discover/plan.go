package discover

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Plan describes what one run of the pair benchmark measures.
type Plan struct {
	Nodes, PPN  int
	Bytes       int     // size of the large message
	Passes      int     // a stage measures every pair at most this often
	Repetitions int     // of each time of an example
	Precision   float64 // a stage ends when the relative error of its times falls to this value
	Seconds     float64 // a stage ends after this time
	Inside      bool    // measure the pairs of ranks inside each node
	Rounds      int     // number of tournament rounds between nodes; AllRounds for the whole tournament

	Chosen  [][][2]string // rounds of disjoint pairs of hosts
	Classes []Class       // classes of pairs to measure an example of
}

// AllRounds is a value of Plan.Rounds. It stands for as many rounds as are needed to pair every two nodes once.
const AllRounds = math.MaxInt32

// Text returns the plan in the format that csource/pairs reads.
func (p Plan) Text() []byte {
	inside := map[bool]string{false: "no", true: "yes"}[p.Inside]
	text := fmt.Appendf(nil, "tutti-pairs-plan 1\nnodes %d\nppn %d\nbytes %d\npasses %d\nrepetitions %d\nprecision %s\nseconds %s\ninside %s\nbetween %d\n",
		p.Nodes, p.PPN, p.Bytes, p.Passes, p.Repetitions, decimal(p.Precision), decimal(p.Seconds), inside, p.Rounds)
	for round, pairs := range p.Chosen {
		for _, pair := range pairs {
			text = fmt.Appendf(text, "pair %d %s %s\n", round, pair[0], pair[1])
		}
	}
	for _, c := range p.Classes {
		for _, pair := range c.Pairs {
			text = fmt.Appendf(text, "example %s %s %d %s %d\n", c.Name, pair.A.Host, pair.A.Rank, pair.B.Host, pair.B.Rank)
		}
	}
	return append(text, "end\n"...)
}

// ExampleRounds returns how many times the benchmark measures examples: consecutive classes whose pairs have no node in
// common are measured at the same time.
func (p Plan) ExampleRounds() int {
	rounds, taken := 0, map[string]bool{}
	for _, c := range p.Classes {
		a, b := c.Pairs[0].A.Host, c.Pairs[0].B.Host
		if rounds == 0 || taken[a] || taken[b] {
			clear(taken)
			rounds++
		}
		taken[a], taken[b] = true, true
	}
	return rounds
}

func decimal(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// DisjointRounds distributes pairs over rounds, so that a host is in at most one pair of each round. It
// puts each pair into the first possible round.
func DisjointRounds(pairs [][2]string) [][][2]string {
	var rounds [][][2]string
	var taken []map[string]bool
	for _, p := range pairs {
		i := slices.IndexFunc(taken, func(t map[string]bool) bool { return !t[p[0]] && !t[p[1]] })
		if i < 0 {
			i = len(taken)
			taken, rounds = append(taken, map[string]bool{}), append(rounds, nil)
		}
		taken[i][p[0]], taken[i][p[1]] = true, true
		rounds[i] = append(rounds[i], p)
	}
	return rounds
}

func fitsPlan(name string) bool {
	return name != "" && len(name) < 128 && !strings.ContainsAny(name, " \t\r\n")
}
