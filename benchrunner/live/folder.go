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

// Names of files in a job's folder that tutti both writes and reads.
const (
	planFile   = "plan.json"
	resultFile = "result.json"
	timeUpFile = "time-up" // the script begins no launch but the first
)

type plan struct {
	Launches []launch
}

// makeFolder creates the folder of a job with all its files atomically. The error matches fs.ErrExist if a
// file or folder of this name exists.
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
	if !j.private { // MkdirTemp created the folder with mode 0700
		if err := os.Chmod(dir, 0o755); err != nil {
			return err
		}
	}
	for i := range j.launches {
		if err := os.Mkdir(filepath.Join(dir, launchDir(i)), 0o777); err != nil {
			return err
		}
	}
	for name, content := range j.files {
		mode := fs.FileMode(0o666)
		if filepath.Base(name) == variablesFile {
			mode = 0o600
		}
		if err := os.WriteFile(filepath.Join(dir, name), content, mode); err != nil {
			return err
		}
	}
	return writeJSON(filepath.Join(dir, planFile), plan{j.launches})
}

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

// writeStop writes the stop file, which keeps the script of a job from starting another
// launch. It ignores a missing folder.
func writeStop(dir string) error {
	err := os.WriteFile(filepath.Join(dir, "stop"), nil, 0o666)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func namePrefix(campaign string, b benchrunner.Batch) string {
	if b.Label == "" {
		return fmt.Sprintf("tutti-%s-r%d-", campaign, b.Round)
	}
	return fmt.Sprintf("tutti-%s-%s-r%d-", campaign, b.Label, b.Round)
}

// lastNumber returns the highest number of the batch's earlier jobs, whose names are the prefix and a number.
func lastNumber(prefix string, b benchrunner.Batch) int {
	last := 0
	for _, j := range b.Jobs {
		last = max(last, numberOf(prefix, j.Name))
	}
	return last
}

func numberOf(prefix, name string) int {
	rest, ok := strings.CutPrefix(name, prefix)
	n, err := strconv.Atoi(rest)
	if !ok || err != nil {
		return 0
	}
	return n
}
