package mpich

import (
	"slices"

	"tutti/mpi"
	"tutti/mpi/mpich/csel"
)

// Entered returns the functions that the first process of a node enters in the
// library with the files, each once, alphabetical; device is nil when there is no file for
// the device.
func Entered(tree, device []byte, call Call, lib csel.Library, cat *mpi.Catalogue) ([]string, error) {
	f := files{device: lib.Device}
	var err error
	if f.tree, err = csel.Parse(tree); err != nil {
		return nil, err
	}
	if device != nil {
		if f.device, err = csel.Parse(device); err != nil {
			return nil, err
		}
	}
	r, err := routeOf(f, call, cat)
	if err != nil {
		return nil, err
	}
	var names []string
	if r.flat.Name != "" {
		names = append(names, r.flat.Name)
	}
	for _, p := range r.parts {
		names = append(names, p.Name)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}
