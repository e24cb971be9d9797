package doctor

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"tutti/internal/lazyregexp"
)

// pairing is the result of running the probe, a small MPI program that adds numbers over two processes.
type pairing struct {
	State   State
	Text    string
	OneRank bool // every process has a world of one rank
	Hosts   []string
}

// pairRanks is the number of processes with which the probe runs. No check starts more processes.
const pairRanks = 2

var rankForm = lazyregexp.New(`tutti-doctor: rank ([0-9]{1,6}) of ([0-9]{1,6}) sum (-?[0-9]{1,9}) on (\S{1,256})`)

type pairOutput struct {
	ranks, sizes, sums []int
	hosts              []string
	ended              int
}

func parsePair(stdout string) pairOutput {
	s := pairOutput{ended: strings.Count(stdout, " ended\n")}
	for _, m := range rankForm.FindAllStringSubmatch(stdout, -1) {
		rank, _ := strconv.Atoi(m[1]) // the pattern allows digits only
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

// apart reports whether every rank was the only one in its MPI_COMM_WORLD.
func (s pairOutput) apart() bool {
	return len(s.sizes) > 0 && !slices.ContainsFunc(s.sizes, func(n int) bool { return n != 1 })
}

func (s pairOutput) together() bool {
	return slices.Equal(s.ranks, []int{0, 1}) && !slices.ContainsFunc(s.sizes, func(n int) bool { return n != pairRanks })
}

func pairingOf(r result) pairing {
	output := parsePair(r.Stdout)
	p := pairing{State: Missing, Hosts: output.hosts, OneRank: output.apart()}
	switch {
	case p.OneRank:
		p.Text = fmt.Sprintf("starts %s instead of one world of %d processes", count(len(output.sizes), "world of one process", "worlds of one process"), pairRanks)
	case r.TimedOut:
		p.Text = output.silence(r)
	case !output.together():
		p.Text = "does not start two processes"
		if r.Err != nil {
			p.Text += ": " + r.message()
		}
	case slices.ContainsFunc(output.sums, func(n int) bool { return n != 3 }): // the ranks add 1 and 2
		p.Text = fmt.Sprintf("two processes, but their sum is wrong: %v", output.sums)
	case r.Err != nil:
		p.State, p.Text = Warning, fmt.Sprintf("two processes ran, then it ended with %d: %s", r.Code, r.message())
	default:
		p.State, p.Text = OK, fmt.Sprintf("two processes, one world, %.1f s", r.Took.Seconds())
	}
	return p
}

func (s pairOutput) silence(r result) string {
	if len(s.ranks) == pairRanks && s.ended < pairRanks {
		return fmt.Sprintf("both processes answered, then MPI_Finalize hung for %v", r.Took.Round(time.Second))
	}
	text := fmt.Sprintf("no end within %v", r.Took.Round(time.Second))
	if message := r.message(); message != "" && len(s.ranks) == 0 && strings.TrimSpace(r.Stderr+r.Stdout) != "" {
		text += ": " + message
	}
	return text
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
