// Package recording reads the outputs of benchmarks that ran without tutti, and makes measurements of them, which
// campaigns replay or start from.
//
//	ms, reports, err := recording.Import(paths, recording.Options{Known: recording.Run{Algorithm: "ring", Nodes: 8, PPN: 32}})
//	if err != nil {
//		return err
//	}
package recording

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"tutti/benchrunner/suites"
	"tutti/coll"
	"tutti/internal/infile"
	"tutti/mpi"
	"tutti/preprocess"
)

// Run is what outputs do not name about the run of a benchmark. Zero values are unknown.
type Run struct {
	Collective coll.Collective
	Algorithm  string // name, number of the library, or a word for the library's own choice
	Nodes, PPN int
}

// Options say what the files do not.
type Options struct {
	Known      Run            // of all files
	Manifest   Manifest       // of single files; it counts more than Known
	Pattern    string         // of lines of another program; see suites.ReadPattern
	Algorithms []string       // of ACCLAiM's numbers, in their order
	Catalogue  *mpi.Catalogue // of the library; nil: algorithms are not checked
}

// Report says what was read of a file.
type Report struct {
	File   string         `json:"file"`
	Format string         `json:"format"`
	Read   int            `json:"read"`
	Left   map[string]int `json:"left_out"` // rows, by reason
	Notes  []string       `json:"notes"`
	Memory string         `json:"memory,omitempty"` // kind of accelerator whose memory has the buffers, such as CUDA; empty: the host's
}

// place returns where the buffers are, for messages.
func (r Report) place() string {
	if r.Memory == "" {
		return "the host"
	}
	return "accelerators (" + r.Memory + ")"
}

func (r *Report) leave(reason string) { r.Left[reason]++ }

func (r *Report) note(text string) {
	if !slices.Contains(r.Notes, text) {
		r.Notes = append(r.Notes, text)
	}
}

// ErrUnknown is matched by errors about something that neither a file nor the options name.
var ErrUnknown = errors.New("cannot be found in the file")

// sample is a time that a file has, before it is known to which candidate it belongs.
type sample struct {
	suites.Recorded
	algorithm  string
	nodes, ppn int
}

// maxBytes is the largest accepted size of an output.
const maxBytes = 1 << 28

// Import reads files, and all files below folders. Files of folders in no known format are reported and left out; a file
// that was named itself is an error then. Errors name the file. Measurements are in the order of the files; several of
// one candidate are repetitions. A file that several paths name is read once.
func Import(paths []string, opt Options) ([]coll.Measurement, []Report, error) {
	var out []coll.Measurement
	var reports []Report
	var first *Report // whose buffers are known
	seen := map[string]bool{}
	for _, path := range paths {
		files, folder, err := filesOf(path)
		if err != nil {
			return nil, nil, err
		}
		for _, file := range files {
			full := infile.Resolve(absolute(file))
			if seen[full] {
				continue
			}
			seen[full] = true
			ms, report, err := importFile(file, opt)
			if folder && errors.Is(err, errFormat) {
				report.leave("no known format")
				err = nil
			}
			if err != nil {
				return nil, nil, fmt.Errorf("%s: %w", file, err)
			}
			switch {
			case report.Read == 0:
			case first == nil:
				first = &report
			case first.Memory != report.Memory:
				return nil, nil, fmt.Errorf("the buffers of %s are in the memory of %s, those of %s in that of %s: import them one after another, with two --out", first.File, first.place(), file, report.place())
			}
			out, reports = append(out, ms...), append(reports, report)
		}
	}
	if len(reports) > 0 {
		first := &reports[0]
		first.Notes = append(first.Notes, opt.Manifest.unused(reports)...)
	}
	if len(out) == 0 {
		return nil, reports, fmt.Errorf("%s: nothing that can be used was found", strings.Join(paths, ", "))
	}
	return out, reports, nil
}

// filesOf returns the files below a folder in order, or the path itself.
func filesOf(path string) (files []string, folder bool, err error) {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return []string{path}, false, err
	}
	err = filepath.WalkDir(path, func(file string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && !strings.HasSuffix(file, metadataSuffix) {
			files = append(files, file)
		}
		return err
	})
	return files, true, err
}

var errFormat = errors.New("no known format: want an output of OSU, IMB or ReproMPI, detail.out of ompi-collectives-tuning, a CSV of ACCLAiM or PICO, what nccl-tests or rccl-tests print or write with -J (not the files of -x); for other programs give --pattern")

func importFile(file string, opt Options) ([]coll.Measurement, Report, error) {
	report := Report{File: file, Left: map[string]int{}, Notes: []string{}}
	text, err := infile.Read(file, maxBytes)
	if err != nil {
		return nil, report, err
	}
	known := opt.Known.with(opt.Manifest.find(file))
	samples, err := read(file, text, &known, opt, &report)
	if err != nil {
		return nil, report, err
	}
	var out []coll.Measurement
	for _, s := range samples {
		m, reason, err := measurement(s, known, opt.Catalogue)
		switch {
		case err != nil:
			return nil, report, err
		case reason != "":
			report.leave(reason)
			continue
		}
		if s.Mean {
			report.note("times are means over the ranks: the listing has no maximum (OSU: option -f)")
		}
		if s.Part {
			report.note("a part of the ranks: taken for all ranks of the first nodes (ranks placed node by node)")
		}
		if opt.Catalogue != nil && !m.Algorithm.IsDefault() {
			if err := opt.Catalogue.Check(m.Candidate); err != nil {
				report.leave(fmt.Sprintf("%s %s has no %s %s that runs there", opt.Catalogue.Library, opt.Catalogue.Version, m.Collective, m.Algorithm))
				continue
			}
		}
		if len(out) > 0 && s.Memory != report.Memory {
			return nil, report, fmt.Errorf("the buffers of some times are in the memory of %s, those of others in that of %s: import each part as a file of its own", report.place(), Report{Memory: s.Memory}.place())
		}
		report.Memory = s.Memory
		out = append(out, m)
	}
	if report.Read = len(out); len(samples) == 0 && len(report.Left) == 0 {
		report.leave("no times")
	}
	if report.Memory != "" {
		report.note("the buffers are in the memory of " + report.place() + ": a selection from these times is for programs whose buffers are there")
	}
	return out, report, nil
}

// read returns the times of a file in the first format that it has.
func read(file string, text []byte, known *Run, opt Options, report *Report) ([]sample, error) {
	if opt.Pattern != "" {
		report.Format = "lines that match the pattern"
		recorded, err := suites.ReadPattern(text, opt.Pattern)
		if err == nil && len(recorded) == 0 {
			err = fmt.Errorf("no line matches the pattern %s", opt.Pattern)
		}
		return samplesOf(recorded), err
	}
	suite, recorded, err := suites.ReadRecorded(text, known.ranks())
	if !errors.Is(err, suites.ErrNoSuite) {
		report.Format = suite
		known.fromColtune(file)
		return samplesOf(recorded), err
	}
	for _, f := range []struct {
		name string
		is   func(string, []byte) bool
		read func(string, []byte, *Run, Options, *Report) ([]sample, error)
	}{
		{"detail.out of ompi-collectives-tuning", isColtune, readColtune},
		{"CSV of PICO", isPICO, readPICO},
		{"CSV of ACCLAiM", isACCLAiM, readACCLAiM},
		{"nccl-tests", isNCCL, readNCCL},
		{"file of -J of nccl-tests", isNCCLFile, readNCCLFile},
	} {
		if f.is(file, text) {
			report.Format = f.name
			return f.read(file, text, known, opt, report)
		}
	}
	return nil, errFormat
}

func samplesOf(recorded []suites.Recorded) []sample {
	out := make([]sample, len(recorded))
	for i, r := range recorded {
		out[i] = sample{Recorded: r}
	}
	return out
}

func (r Run) ranks() int { return r.Nodes * r.PPN }

// with returns the run with the values that another one has.
func (r Run) with(o Run) Run {
	return Run{
		Collective: cmp.Or(o.Collective, r.Collective), Algorithm: cmp.Or(o.Algorithm, r.Algorithm),
		Nodes: cmp.Or(o.Nodes, r.Nodes), PPN: cmp.Or(o.PPN, r.PPN),
	}
}

// measurement returns the measurement of a sample. The reason says why the sample cannot be used. The error matches
// ErrUnknown if something is unknown.
func measurement(s sample, known Run, cat *mpi.Catalogue) (m coll.Measurement, reason string, err error) {
	if s.Fault != "" {
		return m, s.Fault, nil
	}
	if s.Bytes < 0 {
		return m, fmt.Sprintf("a message of %d bytes", s.Bytes), nil
	}
	if err := coll.CheckCall(s.Seconds); err != nil {
		return m, err.Error(), nil
	}
	run := known.with(Run{Collective: s.Collective, Algorithm: s.algorithm, Nodes: s.nodes, PPN: s.ppn})
	unknown := func(what, flag string) error {
		return fmt.Errorf("the %s %w: give %s, or a line for the file in --manifest", what, ErrUnknown, flag)
	}
	if run.Nodes == 0 && run.PPN > 0 && s.Ranks > 0 && s.Ranks%run.PPN == 0 {
		run.Nodes = s.Ranks / run.PPN
	}
	if run.PPN == 0 && run.Nodes > 0 && s.Ranks > 0 && s.Ranks%run.Nodes == 0 {
		run.PPN = s.Ranks / run.Nodes
	}
	switch {
	case s.Part && known.PPN == 0:
		return m, "a part of the ranks: give --ppn, to say on which nodes they are", nil
	case run.PPN > 0 && run.Nodes == 0 && s.Ranks%run.PPN != 0:
		return m, fmt.Sprintf("%d ranks are no multiple of %d per node", s.Ranks, run.PPN), nil
	case run.Nodes > 0 && run.PPN == 0 && s.Ranks%run.Nodes != 0:
		return m, fmt.Sprintf("%d ranks are no multiple of %d nodes", s.Ranks, run.Nodes), nil
	case run.Collective == "":
		return m, "", unknown("collective", "--collective")
	case run.Algorithm == "":
		return m, "", unknown("algorithm", "--algorithm (library_default: the library's own choice)")
	case run.Nodes == 0:
		return m, "", unknown("number of nodes", "--nodes or --ppn")
	case run.PPN == 0:
		return m, "", unknown("number of processes per node", "--ppn")
	case s.Ranks > 0 && s.Ranks != run.ranks():
		return m, fmt.Sprintf("%d ranks, not %d nodes with %d each", s.Ranks, run.Nodes, run.PPN), nil
	}
	alg, err := algorithmOf(run.Collective, run.Algorithm, cat)
	if err != nil {
		return m, "", err
	}
	m.Point = coll.Point{Collective: run.Collective, Nodes: run.Nodes, PPN: run.PPN, MsgBytes: s.Bytes}
	m.Algorithm, m.Seconds, m.Low, m.High, m.Samples, m.Overall = alg, s.Seconds, s.Low, s.High, s.Samples, s.Overall
	m.CostSeconds = preprocess.OSUCost(m.Point, m.Seconds)
	return m, "", nil
}

// ownChoice lists the words with which other tools name the library's own choice.
var ownChoice = []string{"default", "tuned", "auto", "ignore", "0", "default_ompi", "default_mpich"}

// algorithmOf returns the algorithm of a name, or of the library's number.
func algorithmOf(c coll.Collective, text string, cat *mpi.Catalogue) (coll.Algorithm, error) {
	if slices.Contains(ownChoice, text) {
		return coll.Default, nil
	}
	if id, err := strconv.Atoi(text); err == nil {
		if cat == nil {
			return coll.Algorithm{}, fmt.Errorf("algorithm %d: give --library, whose number it is", id)
		}
		for _, e := range cat.Entries(c) {
			if e.ID == id {
				return coll.Algorithm{Name: e.Name}, nil
			}
		}
		return coll.Algorithm{}, fmt.Errorf("algorithm %d: %s %s has none with this number for %s", id, cat.Library, cat.Version, c)
	}
	return coll.ParseAlgorithm(text)
}
