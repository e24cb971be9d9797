package topology

import (
	"fmt"
	"strconv"
	"strings"

	"tutti/internal/lazyregexp"
)

const maxHosts = 1 << 16

// Hosts returns the names in a list of nodes in Slurm's notation, in order. For example, n[1-3,07-09],login
// gives n1, n2, n3, n07, n08, n09 and login. It returns an error if the list has more than 65536 names.
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

// hostForm matches names of at most 253 letters, the limit of DNS.
var hostForm = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,252}$`)

// expandHosts returns the names that a word with brackets stands for. `most` limits their
// number.
func expandHosts(word string, most int) ([]string, error) {
	head, rest, bracket := strings.Cut(word, "[")
	if !bracket {
		if !hostForm.MatchString(word) {
			return nil, fmt.Errorf("%.300q: want letters, digits, ._- and numbers in brackets, 253 characters at most, a letter or digit first", word)
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
		from, err := strconv.ParseUint(low, 10, 62)
		to, err2 := strconv.ParseUint(high, 10, 62)
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

type hostRange struct {
	prefix string
	first  string // digits of the first name; empty for a name without a number at its end
	count  int
}

func (r hostRange) name(i int) string {
	if r.first == "" {
		return r.prefix
	}
	from, _ := strconv.ParseUint(r.first, 10, 31) // rangeOf has checked the digits
	return fmt.Sprintf("%s%0*d", r.prefix, len(r.first), from+uint64(i))
}

// bracketed returns the range as it is written inside brackets, for example 07-09.
func (r hostRange) bracketed() string {
	if r.count == 1 {
		return r.first
	}
	return r.first + "-" + strings.TrimPrefix(r.name(r.count-1), r.prefix)
}

var endsInNumber = lazyregexp.New(`^(.*?)([0-9]{1,9})$`)

func rangeOf(name string) hostRange {
	if m := endsInNumber.FindStringSubmatch(name); m != nil {
		return hostRange{prefix: m[1], first: m[2], count: 1}
	}
	return hostRange{prefix: name, count: 1}
}

// HostList returns the shortest list in Slurm's notation for which Hosts returns the same names in the same
// order.
func HostList(names []string) string {
	var runs []hostRange
	for _, name := range names {
		if last := len(runs) - 1; last >= 0 && runs[last].first != "" && runs[last].name(runs[last].count) == name {
			runs[last].count++
			continue
		}
		runs = append(runs, rangeOf(name))
	}
	var words []string
	for len(runs) > 0 {
		same := 1
		for same < len(runs) && runs[0].first != "" && runs[same].first != "" && runs[same].prefix == runs[0].prefix {
			same++
		}
		words = append(words, hostWord(runs[:same]))
		runs = runs[same:]
	}
	return strings.Join(words, ",")
}

func hostWord(runs []hostRange) string {
	if len(runs) == 1 && runs[0].count == 1 {
		return runs[0].name(0)
	}
	var parts []string
	for _, r := range runs {
		parts = append(parts, r.bracketed())
	}
	return runs[0].prefix + "[" + strings.Join(parts, ",") + "]"
}
