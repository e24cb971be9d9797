package benchrunner

import (
	"strconv"
	"strings"
)

// CountCPUs returns the number of CPUs in a list as Linux and Slurm write it, such as 0-1,64. Parts that are no numbers do
// not count.
func CountCPUs(list string) int {
	n := 0
	for part := range strings.SplitSeq(list, ",") {
		low, high, isRange := strings.Cut(part, "-")
		first, err := strconv.Atoi(low)
		if err != nil {
			continue
		}
		last, err := strconv.Atoi(high)
		if !isRange || err != nil || last < first {
			last = first
		}
		n += last - first + 1
	}
	return n
}
