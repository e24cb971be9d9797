package coll

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

var byteUnits = []struct {
	suffix string
	bytes  int64
}{
	{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1},
}

// ParseBytes parses a size such as 64KiB, 1MiB, 512 or 512B. The suffix is B, KiB, MiB or GiB. Without a
// suffix the size is in bytes. ParseBytes rejects the ambiguous suffixes kB and MB.
func ParseBytes(s string) (int64, error) {
	digits, unit := strings.TrimSpace(s), int64(1)
	for _, u := range byteUnits {
		if rest, ok := strings.CutSuffix(digits, u.suffix); ok {
			digits, unit = strings.TrimSpace(rest), u.bytes
			break
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64/unit {
		return 0, fmt.Errorf("size %q: want a whole number with B, KiB, MiB, GiB or no unit, for example 64KiB", s)
	}
	return n * unit, nil
}

// FormatBytes formats a size in the largest unit that divides it, for example 64KiB or 1536B.
func FormatBytes(n int64) string {
	for _, u := range byteUnits {
		if n >= u.bytes && n%u.bytes == 0 {
			return strconv.FormatInt(n/u.bytes, 10) + u.suffix
		}
	}
	return strconv.FormatInt(n, 10) + "B"
}
