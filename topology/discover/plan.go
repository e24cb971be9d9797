package discover

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Plan is what a start of the program measures.
type Plan struct {
	Nodes, PPN int
	Bytes      int     // of the large message
	Passes     int     // most times that a stage measures every pair
	Precision  float64 // relative spread of a time that ends a stage
	Seconds    float64 // after which a stage ends
	Inside     bool    // whether the ranks of each node meet
	Rounds     int     // in which the first ranks of the nodes meet; All for a whole tournament

	Chosen  [][][2]string // rounds of disjoint pairs of hosts
	Classes []Class       // of which an example is measured
}

// All is the number of rounds in which every node meets every other.
const All = math.MaxInt32

// Text returns the plan as the program reads it; csource/pairs has its grammar.
func (p Plan) Text() []byte {
	inside := "no"
	if p.Inside {
		inside = "yes"
	}
	text := fmt.Appendf(nil, "tutti-pairs-plan 1\nnodes %d\nppn %d\nbytes %d\npasses %d\nprecision %s\nseconds %s\ninside %s\nbetween %d\n",
		p.Nodes, p.PPN, p.Bytes, p.Passes, decimal(p.Precision), decimal(p.Seconds), inside, p.Rounds)
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

func decimal(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// Deal returns rounds in which each of the pairs is once and no host twice, as few as
// taking pairs in their order gives.
func Deal(pairs [][2]string) [][][2]string {
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

// plain reports whether a name can stand in a plan.
func plain(name string) bool {
	return name != "" && len(name) < 128 && !strings.ContainsAny(name, " \t\r\n")
}
