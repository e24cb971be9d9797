package benchrunner

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// maxHosts bounds what a list of nodes may stand for.
const maxHosts = 1 << 16

// Hosts returns the names that a list as Slurm writes it stands for, in its order:
// n[1-3,07-09],login gives n1, n2, n3, n07, n08, n09 and login.
func Hosts(list string) ([]string, error) {
	var out []string
	for _, word := range splitHosts(list) {
		names, err := expandHosts(word, maxHosts-len(out))
		if err != nil {
			return nil, fmt.Errorf("list of nodes %q: %w", list, err)
		}
		out = append(out, names...)
	}
	return out, nil
}

// splitHosts splits at the commas outside of brackets.
func splitHosts(list string) []string {
	var out []string
	depth, begin := 0, 0
	for i, r := range list {
		switch {
		case r == '[':
			depth++
		case r == ']':
			depth--
		case r == ',' && depth == 0:
			out = append(out, list[begin:i])
			begin = i + 1
		}
	}
	return append(out, list[begin:])
}

var hostForm = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)

// expandHosts expands the first bracket of a word, and the others after it.
func expandHosts(word string, most int) ([]string, error) {
	head, rest, bracket := strings.Cut(word, "[")
	if !bracket {
		if !hostForm.MatchString(word) {
			return nil, fmt.Errorf("%q: want letters, digits, ._- and numbers in brackets", word)
		}
		return []string{word}, nil
	}
	inside, tail, closed := strings.Cut(rest, "]")
	if !closed {
		return nil, fmt.Errorf("%q: want a ] behind the [", word)
	}
	var out []string
	for part := range strings.SplitSeq(inside, ",") {
		low, high, isRange := strings.Cut(part, "-")
		if !isRange {
			high = low
		}
		from, err := strconv.ParseUint(low, 10, 31)
		to, err2 := strconv.ParseUint(high, 10, 31)
		if err != nil || err2 != nil || from > to || to-from >= uint64(max(0, most-len(out))) {
			return nil, fmt.Errorf("%q: %q: want a number or a range as 1-8, %d nodes at most", word, part, maxHosts)
		}
		for n := from; n <= to; n++ {
			names, err := expandHosts(fmt.Sprintf("%s%0*d%s", head, len(low), n, tail), most-len(out))
			if err != nil {
				return nil, err
			}
			out = append(out, names...)
		}
	}
	return out, nil
}

var topologyForm = regexp.MustCompile(`(?m)^SwitchName=(\S+) Level=0 .*\bNodes=(\S+)`)

// ParseTopology returns the names of the nodes of each leaf switch in what Slurm's
// scontrol show topology says.
func ParseTopology(text string) ([][]string, error) {
	var out [][]string
	for _, m := range topologyForm.FindAllStringSubmatch(text, -1) {
		names, err := Hosts(m[2])
		if err != nil {
			return nil, fmt.Errorf("switch %s: %w", m[1], err)
		}
		out = append(out, names)
	}
	return out, nil
}
