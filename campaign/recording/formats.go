package recording

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"tutti/benchrunner/suites"
	"tutti/coll"
	"tutti/internal/infile"
	"tutti/internal/lazyregexp"
	"tutti/metrics"
)

var (
	coltuneRun    = lazyregexp.New(`^([0-9]+)_([0-9]+)ranks_run[0-9]+\.out$`)
	columnGap     = lazyregexp.New(`\s{2,}`)
	coltuneHeader = lazyregexp.New(`^#N(nodes|ranks)\s+Message_size\s`)
	coltuneTime   = lazyregexp.New(`^([0-9.]+)(\([0-9.]+\))?$`)
)

// fromColtune takes algorithm and collective from the path of an output that ompi-collectives-tuning stored:
// output/COLLECTIVE/ALGORITHM_RANKSranks_runNUMBER.out. Source: its coltune_analyze.py.
func (r *Run) fromColtune(file string) {
	m := coltuneRun.FindStringSubmatch(filepath.Base(file))
	if m == nil {
		return
	}
	r.Algorithm = cmp.Or(r.Algorithm, m[1])
	ranks, err := strconv.Atoi(m[2])
	if err == nil && r.Nodes == 0 && r.PPN > 0 && ranks%r.PPN == 0 {
		r.Nodes = ranks / r.PPN
	}
}

func isColtune(_ string, text []byte) bool { return coltuneHeader.Match(text) }

// readColtune reads a table with a column for each algorithm, by number or name, and times in microseconds with their
// deviation. The last column repeats the library's own choice. The collective is the name of the folder.
func readColtune(file string, text []byte, known *Run, _ Options, report *Report) ([]sample, error) {
	if c, err := coll.ParseCollective(filepath.Base(filepath.Dir(absolute(file)))); err == nil && known.Collective == "" {
		known.Collective = c
	}
	lines := strings.Split(strings.ReplaceAll(string(text), "\r", ""), "\n")
	columns := columnGap.Split(strings.TrimSpace(strings.TrimPrefix(lines[0], "#")), -1)
	if fields := strings.Fields(strings.TrimPrefix(lines[0], "#")); len(fields) > len(columns) {
		columns = fields
	}
	report.note("times are means over the runs; the first column is the number of ranks")
	var out []sample
	for i, line := range lines[1:] {
		fields := columnGap.Split(strings.TrimSpace(line), -1)
		if len(fields) < 3 {
			if strings.TrimSpace(line) != "" {
				report.leave("a line without times")
			}
			continue
		}
		ranks, rankErr := strconv.Atoi(fields[0])
		size, sizeErr := strconv.ParseInt(fields[1], 10, 64)
		if rankErr != nil || sizeErr != nil {
			return nil, fmt.Errorf("line %d: want numbers of ranks and bytes, got %q", i+2, fields[:2])
		}
		if len(fields) < len(columns) {
			report.leave("a row without the columns of its header")
			continue
		}
		for k := 2; k < len(columns); k++ {
			s := sample{Recorded: suites.Recorded{Bytes: size, Ranks: ranks}, algorithm: columns[k]}
			m := coltuneTime.FindStringSubmatch(fields[k])
			if m == nil {
				report.leave(fmt.Sprintf("%q instead of a time", fields[k]))
				continue
			}
			us, err := coll.ParseNumber(m[1])
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", i+2, err)
			}
			s.Seconds = us / 1e6
			out = append(out, s)
		}
	}
	return out, nil
}

func absolute(path string) string {
	if full, err := filepath.Abs(path); err == nil {
		return full
	}
	return path
}

// picoTypes has the bytes of the types in the names of PICO's files.
var picoTypes = map[string]int64{"char": 1, "unsigned_char": 1, "int8": 1, "int16": 2, "int32": 4, "int": 4, "int64": 8, "float": 4, "double": 8}

var picoName = lazyregexp.New(`^([0-9]+)_(.+?)(?:_([0-9]+))?_(unsigned_char|[a-z0-9]+)\.csv$`)

const metadataSuffix = "_metadata.csv"

func isPICO(file string, text []byte) bool {
	m := picoName.FindStringSubmatch(filepath.Base(file))
	return m != nil && picoTypes[m[4]] > 0 && strings.HasPrefix(string(text), "highest")
}

// readPICO reads the times of the slowest rank in nanoseconds, one line an iteration. The file's name is
// COUNT_ALGORITHM[_SEGMENT]_TYPE.csv. Nodes, processes and collective are in the system's metadata, in the line of the
// folder's time stamp. COUNT is the elements of all ranks together where tutti counts those of one. Sources:
// results/generate_metadata.py and pico_core/pico_core_utils.c (test_loop) of PICO.
func readPICO(file string, text []byte, known *Run, _ Options, report *Report) ([]sample, error) {
	m := picoName.FindStringSubmatch(filepath.Base(file))
	count, err := strconv.ParseInt(m[1], 10, 64)
	if err != nil {
		return nil, fmt.Errorf("count %s: %w", m[1], err)
	}
	if err := known.fromMetadata(file, report); err != nil {
		return nil, err
	}
	r := csv.NewReader(strings.NewReader(string(text)))
	r.FieldsPerRecord = -1
	rows, err := r.ReadAll()
	if err != nil {
		return nil, err
	}
	var times []float64
	for i, row := range rows[1:] {
		ns, err := coll.ParseNumber(strings.TrimSpace(row[0]))
		if err == nil {
			err = coll.CheckCall(ns / 1e9)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+2, err)
		}
		times = append(times, ns/1e9)
	}
	switch {
	case len(times) == 0:
		report.leave("no times")
		return nil, nil
	case known.Collective.SizesDiffer():
		report.leave(string(known.Collective) + ": the file does not say how PICO divides its count")
		return nil, nil
	case known.Collective.PerRank() && known.ranks() > 0:
		count /= int64(known.ranks())
	}
	if count == 0 {
		report.leave("fewer elements than ranks: empty messages")
		return nil, nil
	}
	s := sample{Recorded: suites.Recorded{Bytes: count * picoTypes[m[4]], Ranks: len(rows[0]) - 1, Samples: len(times), Memory: report.Memory}}
	if known.Algorithm == "" {
		s.algorithm = picoAlgorithm(m[2], m[3])
	}
	median, interval, err := metrics.MedianInterval(times, 0.95)
	s.Seconds, s.Low, s.High = median, interval.Low, interval.High
	return []sample{s}, err
}

// picoAlgorithm returns the algorithm that PICO names with its library's suffix.
func picoAlgorithm(name, segment string) string {
	name = strings.TrimSuffix(strings.TrimSuffix(name, "_ompi"), "_mpich")
	if segment != "" && segment != "0" {
		name += "(segsize=" + segment + ")"
	}
	return name
}

// fromMetadata takes what is unknown from the metadata of PICO above the file.
func (r *Run) fromMetadata(file string, report *Report) error {
	var stamps []string
	for dir := filepath.Dir(absolute(file)); len(stamps) < 4; dir = filepath.Dir(dir) {
		stamps = append(stamps, filepath.Base(dir))
		tables, err := filepath.Glob(filepath.Join(filepath.Dir(dir), "*"+metadataSuffix))
		if err != nil {
			return err
		}
		for _, path := range tables {
			if err := r.fromTable(path, stamps, report); err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
		}
	}
	return nil
}

func (r *Run) fromTable(path string, stamps []string, report *Report) error {
	f, err := infile.Open(path, maxBytes)
	if err != nil {
		return err
	}
	defer f.Close()
	rows := csv.NewReader(f)
	rows.FieldsPerRecord = -1
	header, err := rows.Read()
	if err != nil {
		return err
	}
	all, err := rows.ReadAll()
	if err != nil {
		return err
	}
	for _, row := range all {
		cell := func(name string) string {
			if i := slices.Index(header, name); i >= 0 && i < len(row) {
				return row[i]
			}
			return ""
		}
		if !slices.Contains(stamps, cell("timestamp")) || cell("test_id") != "" && !slices.Contains(stamps, cell("test_id")) && slices.ContainsFunc(stamps, isNumber) {
			continue
		}
		report.note(fmt.Sprintf("the metadata of PICO name the library %s", strings.TrimSpace(cell("mpi_lib")+" "+cell("mpi_lib_version"))))
		if cell("gpu_awareness") == "yes" {
			report.Memory = "GPU"
		}
		nodes, _ := strconv.Atoi(cell("nnodes"))
		ppn, _ := strconv.Atoi(cell("tasks_per_node"))
		c, _ := coll.ParseCollective(strings.ToLower(cell("collective_type")))
		*r = Run{Collective: c, Nodes: nodes, PPN: ppn}.with(*r)
	}
	return nil
}

func isNumber(text string) bool {
	_, err := strconv.Atoi(text)
	return err == nil
}

// isACCLAiM reports whether a text has rows of five numbers and no header.
func isACCLAiM(_ string, text []byte) bool {
	line, _, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	fields := strings.Split(strings.TrimSpace(line), ",")
	return len(fields) == 5 && !slices.ContainsFunc(fields, func(f string) bool {
		_, err := strconv.ParseFloat(strings.TrimSpace(f), 64)
		return err != nil
	})
}

// readACCLAiM reads rows of nodes, processes per node and message size, each as log2 plus 1, the number of the algorithm,
// and the time in microseconds. Source: src/active_learner/data_collect.py of ACCLAiM.
func readACCLAiM(_ string, text []byte, _ *Run, opt Options, report *Report) ([]sample, error) {
	if len(opt.Algorithms) < 2 {
		return nil, fmt.Errorf("the names of algorithms %w, only their numbers: give them in ACCLAiM's order, as in --algorithm brucks,recursive_doubling,ring", ErrUnknown)
	}
	report.note("times are taken for microseconds")
	r := csv.NewReader(strings.NewReader(string(text)))
	r.FieldsPerRecord, r.TrimLeadingSpace = 5, true
	rows, err := r.ReadAll()
	if err != nil {
		return nil, err
	}
	var out []sample
	for i, row := range rows {
		var v [5]float64
		for k, text := range row {
			if v[k], err = strconv.ParseFloat(strings.TrimSpace(text), 64); err != nil {
				return nil, fmt.Errorf("line %d: %q: want a number", i+1, text)
			}
		}
		alg := int(v[3])
		if alg < 0 || alg >= len(opt.Algorithms) || float64(alg) != v[3] {
			return nil, fmt.Errorf("line %d: algorithm %g: want 0 to %d, the algorithms given", i+1, v[3], len(opt.Algorithms)-1)
		}
		for k, x := range v[:3] {
			if !(x >= 1 && x <= 63) {
				return nil, fmt.Errorf("line %d: %q: want log2 of a number plus 1, from 1 to 63", i+1, row[k])
			}
		}
		size := func(x float64) float64 { return math.Round(math.Exp2(x - 1)) }
		s := sample{algorithm: opt.Algorithms[alg], nodes: int(size(v[0])), ppn: int(size(v[1]))}
		s.Bytes, s.Seconds = int64(size(v[2])), v[4]/1e6
		if err := coll.CheckCall(s.Seconds); err != nil {
			s.Fault = err.Error()
		}
		out = append(out, s)
	}
	return out, nil
}

// Manifest says what files do not name. Each line is for the files that match its pattern; the first match counts.
type Manifest []manifestLine

type manifestLine struct {
	place   string // file and line of the manifest
	pattern string
	run     Run
}

var manifestColumns = []string{"file", "collective", "algorithm", "nodes", "ppn"}

// ReadManifest reads a CSV file with the column file (a name or a pattern, see path.Match) and any of collective,
// algorithm, nodes and ppn. Empty cells say nothing. A byte order mark at the start is skipped. Errors name the line.
func ReadManifest(path string) (Manifest, error) {
	f, err := infile.Open(path, 1<<24)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rows := csv.NewReader(infile.SkipByteOrderMark(f))
	rows.TrimLeadingSpace = true
	header, err := rows.Read()
	if err != nil {
		return nil, fmt.Errorf("%s: header row: %w", path, err)
	}
	for i, name := range header {
		switch {
		case !slices.Contains(manifestColumns, name):
			return nil, fmt.Errorf("%s:1: column %q: want some of %s", path, name, strings.Join(manifestColumns, ", "))
		case slices.Contains(header[:i], name):
			return nil, fmt.Errorf("%s:1: column %q is given twice", path, name)
		}
	}
	if !slices.Contains(header, "file") {
		return nil, fmt.Errorf("%s:1: the column file is missing", path)
	}
	var out Manifest
	for {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		line, _ := rows.FieldPos(0)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		m := manifestLine{place: fmt.Sprintf("%s:%d", path, line)}
		for i, name := range header {
			if err := m.set(name, strings.TrimSpace(row[i])); err != nil {
				return nil, fmt.Errorf("%s:%d: %s: %w", path, line, name, err)
			}
		}
		out = append(out, m)
	}
}

func (m *manifestLine) set(column, cell string) (err error) {
	number := func() (int, error) {
		n, err := strconv.Atoi(cell)
		if err != nil || n < 1 {
			return 0, fmt.Errorf("%q: want a whole number from 1", cell)
		}
		return n, nil
	}
	switch {
	case column == "file":
		m.pattern = cell
		if _, err = filepath.Match(cell, ""); err != nil || cell == "" {
			return fmt.Errorf("%q: want a name or a pattern", cell)
		}
	case cell == "":
	case column == "collective":
		m.run.Collective, err = coll.ParseCollective(cell)
	case column == "algorithm":
		m.run.Algorithm = cell
	case column == "nodes":
		m.run.Nodes, err = number()
	case column == "ppn":
		m.run.PPN, err = number()
	}
	return err
}

// find returns what the manifest says about a file: by its path, or by its name.
func (m Manifest) find(file string) Run {
	for _, line := range m {
		if line.matches(file) {
			return line.run
		}
	}
	return Run{}
}

func (m manifestLine) matches(file string) bool {
	return slices.ContainsFunc([]string{file, filepath.Base(file)}, func(name string) bool {
		ok, err := filepath.Match(m.pattern, name)
		return err == nil && ok
	})
}

// unused returns a note for each line of the manifest that matches no file of the reports.
func (m Manifest) unused(reports []Report) []string {
	var notes []string
	for _, line := range m {
		if !slices.ContainsFunc(reports, func(r Report) bool { return line.matches(r.File) }) {
			notes = append(notes, fmt.Sprintf("%s: no file that was read matches %s", line.place, line.pattern))
		}
	}
	return notes
}
