package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"tutti/benchrunner"
	"tutti/internal/config"
	"tutti/mpi"
	"tutti/mpi/libraries"
)

// MachineState describes which libraries and nodes a machine had at one time.
type MachineState struct {
	Libraries []LibraryBuild `json:"libraries,omitempty"`
	Nodes     []string       `json:"nodes,omitempty"` // names; empty if unknown
}

// LibraryBuild identifies one build of an MPI library.
type LibraryBuild struct {
	Name     string `json:"name"`
	Path     string `json:"path,omitempty"`
	Version  string `json:"version,omitempty"`  // version in the file, or else in the campaign file
	Checksum string `json:"checksum,omitempty"` // SHA-256 of the file
}

// inspectTimeout limits how long the inspection of a machine may take.
const inspectTimeout = 30 * time.Second

// changedLibrary describes the first library that is not as it was before. It returns "" if no library has
// changed. The text names no path, because tokens of every role may read it.
func changedLibrary(before, now []LibraryBuild) string {
	for _, n := range now {
		i := slices.IndexFunc(before, func(b LibraryBuild) bool { return b.Name == n.Name })
		if i < 0 {
			return n.Name + " is new"
		}
		switch b := before[i]; {
		case b.Version != n.Version:
			return fmt.Sprintf("%s was version %s and is %s", n.Name, cmp.Or(b.Version, "unknown"), cmp.Or(n.Version, "unknown"))
		case b.Path != n.Path:
			return n.Name + ": the path of its file has changed"
		case b.Checksum != n.Checksum:
			return n.Name + ": its file has changed"
		}
	}
	return ""
}

// changedNodes describes how many nodes were removed and added. It returns "" if the nodes are the same.
func changedNodes(before, now []string) string {
	missing := func(from, in []string) (n int) {
		for _, name := range from {
			if !slices.Contains(in, name) {
				n++
			}
		}
		return n
	}
	added, removed := missing(now, before), missing(before, now)
	if added == 0 && removed == 0 {
		return ""
	}
	return fmt.Sprintf("of %d nodes %d were removed, %d are new", len(before), removed, added)
}

// InspectMachine returns the state of the machine that a campaign file describes. If the file of a library is not on
// this host, the version comes from the campaign file. The checksum is then that of the library's benchmark program.
func InspectMachine(ctx context.Context, b config.Base) (MachineState, error) {
	ctx, stop := context.WithTimeout(ctx, inspectTimeout)
	defer stop()
	c, err := config.Load(b.File, config.Layers{})
	if err != nil {
		return MachineState{}, err
	}
	var state MachineState
	for _, lib := range c.Libraries {
		s, err := inspectLibrary(lib)
		if err != nil {
			return MachineState{}, err
		}
		state.Libraries = append(state.Libraries, s)
	}
	state.Nodes, err = nodesOf(ctx, c)
	return state, err
}

func inspectLibrary(lib config.Library) (LibraryBuild, error) {
	s := LibraryBuild{Name: lib.Name, Path: lib.Path, Version: lib.Version}
	path := lib.Path
	if path == "" {
		path = lib.Benchmark
		if stat, err := os.Stat(path); err != nil || !stat.Mode().IsRegular() {
			return s, nil // on the nodes only, or a folder of programs
		}
	}
	f, err := libraries.Identify(path)
	if err != nil && !errors.Is(err, mpi.ErrNoVersion) {
		return s, fmt.Errorf("library %s: %w", lib.Name, err)
	}
	s.Path, s.Checksum = f.Path, f.SHA256
	if lib.Path != "" && f.Version != "" {
		s.Version = f.Version
	}
	return s, nil
}

// nodesOf returns the names of the nodes that a campaign can use, in ascending order. It returns nil if they are
// unknown.
func nodesOf(ctx context.Context, c *config.Campaign) ([]string, error) {
	if !c.Runner.Live() {
		return nil, nil
	}
	scheduler, err := c.NewScheduler(os.Environ(), nil)
	if errors.Is(err, benchrunner.ErrOutside) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if lister, ok := scheduler.(benchrunner.NodeLister); ok {
		return lister.Nodes(ctx)
	}
	return nil, nil
}
