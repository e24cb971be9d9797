package csel

import "regexp"

// Release finds the release in the texts of a library, where it is next to the release
// date, in either order.
type Release struct {
	version string
	before  []byte // the text before the current one
}

var (
	releaseForm = regexp.MustCompile(`^[0-9]+\.[0-9]+(\.[0-9]+)?((a|b|rc|p)[0-9]+)?$`)
	// The format of C's asctime.
	dateForm = regexp.MustCompile(`^[A-Z][a-z]{2} [A-Z][a-z]{2} [ 0-9]{2} [0-9:]{8} .*[0-9]{4}$`)
)

// See processes the next text.
func (r *Release) See(text []byte) {
	switch {
	case r.version != "" || len(text) < 3:
		return
	case len(text) > short:
		r.before = r.before[:0]
		return
	case releaseForm.Match(text) && dateForm.Match(r.before):
		r.version = string(text)
	case dateForm.Match(text) && releaseForm.Match(r.before):
		r.version = string(r.before)
	}
	r.before = append(r.before[:0], text...)
}

// Version returns the release, "" if it was not found.
func (r *Release) Version() string { return r.version }
