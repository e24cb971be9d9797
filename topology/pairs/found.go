package pairs

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"tutti/benchrunner"
	"tutti/internal/infile"
	"tutti/topology"
	"tutti/topology/discover"
)

// Found is the result of a discovery: the tree and the measured pairs.
type Found struct {
	Tree       topology.Tree
	Conflicts  []topology.Conflict
	Parameters []discover.ClassParameters // of an example pair of each class, fastest class first, and of single pairs
	Warnings   []string                   // launches whose output is unreadable or damaged

	launches []launch
}

// launch holds the output of one launch, and the name of the job in which it ran.
type launch struct {
	job string
	discover.Measurements
}

func (f *Found) pairs() []discover.Measurement {
	var out []discover.Measurement
	for _, s := range f.launches {
		out = append(out, s.Pairs...)
	}
	return out
}

// Found returns the results of all launches so far, even of incomplete launches. It merges the topologies
// that several jobs found.
//
// It returns an error matching ErrNothing if no launch measured a pair.
func (d *Discovery) Found() (*Found, error) {
	f := &Found{}
	if err := f.read(d.Dir); err != nil {
		return nil, err
	}
	if err := f.merge(); err != nil {
		return nil, err
	}
	var all []discover.Example
	for _, s := range f.launches {
		all = append(all, s.Examples...)
	}
	var gaps []string
	f.Parameters, gaps = discover.FitClasses(all)
	f.Tree.Gaps = append(f.Tree.Gaps, gaps...)
	f.nameRanks()
	return f, nil
}

// nameRanks adds the two ranks to the parameters of single pairs.
func (f *Found) nameRanks() {
	classes, _ := discover.RankPairs(f.pairs(), nil) // without names, there is no error
	ranks := map[string]discover.Measurement{}
	for _, c := range classes {
		ranks[c.Name] = c.Pairs[0]
	}
	for i, p := range f.Parameters {
		if pair, single := ranks[p.Class]; single {
			f.Parameters[i].A, f.Parameters[i].B = &pair.A, &pair.B
		}
	}
}

func (f *Found) read(dir string) error {
	files, err := fs.Glob(os.DirFS(dir), "jobs/*/*/stdout")
	if err != nil {
		return err
	}
	slices.Sort(files)
	for _, file := range files {
		text, err := infile.Read(filepath.Join(dir, file), infile.NoLimit)
		if err != nil {
			return err
		}
		s := launch{job: filepath.Base(filepath.Dir(filepath.Dir(file)))}
		s.Measurements, err = discover.ReadOutput(benchrunner.Output{Stdout: text}.Lines())
		switch {
		case err != nil:
			f.Warnings = append(f.Warnings, fmt.Sprintf("job %s: %v", s.job, err))
			continue
		case s.Damaged > 0:
			f.Warnings = append(f.Warnings, fmt.Sprintf("job %s: %d lines cannot be read", s.job, s.Damaged))
		}
		f.launches = append(f.launches, s)
	}
	return nil
}

func (f *Found) merge() error {
	var trees []topology.Tree
	for _, s := range f.launches {
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

// why returns the first warning, as the end of an error message.
func (f *Found) why() string {
	if len(f.Warnings) == 0 {
		return ""
	}
	return ": " + f.Warnings[0]
}

func (s launch) unfinished() []string {
	var out []string
	for _, st := range s.Stages {
		if st.Passes == 0 {
			out = append(out, fmt.Sprintf("%s: not every pair was measured in %.0f s", st.Name, st.Seconds))
		}
	}
	if !s.Ended {
		out = append(out, "the launch ended before all pairs were measured")
	}
	return out
}
