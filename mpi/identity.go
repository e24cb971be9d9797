package mpi

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Identity identifies one build of an MPI library by the library's file.
type Identity struct {
	Path    string `json:"path"`    // with symbolic links resolved
	Version string `json:"version"` // "MPICH 4.0.2", "Open MPI 4.1.4"; empty if the file does not contain it
	SHA256  string `json:"sha256"`  // hexadecimal
}

// ErrNoVersion is the error for a file that does not look like an MPI library. Compare with errors.Is.
var ErrNoVersion = errors.New("no version of an MPI library in it")

// Recogniser recognises a library by the texts in its file. Method See gets the texts one after another. A
// text is valid only until See returns.
type Recogniser interface {
	See(text []byte)
	Name() string // library and release: "MPICH 4.0.2"; empty for other files
}

// Identify reads the file of a shared MPI library, at 160 MB/s. Identify asks the recognisers in order for
// the name of the library. If the error matches ErrNoVersion, path and checksum are valid.
func Identify(path string, recognisers []Recogniser) (Identity, error) {
	if to, err := filepath.EvalSymlinks(path); err == nil {
		path = to
	}
	info, err := os.Stat(path)
	if err != nil {
		return Identity{}, err
	}
	if !info.Mode().IsRegular() {
		return Identity{}, fmt.Errorf("%s: not a regular file", path)
	}
	file, err := os.Open(path)
	if err != nil {
		return Identity{}, err
	}
	defer file.Close()
	sum := sha256.New()
	err = BinaryTexts(io.TeeReader(file, sum), func(text []byte) {
		if !isText(text) {
			return
		}
		for _, r := range recognisers {
			r.See(text)
		}
	})
	if err != nil {
		return Identity{}, err
	}
	id := Identity{Path: path, SHA256: hex.EncodeToString(sum.Sum(nil))}
	for _, r := range recognisers {
		if id.Version = r.Name(); id.Version != "" {
			return id, nil
		}
	}
	return id, fmt.Errorf("%s: %w", path, ErrNoVersion)
}

func isText(text []byte) bool {
	return len(text) >= 3 && len(text) <= 32<<10 && text[0] >= ' ' && text[0] <= '~'
}

// textWindow is the size of the largest piece of a file that BinaryTexts returns at once. The longest text that
// tutti looks for is 15 kB long.
const textWindow = 1 << 20

// BinaryTexts calls the function `see` with every NUL-terminated string of a binary file, without the NUL. It
// passes a string longer than 1 MiB, such as code or numbers, in pieces. A text is valid only until `see`
// returns.
func BinaryTexts(r io.Reader, see func(text []byte)) error {
	in := bufio.NewReaderSize(r, textWindow)
	for {
		text, err := in.ReadSlice(0)
		see(bytes.TrimSuffix(text, []byte{0}))
		switch {
		case err == io.EOF:
			return nil
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return err
		}
	}
}
