package online

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Job holds the samples of one job of a folder.
type Job struct {
	File  string    // name in the folder
	Begun time.Time // from the name of the file; Last if the name has no time
	Last  time.Time // when the file last grew
	Samples
}

const samplesEnding = ".samples"

// ReadFolder reads the samples of all jobs in a folder, in the order in which the jobs began. All samples
// must come from the same MPI library, whose version contains the text banner.
func ReadFolder(folder, banner string) ([]Job, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var out []Job
	var first *Job
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), samplesEnding) {
			continue
		}
		path := filepath.Join(folder, e.Name())
		job, err := readJob(path)
		if err != nil {
			return nil, err
		}
		switch {
		case job.Library == "":
			continue
		case !strings.Contains(job.Library, banner):
			return nil, fmt.Errorf("%s: samples of %s: want those of %s", path, job.Library, banner)
		case first != nil && job.Library != first.Library:
			return nil, fmt.Errorf("%s: samples of %s: %s has those of %s: use one folder for each MPI library", path, job.Library, first.File, first.Library)
		}
		if first == nil {
			first = &job
		}
		out = append(out, job)
	}
	slices.SortFunc(out, func(a, b Job) int { return cmp.Or(a.Begun.Compare(b.Begun), cmp.Compare(a.File, b.File)) })
	return out, nil
}

func readJob(path string) (Job, error) {
	s, err := ReadSamples(path)
	if err != nil {
		return Job{}, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return Job{}, err
	}
	job := Job{File: filepath.Base(path), Last: info.ModTime(), Samples: s}
	if job.Begun = begunOf(job.File); job.Begun.IsZero() {
		job.Begun = job.Last
	}
	return job, nil
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
