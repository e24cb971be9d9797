package doctor

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
)

// LibraryFile tells which build of an MPI library a file is.
type LibraryFile struct {
	Path    string `json:"path"`    // symbolic links followed
	Version string `json:"version"` // "MPICH 4.0.2", "Open MPI 4.1.4"; empty when the file does not tell
	SHA256  string `json:"sha256"`  // hexadecimal
}

// ErrNoVersion reports a file that does not look like an MPI library.
var ErrNoVersion = errors.New("no version of an MPI library in it")

// Fingerprint reads the file of a shared MPI library, 40 MB in a quarter of a
// second. With an error that matches ErrNoVersion the path and the checksum are
// valid.
func Fingerprint(path string) (LibraryFile, error) {
	f, _, err := readLibrary(path)
	return f, err
}

func readLibrary(path string) (LibraryFile, contents, error) {
	path = real(path)
	info, err := os.Stat(path)
	if err != nil {
		return LibraryFile{}, contents{}, err
	}
	if !info.Mode().IsRegular() {
		return LibraryFile{}, contents{}, fmt.Errorf("%s: not a regular file", path)
	}
	file, err := os.Open(path)
	if err != nil {
		return LibraryFile{}, contents{}, err
	}
	defer file.Close()
	sum := sha256.New()
	var c contents
	if err := c.scan(io.TeeReader(file, sum)); err != nil {
		return LibraryFile{}, contents{}, err
	}
	print := LibraryFile{Path: path, Version: c.name(), SHA256: hex.EncodeToString(sum.Sum(nil))}
	if print.Version == "" {
		return print, c, fmt.Errorf("%s: %w", path, ErrNoVersion)
	}
	return print, c, nil
}

// contents is what the strings of a library tell.
type contents struct {
	vendor  string // a relative of MPICH that names itself, with its release
	mpich   string // release
	openMPI string // release
	isOpen  bool
	device  string // of MPICH
	asserts bool   // MPICH checks what it does
	ch4     bool   // device collectives: compositions of the ch4 device
	posix   bool   // collectives through shared memory within a node

	before []byte // the string before the current one
}

// name returns library and release, empty when neither was seen.
func (c *contents) name() string {
	switch {
	case c.vendor != "":
		return c.vendor
	case c.mpich != "":
		return "MPICH " + c.mpich
	case c.isOpen && c.openMPI != "":
		return "Open MPI " + c.openMPI
	}
	return ""
}

// scan sees every NUL-terminated string, one window at a time; what is longer
// than a window is code or numbers.
func (c *contents) scan(r io.Reader) error {
	in := bufio.NewReaderSize(r, 64<<10)
	for {
		text, err := in.ReadSlice(0)
		c.see(bytes.TrimSuffix(text, []byte{0}))
		switch {
		case err == io.EOF:
			return nil
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return err
		}
	}
}

var (
	// MPICH keeps its release beside its release date, as C's asctime writes dates.
	mpichForm = regexp.MustCompile(`^[0-9]+\.[0-9]+(\.[0-9]+)?((a|b|rc|p)[0-9]+)?$`)
	dateForm  = regexp.MustCompile(`^[A-Z][a-z]{2} [A-Z][a-z]{2} [ 0-9]{2} [0-9:]{8} .*[0-9]{4}$`)
	// Open MPI keeps the revision of its repository, a release's is its tag.
	openForm   = regexp.MustCompile(`^v([0-9]+\.[0-9]+\.[0-9]+((a|b|rc)[0-9]+)?)(-.*)?$`)
	deviceForm = regexp.MustCompile(`^ch[34](:[a-z0-9,]+)+$`)
	vendorForm = regexp.MustCompile(`(Intel\(R\) MPI Library|CRAY MPICH version) ([0-9][0-9.]*)`)
	assertForm = regexp.MustCompile(`== (MPIR_)?CSEL_NODE_TYPE__`)
)

func (c *contents) see(text []byte) {
	if len(text) < 3 || len(text) > 32<<10 || text[0] < ' ' || text[0] > '~' {
		return
	}
	if len(text) <= 64 {
		c.seeShort(text)
		c.before = append(c.before[:0], text...)
	} else {
		c.before = c.before[:0]
	}
	if c.vendor == "" && bytes.Contains(text, []byte("MPI")) {
		if m := vendorForm.FindSubmatch(text); m != nil {
			c.vendor = map[byte]string{'I': "Intel MPI ", 'C': "Cray MPICH "}[m[1][0]] + string(m[2])
		}
	}
	c.ch4 = c.ch4 || bytes.HasPrefix(text, []byte("composition=MPIDI_"))
	c.posix = c.posix || bytes.Contains(text, []byte("ch4/shm/posix/"))
	c.asserts = c.asserts || bytes.Contains(text, []byte("CSEL_NODE_TYPE__")) && assertForm.Match(text)
}

func (c *contents) seeShort(text []byte) {
	switch {
	case string(text) == "Open MPI":
		c.isOpen = true
	case c.device == "" && deviceForm.Match(text):
		c.device = string(text)
	case c.mpich == "" && mpichForm.Match(text) && dateForm.Match(c.before):
		c.mpich = string(text)
	case c.mpich == "" && dateForm.Match(text) && mpichForm.Match(c.before):
		c.mpich = string(c.before)
	case c.openMPI == "":
		if m := openForm.FindSubmatch(text); m != nil {
			c.openMPI = string(m[1])
		}
	}
}
