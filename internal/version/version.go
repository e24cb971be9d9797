// Package version compares releases by their numbers.
//
//	version.Numbers("4.2.0rc1")        // 4, 2, 0
//	version.AtLeast("6.0.x", 5, 0, 7)  // true
package version

import (
	"slices"
	"strconv"
	"strings"
)

// Numbers returns the leading numbers of a release: 4, 2, 0 of 4.2.0rc1 and 6, 0 of
// 6.0.x; none of what does not begin with one.
func Numbers(release string) []int {
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

// AtLeast reports whether a release is want or later. Numbers that it does not give
// count as 0.
func AtLeast(release string, want ...int) bool {
	have := Numbers(release)
	for len(have) < len(want) {
		have = append(have, 0)
	}
	return slices.Compare(have, want) >= 0
}
