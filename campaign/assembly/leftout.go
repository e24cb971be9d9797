package assembly

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"tutti/coll"
	"tutti/mpi"
	"tutti/preprocess"
)

// warnOfUnnamed warns of recorded algorithms that the file of names does not have. Their rows are
// left out, possibly by mistake.
func (c *Campaign) warnOfUnnamed(names preprocess.Names, recorded []coll.Measurement) {
	var unnamed []string
	rows := 0
	for _, m := range recorded { // sorted by collective and algorithm
		if !slices.Contains(c.Config.Collectives, string(m.Collective)) || names.Mentions(m.Collective, m.Algorithm) {
			continue
		}
		rows++
		if name := fmt.Sprintf("%s %s", m.Collective, m.Algorithm); !slices.Contains(unnamed, name) {
			unnamed = append(unnamed, name)
		}
	}
	if rows == 0 {
		return
	}
	c.warnOnce(fmt.Sprintf("%s: %d recorded rows left out, no row names their algorithms: %s",
		filepath.Base(c.Config.Runner.Names), rows, strings.Join(unnamed, ", ")))
}

// leftOut counts the measurements that a problem cannot use.
type leftOut struct {
	outside, infeasible, unknown int
	algorithms                   []string // the unknown ones, sorted
}

func (l *leftOut) add(m coll.Measurement, err error) {
	switch {
	case errors.Is(err, errOutside):
		l.outside++
	case errors.Is(err, mpi.ErrUnknown):
		l.unknown++
		name := m.Algorithm.String()
		if at, known := slices.BinarySearch(l.algorithms, name); !known {
			l.algorithms = slices.Insert(l.algorithms, at, name)
		}
	default:
		l.infeasible++
	}
}

// String is for example "72 rows outside the grid, 0 that cannot run there, 144 of
// algorithms it does not have (NTSB, NTSL)".
func (l *leftOut) String() string {
	if l.outside+l.infeasible+l.unknown == 0 {
		return "no row is about this collective"
	}
	text := fmt.Sprintf("%d rows outside the grid, %d that cannot run there, %d of algorithms it does not have", l.outside, l.infeasible, l.unknown)
	if len(l.algorithms) > 0 {
		text += " (" + strings.Join(l.algorithms, ", ") + ")"
	}
	return text
}
