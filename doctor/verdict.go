package doctor

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// verdict is what two processes made of the probe.
type verdict struct {
	State   State
	Text    string
	OneRank bool // worlds of one process each
	Hosts   []string
}

// processes of a probe; no check starts more.
const processes = 2

var rankForm = regexp.MustCompile(`tutti-doctor: rank ([0-9]{1,6}) of ([0-9]{1,6}) sum (-?[0-9]{1,9}) on (\S{1,256})`)

// judge reads what the processes of the probe printed. Launchers may put tags
// before lines.
func judge(r result) verdict {
	var ranks, sizes, sums []int
	var hosts []string
	for _, m := range rankForm.FindAllStringSubmatch(r.Stdout, -1) {
		rank, _ := strconv.Atoi(m[1]) // digits by the form
		size, _ := strconv.Atoi(m[2])
		sum, _ := strconv.Atoi(m[3])
		ranks, sizes, sums = append(ranks, rank), append(sizes, size), append(sums, sum)
		if host := printable(m[4]); !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
	}
	ended := strings.Count(r.Stdout, " ended\n")
	slices.Sort(ranks)
	slices.Sort(hosts)
	v := verdict{State: Missing, Hosts: hosts}
	not := func(want int) func(int) bool { return func(n int) bool { return n != want } }
	switch {
	case len(sizes) > 0 && !slices.ContainsFunc(sizes, not(1)):
		v.OneRank = true
		v.Text = fmt.Sprintf("starts %s instead of one world of %d processes", count(len(sizes), "world of one process", "worlds of one process"), processes)
	case r.TimedOut && len(ranks) == processes && ended < processes:
		v.Text = fmt.Sprintf("both processes answered, then MPI_Finalize hung for %v", r.Took.Round(time.Second))
	case r.TimedOut:
		v.Text = fmt.Sprintf("no end within %v", r.Took.Round(time.Second))
		if said := r.said(); said != "" && len(ranks) == 0 && strings.TrimSpace(r.Stderr+r.Stdout) != "" {
			v.Text += ": " + said
		}
	case !slices.Equal(ranks, []int{0, 1}) || slices.ContainsFunc(sizes, not(processes)):
		v.Text = "does not start two processes"
		if r.Err != nil {
			v.Text += ": " + r.said()
		}
	case slices.ContainsFunc(sums, not(3)): // 1 + 2
		v.Text = fmt.Sprintf("two processes, but their sum is wrong: %v", sums)
	case r.Err != nil:
		v.State, v.Text = Warning, fmt.Sprintf("two processes ran, then it ended with %d: %s", r.Code, r.said())
	default:
		v.State, v.Text = OK, fmt.Sprintf("two processes, one world, %.1f s", r.Took.Seconds())
	}
	return v
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
