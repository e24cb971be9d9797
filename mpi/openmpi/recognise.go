package openmpi

import (
	"bytes"
	"cmp"
	"regexp"

	"tutti/mpi"
)

// Recognise implements mpi.Library. The library's file contains the revision of its repository, which is a
// tag for a release. The file of another build contains the release alone.
func (library) Recognise() mpi.Recogniser { return &recogniser{} }

type recogniser struct {
	isOpen     bool
	tag, plain string // releases
}

const banner = "Open MPI v%d.%d.%d"

var releaseForm = regexp.MustCompile(`^(v?)([0-9]+\.[0-9]+\.[0-9]+(?:(?:a|b|rc)[0-9]+)?)(-.*)?$`)

func (r *recogniser) See(text []byte) {
	switch {
	case string(text) == "Open MPI", bytes.HasPrefix(text, []byte(banner)):
		r.isOpen = true
	case len(text) > 64:
	default:
		m := releaseForm.FindSubmatch(text)
		switch {
		case m == nil:
		case len(m[1]) > 0:
			r.tag = cmp.Or(r.tag, string(m[2]))
		case len(m[3]) == 0:
			r.plain = cmp.Or(r.plain, string(m[2]))
		}
	}
}

func (r *recogniser) Name() string {
	release := cmp.Or(r.tag, r.plain)
	if !r.isOpen || release == "" {
		return ""
	}
	return "Open MPI " + release
}
