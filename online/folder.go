package online

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/renameio/v2"

	"tutti/internal/infile"
)

// Job holds the samples of one job, and the file from which they were read.
type Job struct {
	File  string    `json:"file"`  // name in the folder
	Begun time.Time `json:"begun"` // from the name of the file; Last if the name has no time
	Last  time.Time `json:"last"`  // when the file last grew
	Count int       `json:"count"` // number of timed calls
	Calls []Sample  `json:"-"`     // the calls that ReadFolder kept

	stored  int  // calls in the folder: Count, or fewer in the summary
	ownFile bool // not in the summary
}

const samplesEnding = ".samples"

// ReadFolder reads the samples of all jobs in a folder, ordered by the start of the jobs. It uses only samples of
// one MPI library, the most frequent one. The version of this library must contain `banner`.
//
// Links, named pipes, unreadable files and samples of other libraries are left out with a warning. If there are
// files but none can be used, that is an error. If there are very many calls, only a part is kept; see sampledCalls.
func ReadFolder(folder, banner string) (jobs []Job, warnings []string, err error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, nil, err
	}
	var paths []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), samplesEnding) {
			paths = append(paths, filepath.Join(folder, e.Name()))
		}
	}
	summary := filepath.Join(folder, summaryName)
	if i := slices.Index(paths, summary); i > 0 {
		paths[0], paths[i] = paths[i], paths[0] // jobs in the summary are known first
	}
	libraries, library, warnings := librariesOf(paths, banner)
	var calls sampledCalls
	folded := map[string]bool{}
	for i, path := range paths {
		switch {
		case libraries[i] == "": // empty, or a warning says why
		case folded[filepath.Base(path)]: // could not be removed
		case libraries[i] == library:
			read, faults, err := readJobs(path, func(s Sample, job int) { calls.add(s, len(jobs)+job) })
			for _, fault := range faults {
				warnings = append(warnings, fmt.Sprintf("%s: %s: dropped", path, fault))
			}
			if err != nil {
				warnings = append(warnings, fmt.Sprintf("%v: only the samples before it are used", err))
			}
			jobs = append(jobs, read...)
			for _, j := range read {
				folded[j.File] = path == summary
			}
		default:
			warnings = append(warnings, fmt.Sprintf("%s: left out: samples of %s, most files are of %s: use one folder for each MPI library", path, libraries[i], library))
		}
	}
	if len(jobs) == 0 && len(warnings) > 0 {
		return nil, nil, fmt.Errorf("no file of samples can be used: %s", strings.Join(warnings, "; "))
	}
	calls.distribute(jobs)
	slices.SortStableFunc(jobs, func(a, b Job) int { return cmp.Or(a.Begun.Compare(b.Begun), cmp.Compare(a.File, b.File)) })
	return jobs, warnings, nil
}

// librariesOf returns the library that each file names. It also returns the most frequent library among those
// whose version contains `banner`. The library of a file that has no samples or cannot be used is "".
func librariesOf(paths []string, banner string) (libraries []string, most string, warnings []string) {
	number := map[string]int{}
	for _, path := range paths {
		library, err := libraryOf(path)
		if err == nil && !strings.Contains(library, banner) {
			err = fmt.Errorf("%s: samples of %s: want those of %s", path, library, banner)
		}
		if err != nil && !errors.Is(err, io.EOF) {
			warnings = append(warnings, fmt.Sprintf("%v: left out", err))
		}
		if err != nil {
			library = ""
		}
		libraries = append(libraries, library)
		if library == "" {
			continue
		}
		if number[library]++; number[library] > number[most] {
			most = library
		}
	}
	return libraries, most, warnings
}

// libraryOf reads the first line of a file of samples. The error is io.EOF if there is no whole line.
func libraryOf(path string) (string, error) {
	f, err := infile.OpenUnlinked(path, infile.NoLimit)
	if err != nil {
		return "", err
	}
	defer f.Close()
	line, err := bufio.NewReaderSize(f, maxLine).ReadSlice('\n')
	if errors.Is(err, io.EOF) {
		return "", err
	}
	library, ok := strings.CutPrefix(strings.TrimSuffix(string(line), "\n"), samplesBegin)
	if !ok || err != nil {
		return "", fmt.Errorf("%s: line 1: want %s", path, samplesBegin)
	}
	return library, nil
}

// readJobs returns the job of a file of samples, or all jobs of a summary file. It calls add() for each sample
// with the index of its job.
func readJobs(path string, add func(s Sample, job int)) ([]Job, []string, error) {
	f, err := infile.OpenUnlinked(path, infile.NoLimit)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	name := filepath.Base(path)
	jobs := []Job{{File: name, Last: info.ModTime(), Begun: begunOf(name)}}
	if jobs[0].Begun.IsZero() {
		jobs[0].Begun = jobs[0].Last
	}
	summary := false
	faults, err := readSamples(f, func(s Sample) {
		last := &jobs[len(jobs)-1]
		last.stored++
		add(s, len(jobs)-1)
	}, func(j Job) {
		if !summary {
			summary, jobs = true, nil
		}
		jobs = append(jobs, j)
	})
	if !summary {
		jobs[0].Count, jobs[0].ownFile = jobs[0].stored, true
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return jobs, faults, err
}

// begunOf returns the time that the name of a file of samples contains. libtutti names such files
// NODE-PROCESS-NANOSECONDS-NUMBER.samples.
func begunOf(name string) time.Time {
	parts := strings.Split(strings.TrimSuffix(name, samplesEnding), "-")
	if len(parts) < 4 {
		return time.Time{}
	}
	n, err := strconv.ParseInt(parts[len(parts)-2], 10, 64)
	if err != nil || n <= 0 {
		return time.Time{}
	}
	return time.Unix(0, n)
}

// summaryName is the name of the file with the kept samples of old jobs.
const summaryName = "summary" + samplesEnding

// restTime is how long after its last sample a job counts as old. Samples that the job writes later are lost.
const restTime = 24 * time.Hour

// Summarize replaces the files of old jobs by one summary if the folder has more calls than ReadFolder keeps. The
// parameter `jobs` is the result of ReadFolder. The summary has the kept calls of each job, so its size is
// limited. If a file cannot be removed, Summarize returns an error, but the file's samples do not count twice.
func Summarize(folder string, jobs []Job, now time.Time) error {
	stored := 0
	var old, files []Job
	for _, j := range jobs {
		stored += j.stored
		if now.Sub(j.Last) <= restTime {
			continue
		}
		old = append(old, j)
		if j.ownFile {
			files = append(files, j)
		}
	}
	if stored <= maxCalls || len(files) == 0 {
		return nil
	}
	library, err := libraryOf(filepath.Join(folder, files[0].File))
	if err == nil {
		err = writeSummary(folder, library, old)
	}
	if err != nil {
		return fmt.Errorf("summary of old samples: %w", err)
	}
	var faults []error
	for _, j := range files {
		faults = append(faults, os.Remove(filepath.Join(folder, j.File)))
	}
	return errors.Join(faults...)
}

// writeSummary writes the jobs with their kept calls. The old summary stays until the new one is complete.
func writeSummary(folder, library string, jobs []Job) error {
	f, err := renameio.NewPendingFile(filepath.Join(folder, summaryName), renameio.WithTempDir(folder), renameio.WithStaticPermissions(0o644))
	if err != nil {
		return err
	}
	defer f.Cleanup() // without effect after the replacement
	w := bufio.NewWriter(f)
	fmt.Fprintf(w, "%s%s\n%s\n", samplesBegin, library, samplesHeader)
	for _, j := range jobs {
		line, err := json.Marshal(j)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s%s\n", jobBegin, line)
		for _, s := range j.Calls {
			fmt.Fprintf(w, "%s,%d,%d,%d,%v,%g,%g\n", s.Collective, s.Nodes, s.PPN, s.MsgBytes, s.Algorithm, s.Longest, s.Shortest)
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.CloseAtomicallyReplace()
}
