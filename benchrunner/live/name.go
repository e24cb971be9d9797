package live

import (
	"fmt"
	"strconv"
	"strings"

	"tutti/benchrunner"
)

// namePrefix is what the jobs of one round of one problem have in common.
func namePrefix(campaign string, b benchrunner.Batch) string {
	if b.Label == "" {
		return fmt.Sprintf("tutti-%s-r%d-", campaign, b.Round)
	}
	return fmt.Sprintf("tutti-%s-%s-r%d-", campaign, b.Label, b.Round)
}

// lastNumber is the highest number of a job that the batch has had.
func lastNumber(prefix string, b benchrunner.Batch) int {
	last := 0
	for _, j := range b.Jobs {
		last = max(last, numberOf(prefix, j.Name))
	}
	return last
}

// numberOf returns the number at the end of a job's name, 0 for a name of
// somebody else.
func numberOf(prefix, name string) int {
	rest, ok := strings.CutPrefix(name, prefix)
	n, err := strconv.Atoi(rest)
	if !ok || err != nil {
		return 0
	}
	return n
}
