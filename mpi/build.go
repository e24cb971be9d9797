package mpi

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tutti/coll"
	"tutti/selection"
)

// Build makes selection files for one release of a library.
type Build interface {
	// Catalogue returns the algorithms of the release that this build of the library can run.
	Catalogue() *Catalogue

	// Merge merges rows (points with the predicted times of algorithms) into a selection that the library's files can
	// express. The rows may be of several collectives. At each point the selection may contain any algorithm whose
	// loss is at most maxLoss. The loss is the ratio of its predicted time to that of the best algorithm, minus one.
	// The error matches selection.ErrRow, or ErrUnknown if the release does not have an algorithm of the rows.
	Merge(rows []selection.Row, maxLoss float64) (selection.Selection, error)

	// Export returns the files and settings with which the library follows a selection returned by Merge. The
	// parameter `dir` is the absolute path of the folder for the files. Equal selections give equal exports.
	// The error matches ErrUnknown if the release does not have an algorithm.
	Export(sel selection.Selection, dir string) (Export, error)

	// Replay reads an exported selection back and evaluates it as the library does. It returns an error if the
	// library would not run the algorithm that `sel` selects for a row.
	Replay(x Export, sel selection.Selection, rows []selection.Row) error
}

// MergeOptions limit which algorithms a selection may use.
type MergeOptions struct {
	MaxLoss float64 // largest accepted loss of a row: 0.01 accepts one percent
	OpSafe  bool    // without algorithms that are wrong for some valid calls, see Entry.OpSafe
}

// Merge merges rows like the method Merge of a Build. It leaves out algorithms that the options exclude. It also leaves
// out algorithms that the catalogue of the build does not list, for example because a later release of tutti
// removed them.
func Merge(b Build, rows []selection.Row, opt MergeOptions) (selection.Selection, error) {
	rows = slices.Clone(rows)
	for i, r := range rows {
		rows[i].Options = slices.DeleteFunc(slices.Clone(r.Options), func(o selection.Option) bool {
			e, err := b.Catalogue().Lookup(r.Point.Collective, o.Algorithm)
			return !o.Algorithm.IsDefault() && (err != nil || opt.OpSafe && e.Unsafe(o.Algorithm) != "")
		})
	}
	return b.Merge(rows, opt.MaxLoss)
}

// Export holds the files and settings with which a library follows a selection.
type Export struct {
	Files   []File
	Setup   Setup
	Snippet string // name of the POSIX shell file that sets Setup

	// Provenance says in lines of text where the selection comes from. Write puts it as comments into the files whose
	// Comment is set. Setup.Remarks are the comments of the settings.
	Provenance []string

	// Stale lists patterns (see path.Match) of files that an earlier export may have left. The files of a
	// folder come before the folder.
	Stale []string
}

// File is a file that the library loads. Its name is relative to the folder of the export and contains
// slashes as separators.
type File struct {
	Name    string
	Content []byte
	Comment CommentStyle
}

// CommentStyle says how a library accepts comments before the content of a file.
type CommentStyle string

// The styles of comments. The zero value means that the library accepts none.
const (
	HashComment  CommentStyle = "#"
	BlockComment CommentStyle = "/*" // as json-c accepts in JSON
)

// withComments returns the content of the file behind lines of comments. The lines must not contain line breaks.
func (f File) withComments(lines []string) []byte {
	if len(lines) == 0 {
		return f.Content
	}
	var b bytes.Buffer
	switch f.Comment {
	case HashComment:
		fmt.Fprintf(&b, "# %s\n", strings.Join(lines, "\n# "))
	case BlockComment:
		fmt.Fprintf(&b, "/* %s */\n", strings.ReplaceAll(strings.Join(lines, "\n   "), "*/", "* /"))
	}
	b.Write(f.Content)
	return b.Bytes()
}

// Loaded returns the content of the file that an environment variable names in jobs of a layout. It returns
// nil if these jobs do not set the variable. For the zero layout, it returns the file for jobs of layouts
// without their own settings.
func (x Export) Loaded(l coll.Layout, variable string) []byte {
	for _, s := range x.Setup.For(l) {
		for _, f := range x.Files {
			if s.Name == variable && strings.HasSuffix(filepath.ToSlash(s.Value), "/"+f.Name) {
				return f.Content
			}
		}
	}
	return nil
}

// Names returns the names of the files that Write creates: files in the folder itself, then the shell file
// (Snippet) and that for csh, then files in subfolders.
func (x Export) Names() []string {
	var here, below []string
	all, _ := x.all()
	for _, f := range all {
		if filepath.Dir(f.Name) == "." {
			here = append(here, f.Name)
		} else {
			below = append(below, f.Name)
		}
	}
	return slices.Concat(here, below)
}

// all returns Files, the POSIX shell file, and the file for csh if csh can express the settings.
func (x Export) all() ([]File, error) {
	snippet, err := x.Setup.Shell()
	all := append(slices.Clone(x.Files), File{Name: x.Snippet, Content: snippet})
	if text, err := x.Setup.Csh(); err == nil {
		all = append(all, File{Name: CshName(x.Snippet), Content: text})
	}
	return all, err
}

// CshName returns the name of the file for csh next to the POSIX shell file `snippet`.
func CshName(snippet string) string {
	return strings.TrimSuffix(snippet, filepath.Ext(snippet)) + ".csh"
}

// Write writes the files into an existing folder, each atomically. It then writes the shell files. Finally, it
// removes stale files of an earlier export.
func (x Export) Write(dir string) error {
	all, err := x.all()
	if err != nil {
		return fmt.Errorf("%s: %w", x.Snippet, err)
	}
	for _, f := range all {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if below := filepath.Dir(path); below != filepath.Clean(dir) {
			if err := os.Mkdir(below, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
				return err
			}
		}
		if err := WriteFile(path, f.withComments(x.Provenance)); err != nil {
			return err
		}
	}
	return x.removeStale(dir)
}

func (x Export) removeStale(dir string) error {
	needed := x.Names()
	for _, pattern := range append(slices.Clone(x.Stale), CshName(x.Snippet)) {
		found, err := fs.Glob(os.DirFS(dir), pattern)
		if err != nil {
			return fmt.Errorf("%s: %w", pattern, err)
		}
		for _, name := range found {
			if slices.Contains(needed, name) {
				continue
			}
			// A folder that contains other files is not removed: Remove returns ErrExist.
			err := os.Remove(filepath.Join(dir, filepath.FromSlash(name)))
			if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrExist) {
				return err
			}
		}
	}
	return nil
}

// Portable adapts rows that were measured with another release. It keeps the options that this release also
// has. If the best remaining option of a row is slower than the best measured one by more than maxLoss,
// only the default remains. The result `left` is the number of rows with only the default.
func (c *Catalogue) Portable(rows []selection.Row, measured string, maxLoss float64) (out []selection.Row, left int) {
	if c.Version == measured {
		return rows, 0
	}
	for _, r := range rows {
		both := selection.Row{Point: r.Point}
		least := -1.0
		for _, o := range r.Options {
			if !c.ValidFrom(coll.Candidate{Point: r.Point, Algorithm: o.Algorithm}, measured) {
				continue
			}
			both.Options = append(both.Options, o)
			if loss, _ := r.Loss(o.Algorithm); least < 0 || loss < least {
				least = loss
			}
		}
		if len(r.Options) > 0 && (least < 0 || least > maxLoss) {
			left++
			both.Options = slices.DeleteFunc(both.Options, func(o selection.Option) bool { return !o.Algorithm.IsDefault() })
		}
		out = append(out, both)
	}
	return out, left
}
