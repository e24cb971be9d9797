package topology

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// version is the version of the format of topology.json. Read accepts no other version.
const version = 1

type document struct {
	Version int      `json:"version"`
	Root    Vertex   `json:"root"`
	Gaps    []string `json:"gaps,omitempty"`
}

// Write writes the tree as a topology.json. It returns an error if the tree does not pass Check.
func (t *Tree) Write(w io.Writer) error {
	if err := t.Check(); err != nil {
		return err
	}
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(document{Version: version, Root: t.Root, Gaps: t.Gaps})
}

// Read reads a topology.json. The parameter name is the file's name, for errors. Read returns an error for
// unknown keys, another version, text after the tree, or a tree that does not pass Check.
func Read(r io.Reader, name string) (Tree, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return Tree{}, fmt.Errorf("%s: %w", name, err)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	var doc document
	if err := d.Decode(&doc); err != nil {
		return Tree{}, fmt.Errorf("%s:%d: %w", name, lineAt(text, d, err), err)
	}
	if doc.Version != version {
		return Tree{}, fmt.Errorf("%s: version %d: want %d", name, doc.Version, version)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return Tree{}, fmt.Errorf("%s:%d: want nothing behind the tree", name, lineAt(text, d, err))
	}
	t := Tree{Root: doc.Root, Gaps: doc.Gaps}
	if err := t.Check(); err != nil {
		return Tree{}, fmt.Errorf("%s: %w", name, err)
	}
	return t, nil
}

// lineAt returns the number of the line in which the decoder found the error.
func lineAt(text []byte, d *json.Decoder, err error) int {
	at := d.InputOffset()
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		at = syntax.Offset
	case errors.As(err, &kind):
		at = kind.Offset
	case err != nil: // the error for an unknown key has no position
		key := strings.TrimPrefix(err.Error(), "json: unknown field ")
		if i := bytes.Index(text, []byte(key)); i >= 0 {
			at = int64(i)
		}
	}
	return 1 + bytes.Count(text[:min(at, int64(len(text)))], []byte("\n"))
}
