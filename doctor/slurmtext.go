package doctor

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"tutti/benchrunner/slurm"
)

var pingForm = regexp.MustCompile(`Slurmctld\(([^)]*)\) at (\S+) is ([A-Z]+)`)

// parsePing returns the state of the first controller that is up, else of the
// first, and its host.
func parsePing(text string) (state, host string) {
	for _, m := range pingForm.FindAllStringSubmatch(text, -1) {
		if state == "" || m[3] == "UP" {
			state, host = m[3], printable(m[2])
		}
		if state == "UP" {
			break
		}
	}
	return state, host
}

var slurmVersionForm = regexp.MustCompile(`^slurm(?:-wlm)? ([0-9][0-9A-Za-z.-]{0,31})`)

// parseSlurmVersion reads what any command says to --version; empty when that is
// something else.
func parseSlurmVersion(text string) string {
	if m := slurmVersionForm.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}

// partition is where jobs go.
type partition struct {
	slurm.Partition
	idle, usable int // nodes
}

// parsePartitions reads scontrol --oneliner show partition.
func parsePartitions(text string) []partition {
	var out []partition
	for _, p := range slurm.ParsePartitions(text) {
		for _, s := range []*string{&p.Name, &p.State, &p.MaxTime, &p.MaxNodes} {
			*s = printable(*s)
		}
		out = append(out, partition{Partition: p})
	}
	return out
}

// number reads a count; what is no count is 0.
func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// nodeCount is how many nodes of a partition are idle, and how many work at all.
type nodeCount struct{ idle, usable int }

// parseSinfo reads sinfo --format=%R|%D|%t: partition, nodes, state. A state ends
// in * when the node does not answer, and in ~ or # when it sleeps or wakes up.
func parseSinfo(text string) map[string]nodeCount {
	out := map[string]nodeCount{}
	for line := range strings.Lines(text) {
		f := strings.Split(strings.TrimSpace(line), "|")
		if len(f) != 3 {
			continue
		}
		n, c := number(f[1]), out[f[0]]
		switch strings.TrimRight(f[2], "~#!%$@^-+") {
		case "idle":
			c.idle += n
			c.usable += n
		case "alloc", "mix", "comp", "resv", "plnd":
			c.usable += n
		}
		out[f[0]] = c
	}
	return out
}

// parseConfig reads the "Name = value" lines of scontrol show config.
func parseConfig(text string) map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(text) {
		name, value, is := strings.Cut(line, "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if is && name != "" && !strings.Contains(name, " ") && value != "(null)" {
			out[name] = printable(value)
		}
	}
	return out
}

// seconds reads "300 sec".
func seconds(s string) (int, bool) {
	number, unit, _ := strings.Cut(s, " ")
	n, err := strconv.Atoi(number)
	return n, err == nil && n >= 0 && unit == "sec"
}

var startForm = regexp.MustCompile(`to start at ([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}) using [0-9]+ processors on nodes (\S+)`)

// startsIn tells when sbatch --test-only thinks that a job could start.
func startsIn(text string, now time.Time) string {
	m := startForm.FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	at, err := time.ParseInLocation("2006-01-02T15:04:05", m[1], now.Location())
	if err != nil {
		return ""
	}
	wait := at.Sub(now).Round(time.Minute)
	if wait <= time.Minute {
		return ", to start now"
	}
	return ", to start in " + strings.TrimSuffix(wait.String(), "0s")
}
