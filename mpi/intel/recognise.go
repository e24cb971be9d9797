package intel

import (
	"bytes"
	"regexp"

	"tutti/mpi"
)

// Recognise implements mpi.Library. The file names its release; that of the MPICH
// which it was made from stands beside it.
func (library) Recognise() mpi.Recogniser { return &recogniser{} }

type recogniser struct{ release string }

var releaseForm = regexp.MustCompile(`Intel\(R\) MPI Library ([0-9][0-9.]{0,31})`)

// See implements mpi.Recogniser.
func (r *recogniser) See(text []byte) {
	if r.release != "" || !bytes.Contains(text, []byte("MPI")) {
		return
	}
	if m := releaseForm.FindSubmatch(text); m != nil {
		r.release = string(m[1])
	}
}

// Name implements mpi.Recogniser.
func (r *recogniser) Name() string {
	if r.release == "" {
		return ""
	}
	return "Intel MPI " + r.release
}
