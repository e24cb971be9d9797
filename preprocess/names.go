package preprocess

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"tutti/coll"
)

var nameColumns = []string{"collective", "recorded", "library", "algorithm"}

// Names maps recorded names to algorithms of libraries.
type Names struct {
	algorithms map[recordedName]coll.Algorithm
	mentioned  map[recordedName]bool // whether any library has a row for the name; the library is empty in these keys
}

type recordedName struct {
	collective coll.Collective
	library    string
	recorded   coll.Algorithm
}

// ReadNames reads a CSV file with the columns collective, recorded, library and algorithm. Each row has a
// recorded algorithm and the corresponding algorithm of a library, both in the syntax of
// coll.ParseAlgorithm. If the algorithm is empty, the library has no such algorithm.
//
// Every row must be valid, since a wrong row would silently assign measurements to a wrong algorithm.
// Duplicate recorded names are errors, and so are two recorded names for one algorithm of a library. Errors
// name the file and the line.
func ReadNames(path string) (Names, error) {
	return readFile("names", path, readNames)
}

func readNames(r io.Reader, path string) (Names, error) {
	s, err := newSheet(r, path)
	if err == nil {
		err = s.require(nameColumns)
	}
	if err != nil {
		return Names{}, err
	}
	n := Names{algorithms: map[recordedName]coll.Algorithm{}, mentioned: map[recordedName]bool{}}
	lines := map[recordedName]int{}
	targets := map[recordedName]int{} // line of each library's algorithm; the keys have it in place of the recorded name
	err = s.eachRow(func(row []string, line int) error {
		key, algorithm, err := s.name(row)
		if err != nil {
			return err
		}
		if first, twice := lines[key]; twice {
			return fmt.Errorf("%s %v for %s is at line %d already", key.collective, key.recorded, key.library, first)
		}
		lines[key] = line
		n.mentioned[recordedName{collective: key.collective, recorded: key.recorded}] = true
		if algorithm == (coll.Algorithm{}) {
			return nil
		}
		target := recordedName{key.collective, key.library, algorithm}
		if first, twice := targets[target]; twice {
			return fmt.Errorf("%s %v of %s has another recorded name at line %d already", key.collective, algorithm, key.library, first)
		}
		targets[target] = line
		n.algorithms[key] = algorithm
		return nil
	})
	return n, err
}

// name parses one row of a file of names. If the cell in the column "algorithm" is empty, it returns a zero
// algorithm.
func (s *sheet) name(row []string) (key recordedName, algorithm coll.Algorithm, err error) {
	if key.collective, err = coll.ParseCollective(s.cell(row, "collective")); err != nil {
		return key, algorithm, err
	}
	if key.recorded, err = coll.ParseAlgorithm(s.cell(row, "recorded")); err != nil {
		return key, algorithm, fmt.Errorf("recorded: %w", err)
	}
	if key.library = s.cell(row, "library"); key.library == "" {
		return key, algorithm, errors.New("library is empty")
	}
	if cell := s.cell(row, "algorithm"); cell != "" {
		algorithm, err = coll.ParseAlgorithm(cell)
	}
	return key, algorithm, err
}

// Libraries returns the libraries that have names, in alphabetical order.
func (n Names) Libraries() []string {
	set := map[string]bool{}
	for key := range n.algorithms {
		set[key.library] = true
	}
	return slices.Sorted(maps.Keys(set))
}

// Mentions reports whether the file has a row for a recorded algorithm, even if the library has no such
// algorithm. It returns true for the library's own choice, which needs no row.
func (n Names) Mentions(collective coll.Collective, recorded coll.Algorithm) bool {
	return recorded.IsDefault() || n.mentioned[recordedName{collective: collective, recorded: recorded}]
}

// Translate replaces recorded names by a library's names. It returns the measurements in the same order. It
// drops measurements of algorithms that the library does not have, and returns the number of dropped ones.
// The library's own choice, coll.Default, keeps its name.
func (n Names) Translate(ms []coll.Measurement, library string) (out []coll.Measurement, dropped int) {
	for _, m := range ms {
		algorithm, ok := n.algorithms[recordedName{m.Collective, library, m.Algorithm}]
		switch {
		case ok:
			m.Algorithm = algorithm
		case !m.Algorithm.IsDefault():
			dropped++
			continue
		}
		out = append(out, m)
	}
	return out, dropped
}
