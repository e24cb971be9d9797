package mpich

import (
	"bytes"
	"regexp"

	"tutti/mpi"
)

// Recognise implements mpi.Library. A libmpich file contains its release next to the release date. Cray's
// variant also has its own name there.
func (library) Recognise() mpi.Recogniser { return &recogniser{} }

type recogniser struct {
	release releaseFinder
	cray    string
}

var crayForm = regexp.MustCompile(`CRAY MPICH version ([0-9][0-9.]{0,31})`)

func (r *recogniser) See(text []byte) {
	r.release.See(text)
	if r.cray != "" || !bytes.Contains(text, []byte("CRAY")) {
		return
	}
	if m := crayForm.FindSubmatch(text); m != nil {
		r.cray = string(m[1])
	}
}

func (r *recogniser) Name() string {
	switch version := r.release.Version(); {
	case r.cray != "":
		return "Cray MPICH " + r.cray
	case version != "":
		return "MPICH " + version
	}
	return ""
}
