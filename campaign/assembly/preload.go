package assembly

import (
	"slices"

	"tutti/coll"
	"tutti/mpi"
)

// preload is the variable that names libraries to be loaded before others, separated by colons.
const preload = "LD_PRELOAD"

// preloaded adds the file of a library that is preloaded to the variables that force one of its
// algorithms, and to those of launches that it shares with others.
func preloaded(lib mpi.Library, path string, f mpi.Forcing) mpi.Forcing {
	if !lib.Facts().Preload {
		return f
	}
	file := mpi.Var{Name: preload, Value: path}
	f.Base = append(slices.Clone(f.Base), file)
	if len(f.Env) > 0 {
		f.Env = append(slices.Clone(f.Env), file)
	}
	return f
}

// behind appends the libraries that a site preloads to those that force an algorithm.
func behind(site []mpi.Var, force func(coll.Candidate) (mpi.Forcing, error)) func(coll.Candidate) (mpi.Forcing, error) {
	at := slices.IndexFunc(site, func(v mpi.Var) bool { return v.Name == preload })
	if at < 0 {
		return force
	}
	join := func(vars []mpi.Var) []mpi.Var {
		vars = slices.Clone(vars)
		for i, v := range vars {
			if v.Name == preload {
				vars[i].Value += ":" + site[at].Value
			}
		}
		return vars
	}
	return func(c coll.Candidate) (mpi.Forcing, error) {
		f, err := force(c)
		f.Base, f.Env = join(f.Base), join(f.Env)
		return f, err
	}
}
