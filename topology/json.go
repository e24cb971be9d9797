package topology

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	strict "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
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

// Read reads a topology.json. Errors begin with the file's name. Read returns an error for unknown keys,
// another version, text after the tree, or a tree that does not pass Check.
func Read(r io.Reader, name string) (Tree, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return Tree{}, fmt.Errorf("%s: %w", name, err)
	}
	var doc document
	if err := strict.Unmarshal(text, &doc, strict.RejectUnknownMembers(true)); err != nil {
		offset, reason := located(err)
		return Tree{}, fmt.Errorf("%s:%d: %w", name, 1+bytes.Count(text[:offset], []byte("\n")), reason)
	}
	if doc.Version != version {
		return Tree{}, fmt.Errorf("%s: version %d: want %d", name, doc.Version, version)
	}
	t := Tree{Root: doc.Root, Gaps: doc.Gaps}
	if err := t.Check(); err != nil {
		return Tree{}, fmt.Errorf("%s: %w", name, err)
	}
	return t, nil
}

func located(err error) (offset int64, reason error) {
	if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		return syntax.ByteOffset, syntax.Err
	}
	if semantic, ok := errors.AsType[*strict.SemanticError](err); ok {
		if semantic.Err != nil {
			err = fmt.Errorf("%s: %w", semantic.JSONPointer, semantic.Err)
		}
		return semantic.ByteOffset, err
	}
	return 0, err
}
