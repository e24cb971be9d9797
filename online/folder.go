package online

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Job holds the samples of one job of a folder.
type Job struct {
	File  string    // name in the folder
	Begun time.Time // from the name of the file; Last if the name has no time
	Last  time.Time // when the file last grew
	Count int       // number of timed calls in the file
	Calls []Sample  // the calls that ReadFolder kept
}

const samplesEnding = ".samples"

// ReadFolder reads the samples of all jobs in a folder, ordered by the start of the jobs. All must
// come from the same MPI library, whose version contains banner. Files that cannot be used are left
// out, with a warning: among them links, named pipes and samples of any but the most frequent library. If
// all files are left out, that is an error. Of very many calls only a part is kept; see thinned.
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
	libraries, library, warnings := librariesOf(paths, banner)
	var calls thinned
	for i, path := range paths {
		switch libraries[i] {
		case "": // empty, or a warning says why
		case library:
			job, faults, err := readJob(path, func(s Sample) { calls.add(s, len(jobs)) })
			for _, fault := range faults {
				warnings = append(warnings, fmt.Sprintf("%s: %s: dropped", path, fault))
			}
			if err != nil {
				warnings = append(warnings, fmt.Sprintf("%v: only the samples before it are used", err))
			}
			jobs = append(jobs, job)
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

// librariesOf returns the library that each file names, and the most frequent one that contains banner. The
// library of a file without samples, or that cannot be used, is empty.
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
	f, err := openRegular(path)
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

// readJob calls add for each sample of a file.
func readJob(path string, add func(Sample)) (Job, []string, error) {
	job := Job{File: filepath.Base(path)}
	f, err := openRegular(path)
	if err != nil {
		return job, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return job, nil, err
	}
	job.Last, job.Begun = info.ModTime(), begunOf(job.File)
	if job.Begun.IsZero() {
		job.Begun = job.Last
	}
	var faults []string
	job.Count, faults, err = readSamples(f, add)
	if err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return job, faults, err
}

// openRegular opens a regular file. It follows no link, and does not wait for the writer of a named pipe.
func openRegular(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ELOOP) {
		return nil, fmt.Errorf("%s: a link: want a regular file", path)
	}
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: want a regular file", path)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
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
