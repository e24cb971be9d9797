package doctor

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
)

// Launchable is a library that can be measured, with a launcher that was seen to start
// its programs.
type Launchable struct {
	Library  Library
	Launcher string   // as campaigns call it: srun, hydra or mpirun
	Path     string   // of the launcher; empty for srun
	PMI      string   // of srun
	Env      []string // NAME=VALUE that every launch needs here
}

// Launchables looks for MPI libraries and starts two processes with each launcher of
// each, as Examine does. Those that work come in the order of the libraries, srun first
// inside an allocation. It takes seconds.
func Launchables(ctx context.Context, opt Options) ([]Launchable, error) {
	x := newExaminer(opt, "/")
	x.options.Run = true
	if err := x.begin(ctx); err != nil {
		return nil, err
	}
	if err := x.makeTemp(); err != nil {
		return nil, fmt.Errorf("doctor: %w", err)
	}
	defer os.RemoveAll(x.temp)
	x.examineSlurm(ctx)
	x.examineLibraries(ctx)
	x.examineLaunchers(ctx)
	return x.launchables(), ctx.Err()
}

// launchables are the libraries of the catalogue with the launchers that worked.
func (x *examiner) launchables() []Launchable {
	var out []Launchable
	for _, lib := range x.libraries {
		var own, bySlurm []Launchable
		for _, t := range x.tried {
			switch {
			case t.library != lib || t.state != OK || lib.Catalogue == "":
			case t.slurm && x.slurm.job != "":
				_, pmi, _ := strings.Cut(t.launcher, "--mpi=")
				bySlurm = append(bySlurm, Launchable{Library: *lib, Launcher: "srun", PMI: pmi})
			case !t.slurm:
				l := Launchable{Library: *lib, Launcher: lib.launcher().Kind, Path: t.args[0]}
				if os.Geteuid() == 0 {
					l.Env = lib.launcher().RootEnv
				}
				own = append(own, l)
			}
		}
		out = slices.Concat(out, bySlurm, own)
	}
	return out
}
