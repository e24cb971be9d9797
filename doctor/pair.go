package doctor

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// pairing is what came of two processes that sum a number.
type pairing struct {
	State   State
	Text    string
	OneRank bool // worlds of one rank each
	Hosts   []string
}

// pairRanks are the ranks of the program; no check starts more.
const pairRanks = 2

var rankForm = regexp.MustCompile(`tutti-doctor: rank ([0-9]{1,6}) of ([0-9]{1,6}) sum (-?[0-9]{1,9}) on (\S{1,256})`)

// pairSaid is what the ranks of the program have printed.
type pairSaid struct {
	ranks, sizes, sums []int
	hosts              []string
	ended              int
}

// parsePair reads what the ranks have printed. Launchers may put tags before lines.
func parsePair(stdout string) pairSaid {
	s := pairSaid{ended: strings.Count(stdout, " ended\n")}
	for _, m := range rankForm.FindAllStringSubmatch(stdout, -1) {
		rank, _ := strconv.Atoi(m[1]) // digits by the form
		size, _ := strconv.Atoi(m[2])
		sum, _ := strconv.Atoi(m[3])
		s.ranks, s.sizes, s.sums = append(s.ranks, rank), append(s.sizes, size), append(s.sums, sum)
		if host := printable(m[4]); !slices.Contains(s.hosts, host) {
			s.hosts = append(s.hosts, host)
		}
	}
	slices.Sort(s.ranks)
	slices.Sort(s.hosts)
	return s
}

// apart reports whether every rank had a world of its own.
func (s pairSaid) apart() bool {
	return len(s.sizes) > 0 && !slices.ContainsFunc(s.sizes, func(n int) bool { return n != 1 })
}

// together reports whether both ranks were in one world.
func (s pairSaid) together() bool {
	return slices.Equal(s.ranks, []int{0, 1}) && !slices.ContainsFunc(s.sizes, func(n int) bool { return n != pairRanks })
}

// pairingOf says what came of a run of the program.
func pairingOf(r result) pairing {
	said := parsePair(r.Stdout)
	p := pairing{State: Missing, Hosts: said.hosts, OneRank: said.apart()}
	switch {
	case p.OneRank:
		p.Text = fmt.Sprintf("starts %s instead of one world of %d processes", count(len(said.sizes), "world of one process", "worlds of one process"), pairRanks)
	case r.TimedOut:
		p.Text = said.silence(r)
	case !said.together():
		p.Text = "does not start two processes"
		if r.Err != nil {
			p.Text += ": " + r.said()
		}
	case slices.ContainsFunc(said.sums, func(n int) bool { return n != 3 }): // 1 + 2
		p.Text = fmt.Sprintf("two processes, but their sum is wrong: %v", said.sums)
	case r.Err != nil:
		p.State, p.Text = Warning, fmt.Sprintf("two processes ran, then it ended with %d: %s", r.Code, r.said())
	default:
		p.State, p.Text = OK, fmt.Sprintf("two processes, one world, %.1f s", r.Took.Seconds())
	}
	return p
}

// silence says where a run that took too long was.
func (s pairSaid) silence(r result) string {
	if len(s.ranks) == pairRanks && s.ended < pairRanks {
		return fmt.Sprintf("both processes answered, then MPI_Finalize hung for %v", r.Took.Round(time.Second))
	}
	text := fmt.Sprintf("no end within %v", r.Took.Round(time.Second))
	if said := r.said(); said != "" && len(s.ranks) == 0 && strings.TrimSpace(r.Stderr+r.Stdout) != "" {
		text += ": " + said
	}
	return text
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
