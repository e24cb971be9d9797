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

// name parses one row of a file of names. The algorithm is zero if its cell is empty.
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

// Libraries returns the libraries for which the file has names of algorithms, in alphabetical order.
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

// Translate replaces recorded names by a library's names. It returns the measurements in the same order,
// without those of algorithms that the library does not have. The library's own choice, coll.Default, keeps its
// name.
func (n Names) Translate(ms []coll.Measurement, library string) (out []coll.Measurement) {
	for _, m := range ms {
		algorithm, ok := n.algorithms[recordedName{m.Collective, library, m.Algorithm}]
		switch {
		case ok:
			m.Algorithm = algorithm
		case !m.Algorithm.IsDefault():
			continue
		}
		out = append(out, m)
	}
	return out
}

// Defaults holds, for each point of a machine, the recorded algorithm that an untuned library selects.
type Defaults struct {
	machines  []string
	libraries []string
	recorded  map[defaultKey]coll.Algorithm
}

type defaultKey struct {
	machine, library string
	point            coll.Point
}

// ReadDefaults reads a CSV file with the columns machine, collective, nodes, ppn and msg_bytes. It has one further
// column for each library, for example mpich and openmpi. A cell of such a column has the name of the algorithm in
// the recorded data, or nothing if the library's choice was not recorded. Like ReadNames, ReadDefaults requires
// every row to be valid.
func ReadDefaults(path string) (Defaults, error) {
	return readFile("defaults", path, readDefaults)
}

func readDefaults(r io.Reader, path string) (Defaults, error) {
	s, err := newSheet(r, path)
	if err == nil {
		err = s.require(slices.Concat([]string{"machine"}, pointColumns))
	}
	if err != nil {
		return Defaults{}, err
	}
	d := Defaults{recorded: map[defaultKey]coll.Algorithm{}}
	for _, i := range s.others("machine") {
		d.libraries = append(d.libraries, s.header[i])
	}
	if len(d.libraries) == 0 {
		return Defaults{}, fmt.Errorf("%s: header row: no column of a library, for example mpich or openmpi", path)
	}
	machines := map[string]bool{}
	lines := map[defaultKey]int{} // line of each point; the field `library` is empty in these keys
	err = s.eachRow(func(row []string, line int) error {
		point, err := s.point(row, coll.ParseCollective)
		if err != nil {
			return err
		}
		key := defaultKey{machine: s.cell(row, "machine"), point: point}
		if key.machine == "" {
			return errors.New("machine is empty")
		}
		if first, twice := lines[key]; twice {
			return fmt.Errorf("%v of machine %s is at line %d already", point, key.machine, first)
		}
		lines[key] = line
		machines[key.machine] = true
		return d.add(s, row, key)
	})
	d.machines = slices.Sorted(maps.Keys(machines))
	return d, err
}

func (d Defaults) add(s *sheet, row []string, key defaultKey) error {
	for _, library := range d.libraries {
		cell := s.cell(row, library)
		if cell == "" {
			continue
		}
		algorithm, err := coll.ParseAlgorithm(cell)
		if err != nil {
			return fmt.Errorf("%s: %w", library, err)
		}
		key.library = library
		d.recorded[key] = algorithm
	}
	return nil
}

// Machines returns the machines of the file in alphabetical order.
func (d Defaults) Machines() []string { return slices.Clone(d.machines) }

// Libraries returns the libraries of the file in the order of its columns.
func (d Defaults) Libraries() []string { return slices.Clone(d.libraries) }

// Rows returns the measurements of a library's own choice on a machine. It copies each measurement in `ms` whose
// algorithm is the library's choice at its point, and replaces the algorithm by coll.Default. The measurements in
// `ms` must have recorded names, not translated ones. The result has no measurement at points without a recorded
// choice.
func (d Defaults) Rows(ms []coll.Measurement, machine, library string) []coll.Measurement {
	var out []coll.Measurement
	for _, m := range ms {
		choice, ok := d.recorded[defaultKey{machine, library, m.Point}]
		if ok && choice == m.Algorithm {
			m.Algorithm = coll.Default
			out = append(out, m)
		}
	}
	return out
}
