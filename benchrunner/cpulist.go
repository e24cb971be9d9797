package benchrunner

import (
	"strconv"
	"strings"
)

// ParseCount reads a number of nodes, CPUs or jobs that a workload manager prints. It returns 0, which means unknown, for
// other texts.
func ParseCount(text string) int {
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return 0
	}
	return int(n)
}

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
