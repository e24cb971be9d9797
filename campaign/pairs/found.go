package pairs

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"tutti/benchrunner"
	"tutti/topology"
	"tutti/topology/discover"
)

// Found is what was measured of a machine.
type Found struct {
	Tree       topology.Tree
	Conflicts  []topology.Conflict
	Parameters []discover.ClassParameters // of an example of each class of pairs, the nearest first
	Warnings   []string                   // starts that tell nothing

	starts []start
}

// start is what one start printed.
type start struct {
	job string
	discover.Measurements
}

// pairs returns the pairs of all starts.
func (f *Found) pairs() []discover.Measurement {
	var out []discover.Measurement
	for _, s := range f.starts {
		out = append(out, s.Pairs...)
	}
	return out
}

// Found returns what the starts of all processes have measured up to now, also those
// that never came to their end. Trees of several jobs are merged.
//
// It returns an error matching ErrNothing when no start has a pair or a node.
func (d *Discovery) Found() (*Found, error) {
	f := &Found{}
	if err := f.read(d.Dir); err != nil {
		return nil, err
	}
	if err := f.merge(); err != nil {
		return nil, err
	}
	var all []discover.Example
	for _, s := range f.starts {
		all = append(all, s.Examples...)
	}
	var gaps []string
	f.Parameters, gaps = discover.FitClasses(all)
	f.Tree.Gaps = append(f.Tree.Gaps, gaps...)
	return f, nil
}

// read reads what the starts in the folder of a discovery printed.
func (f *Found) read(dir string) error {
	files, err := fs.Glob(os.DirFS(dir), "jobs/*/*/stdout")
	if err != nil {
		return err
	}
	slices.Sort(files)
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			return err
		}
		s := start{job: filepath.Base(filepath.Dir(filepath.Dir(file)))}
		s.Measurements, err = discover.ReadOutput(benchrunner.Output{Stdout: text}.Lines())
		switch {
		case err != nil:
			f.Warnings = append(f.Warnings, fmt.Sprintf("job %s: %v", s.job, err))
			continue
		case s.Damaged > 0:
			f.Warnings = append(f.Warnings, fmt.Sprintf("job %s: %d lines cannot be read", s.job, s.Damaged))
		}
		f.starts = append(f.starts, s)
	}
	return nil
}

// merge makes the tree of the starts that measured pairs of a tournament.
func (f *Found) merge() error {
	var trees []topology.Tree
	for _, s := range f.starts {
		if len(s.PairsOf(discover.Between))+len(s.PairsOf(discover.Inside)) == 0 {
			continue
		}
		t, err := s.Tree()
		if err != nil {
			return fmt.Errorf("job %s: %w", s.job, err)
		}
		t.Gaps = append(t.Gaps, s.unfinished()...)
		trees = append(trees, t)
	}
	switch len(trees) {
	case 0:
		return fmt.Errorf("%w%s", ErrNothing, f.why())
	case 1:
		f.Tree = trees[0]
		return nil
	}
	merged, err := topology.Merge(trees)
	f.Tree, f.Conflicts = merged.Tree, merged.Conflicts
	return err
}

// why is what the first start that tells nothing says.
func (f *Found) why() string {
	if len(f.Warnings) == 0 {
		return ""
	}
	return ": " + f.Warnings[0]
}

// unfinished says what a start did not come to.
func (s start) unfinished() []string {
	var out []string
	for _, st := range s.Stages {
		if st.Passes == 0 {
			out = append(out, fmt.Sprintf("%s: not every pair was measured in %.0f s", st.Name, st.Seconds))
		}
	}
	if !s.Ended {
		out = append(out, "the start ended before all was measured")
	}
	return out
}
