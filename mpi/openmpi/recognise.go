package openmpi

import (
	"regexp"

	"tutti/mpi"
)

// Recognise implements mpi.Library. The library's file contains the revision of its repository. For a
// release, this revision is a tag.
func (library) Recognise() mpi.Recogniser { return &recogniser{} }

type recogniser struct {
	isOpen  bool
	release string
}

var releaseForm = regexp.MustCompile(`^v([0-9]+\.[0-9]+\.[0-9]+((a|b|rc)[0-9]+)?)(-.*)?$`)

// See implements mpi.Recogniser.
func (r *recogniser) See(text []byte) {
	switch {
	case len(text) > 64:
	case string(text) == "Open MPI":
		r.isOpen = true
	case r.release == "":
		if m := releaseForm.FindSubmatch(text); m != nil {
			r.release = string(m[1])
		}
	}
}

// Name implements mpi.Recogniser.
func (r *recogniser) Name() string {
	if !r.isOpen || r.release == "" {
		return ""
	}
	return "Open MPI " + r.release
}
