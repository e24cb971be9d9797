package main

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tutti/csource"
	"tutti/doctor"
	"tutti/internal/config"
)

// launchable is an MPI library with a launcher that works, and the benchmark program that was built with it.
type launchable struct {
	doctor.Launchable
	program string // name of a file in the folder of the campaign; empty if there is none
}

// findLaunchables returns the MPI libraries that work here, in the order in which a campaign takes them: those of the
// benchmark programs in the folder `dir`, then that of the user's mpicc, then the others. `unusable` says which libraries
// and launchers do not work, and why.
func (a *app) findLaunchables(ctx context.Context, dir string) (works []launchable, unusable []string, err error) {
	a.printLine("looking for MPI libraries and launchers")
	found, unusable, err := doctor.Launchables(ctx, doctor.Options{Environ: a.environ, Dir: nearestFolder(dir)})
	if err != nil {
		return nil, nil, err
	}
	for i := range unusable {
		unusable[i] = "not usable: " + unusable[i]
	}
	programs := a.benchmarks(ctx, dir)
	usual := lookPath(a.environ, "mpicc")
	out := make([]launchable, len(found))
	for i, l := range found {
		out[i] = launchable{l, programs[l.Library.File.Path]}
	}
	rank := func(l launchable) int {
		switch {
		case l.program != "":
			return 0
		case slices.ContainsFunc(l.Library.Compilers, func(c string) bool { return sameFile(c, usual) }):
			return 1
		}
		return 2
	}
	slices.SortStableFunc(out, func(l, m launchable) int { return cmp.Compare(rank(l), rank(m)) })
	return out, unusable, nil
}

// benchmarks returns the names of tutti's benchmark programs in a folder by the file of the MPI library that each loads.
// Of several programs of a library it takes the first one.
func (a *app) benchmarks(ctx context.Context, dir string) map[string]string {
	out := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return out
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		info, err := os.Stat(path)
		if err != nil || !strings.HasPrefix(e.Name(), csource.Bench.Name) || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
			continue
		}
		if abs, err := filepath.Abs(path); err == nil {
			loads := doctor.Loaded(ctx, abs, a.environ).Path
			out[loads] = cmp.Or(out[loads], e.Name())
		}
	}
	return out
}

// lookPath returns the path of a program in the PATH of an environment, "" if there is none.
func lookPath(environ []string, program string) string {
	for _, v := range slices.Backward(environ) {
		if list, ok := strings.CutPrefix(v, "PATH="); ok {
			for _, dir := range filepath.SplitList(list) {
				path := filepath.Join(dir, program)
				if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
					return path
				}
			}
			return ""
		}
	}
	return ""
}

// sameFile reports whether two paths are of one name in one folder. Compilers of several libraries may be links to one
// program, which looks at its name.
func sameFile(a, b string) bool {
	if a == "" || b == "" || filepath.Base(a) != filepath.Base(b) {
		return false
	}
	in, err := os.Stat(filepath.Dir(a))
	other, errOther := os.Stat(filepath.Dir(b))
	return err == nil && errOther == nil && os.SameFile(in, other)
}

func libraryOf(l launchable) config.Library {
	return config.Library{
		Name: l.Library.Family, Version: l.Library.Version, Path: l.Library.File.Path, Benchmark: cmp.Or(l.program, csource.Bench.Name+"-"+l.Library.Family),
		Launcher: l.Launcher, LauncherPath: l.Path, PMI: l.PMI, Env: l.Env,
	}
}
