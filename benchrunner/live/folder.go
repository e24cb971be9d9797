package live

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"tutti/benchrunner"
)

// Files in the folder of a job that tutti writes and reads.
const (
	planFile   = "plan.json"
	resultFile = "result.json"
)

// plan is plan.json: what a job measures.
type plan struct {
	Launches []launch
}

// makeFolder makes the folder of a job with everything in it, in one step. An
// error matching fs.ErrExist says that the name is taken.
func makeFolder(dir string, j job) error {
	if _, err := os.Lstat(dir); err == nil {
		return fmt.Errorf("%s: %w", dir, fs.ErrExist)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o777); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(filepath.Dir(dir), ".new-")
	if err != nil {
		return err
	}
	err = fillFolder(temp, j)
	if err == nil {
		err = os.Rename(temp, dir)
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(temp))
	}
	return nil
}

func fillFolder(dir string, j job) error {
	if err := os.Chmod(dir, 0o755); err != nil {
		return err
	}
	for i := range j.launches {
		if err := os.Mkdir(filepath.Join(dir, launchDir(i)), 0o777); err != nil {
			return err
		}
	}
	for name, content := range j.files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o666); err != nil {
			return err
		}
	}
	return writeJSON(filepath.Join(dir, planFile), plan{j.launches})
}

// writeJSON replaces a file in one step.
func writeJSON(path string, v any) error {
	text, err := json.MarshalIndent(v, "", "\t")
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if err := os.WriteFile(path+".new", append(text, '\n'), 0o666); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// writeStop keeps the script of a job from starting anything more. A folder that is
// gone needs none.
func writeStop(dir string) error {
	err := os.WriteFile(filepath.Join(dir, "stop"), nil, 0o666)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// namePrefix is what the jobs of one round of one problem have in common.
func namePrefix(campaign string, b benchrunner.Batch) string {
	if b.Label == "" {
		return fmt.Sprintf("tutti-%s-r%d-", campaign, b.Round)
	}
	return fmt.Sprintf("tutti-%s-%s-r%d-", campaign, b.Label, b.Round)
}

// lastNumber is the highest number of a job that the batch has had.
func lastNumber(prefix string, b benchrunner.Batch) int {
	last := 0
	for _, j := range b.Jobs {
		last = max(last, numberOf(prefix, j.Name))
	}
	return last
}

// numberOf returns the number at the end of a job's name, 0 for a name of
// somebody else.
func numberOf(prefix, name string) int {
	rest, ok := strings.CutPrefix(name, prefix)
	n, err := strconv.Atoi(rest)
	if !ok || err != nil {
		return 0
	}
	return n
}
