package mpi

import (
	"slices"
	"strconv"
	"strings"
)

// ReleaseNumbers returns the leading numbers of a release. For example, 4.2.0rc1 has the numbers 4, 2 and
// 0, and 6.0.x has 6 and 0. It returns nil if the release does not begin with a number.
func ReleaseNumbers(release string) []int {
	var out []int
	for _, part := range strings.Split(release, ".") {
		digits := part
		if end := strings.IndexFunc(part, func(r rune) bool { return r < '0' || r > '9' }); end >= 0 {
			digits = part[:end]
		}
		n, err := strconv.Atoi(digits)
		if err != nil {
			break
		}
		out = append(out, n)
		if digits != part {
			break
		}
	}
	return out
}

// SameRelease reports whether two names denote the same release. Suffixes such as rc2 do not count, and the
// shorter name may stand for a series: 6.0.x denotes 6.0.0, too.
func SameRelease(a, b string) bool {
	one, other := ReleaseNumbers(a), ReleaseNumbers(b)
	n := min(len(one), len(other))
	return a == b || n >= 2 && slices.Equal(one[:n], other[:n])
}

// AtLeast reports whether a release is the wanted release or a later one. Missing numbers count as 0.
func AtLeast(release string, want ...int) bool {
	have := ReleaseNumbers(release)
	for len(have) < len(want) {
		have = append(have, 0)
	}
	return slices.Compare(have, want) >= 0
}
