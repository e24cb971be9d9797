package views

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"tutti/internal/config"
	"tutti/mpi"
	"tutti/mpi/libraries"
	"tutti/service"
)

// Machine tells what the machines of campaign files are like.
type Machine struct{}

// See implements service.Site. A library whose file is not on this machine is
// known by the version in the campaign file and by its benchmark program.
func (Machine) See(ctx context.Context, b service.Base) (service.Seen, error) {
	c, err := config.Load(b.File, config.Layers{})
	if err != nil {
		return service.Seen{}, err
	}
	var seen service.Seen
	for _, lib := range c.Libraries {
		s, err := seeLibrary(lib)
		if err != nil {
			return service.Seen{}, err
		}
		seen.Libraries = append(seen.Libraries, s)
	}
	seen.Nodes, err = nodesOf(ctx, c)
	return seen, err
}

func seeLibrary(lib config.Library) (service.SeenLibrary, error) {
	s := service.SeenLibrary{Name: lib.Name, Path: lib.Path, Version: lib.Version}
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

// nodesOf lists the nodes that a campaign can get, by name; none where nobody
// lists them.
func nodesOf(ctx context.Context, c *config.Campaign) ([]string, error) {
	switch c.Runner.Kind {
	case config.Local:
		host, err := os.Hostname()
		return []string{host}, err
	case config.SlurmJobs:
		return slurmNodes(ctx, c.Slurm)
	}
	return nil, nil
}

func slurmNodes(ctx context.Context, s config.Slurm) ([]string, error) {
	args := []string{"--noheader", "--Node", "--format=%N"}
	if s.Partition != "" {
		args = append(args, "--partition="+s.Partition)
	}
	name := "sinfo"
	if s.Bin != "" {
		name = filepath.Join(s.Bin, name)
	}
	cmd := exec.CommandContext(ctx, name, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("sinfo: %w: %s", err, strings.TrimSpace(errs.String()))
	}
	nodes := strings.Fields(out.String())
	slices.Sort(nodes)
	return slices.Compact(nodes), nil
}
