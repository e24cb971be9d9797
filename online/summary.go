package online

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/google/renameio/v2"
)

// summaryName is the name of the file with the kept samples of old jobs.
const summaryName = "summary" + samplesEnding

// restTime is how long after its last sample a job counts as old. Samples that the job writes later are lost.
const restTime = 24 * time.Hour

// Summarize replaces the files of old jobs by one summary if the folder has more calls than are kept. The
// parameter `jobs` is the result of ReadFolder. The summary has the kept calls of each job, so its size is
// limited. If a file cannot be removed, Summarize returns an error, but the file's samples do not count
// twice.
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
