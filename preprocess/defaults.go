package preprocess

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"tutti/coll"
)

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

// ReadDefaults reads a CSV file with the columns machine, collective, nodes, ppn and msg_bytes, and one further
// column for each library, for example mpich and openmpi. A cell of such a column has the name of the algorithm in
// the recorded data, or nothing if the library's choice was not recorded. Like ReadNames, ReadDefaults requires
// every row to be valid.
func ReadDefaults(path string) (Defaults, error) {
	return readFile("defaults", path, readDefaults)
}

func readDefaults(r io.Reader, path string) (Defaults, error) {
	required := slices.Concat([]string{"machine"}, pointColumns)
	s, err := newSheet(r, path)
	if err == nil {
		err = s.require(required)
	}
	if err != nil {
		return Defaults{}, err
	}
	d := Defaults{recorded: map[defaultKey]coll.Algorithm{}}
	for _, i := range s.others(required...) {
		d.libraries = append(d.libraries, s.header[i])
	}
	if len(d.libraries) == 0 {
		return Defaults{}, fmt.Errorf("%s: header row: no column of a library, for example mpich or openmpi", path)
	}
	machines := map[string]bool{}
	lines := map[defaultKey]int{} // line of each point; the field library is empty in these keys
	err = s.eachRow(func(row []string, line int) error {
		point, err := s.point(row)
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

// Rows returns the measurements of a library's own choice on a machine. It copies each measurement in ms
// whose algorithm is the library's choice at its point, and replaces the algorithm by coll.Default. ms must
// have recorded names, not translated ones. The result has no measurement at points without a recorded
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
