package libraries

import (
	"errors"
	"fmt"
	"strings"

	"tutti/internal/infile"
	"tutti/internal/lazyregexp"
	"tutti/mpi"
)

// MaxRuleBytes is the largest accepted size of a selection file.
const MaxRuleBytes = 64 << 20

var releaseForm = lazyregexp.New(`^[0-9]+(\.[0-9A-Za-z]+)*$`)

// ReadRules reads a selection file of any library. `release` names the release that is to load it, as
// LIBRARY[=VERSION[:PATH]]; PATH is the library's own file. If it is empty, the format names the library, and the first
// release counts that tutti was tried with and that has the format.
//
// The error matches mpi.ErrRuleFile if the text is in no known format. It matches mpi.ErrUnknown for an unknown
// release.
func ReadRules(path, release string) (*mpi.RuleFile, error) {
	text, err := infile.Read(path, MaxRuleBytes)
	if err != nil {
		return nil, err
	}
	name, version, file, err := parseRelease(release)
	if err != nil {
		return nil, fmt.Errorf("--for %s: %w", release, err)
	}
	for _, l := range All() {
		reader, ok := l.(mpi.RuleReader)
		if !ok || name != "" && l.Facts().Name != name {
			continue
		}
		f, ok, err := readAs(reader, version, file, text)
		if err != nil {
			return nil, fmt.Errorf("--for %s: %w", release, err)
		}
		if ok {
			return f, nil
		}
	}
	return nil, fmt.Errorf("%s: %w%s", path, mpi.ErrRuleFile, wanted(name, text))
}

func parseRelease(text string) (name, version, file string, err error) {
	if text == "" {
		return "", "", "", nil
	}
	name, rest, given := strings.Cut(text, "=")
	version, file, withFile := strings.Cut(rest, ":")
	l, known := Named(name)
	_, reads := l.(mpi.RuleReader)
	switch {
	case !known || !reads:
		err = fmt.Errorf("library %q: want one of %s", name, strings.Join(RuleLibraries(), ", "))
	case given && !releaseForm.MatchString(version) && name != "libtutti":
		err = fmt.Errorf("version %q: want one like 4.1.4", version)
	case withFile && !l.Facts().FromFile:
		err = errors.New("a path is for mpich alone, whose trees are in the library's file")
	}
	return name, version, file, err
}

// RuleLibraries returns the names of the libraries whose selection files ReadRules reads.
func RuleLibraries() []string {
	var out []string
	for _, l := range All() {
		if _, ok := l.(mpi.RuleReader); ok {
			out = append(out, l.Facts().Name)
		}
	}
	return out
}

// readAs reads a text as a release does. Without a version, it is the first tried release that has the text's format.
func readAs(reader mpi.RuleReader, version, file string, text []byte) (first *mpi.RuleFile, ok bool, err error) {
	facts := reader.Facts()
	versions := []string{version}
	if version == "" {
		versions = append([]string{facts.TestedRelease}, facts.TestedReleases...)
		if facts.TestedRelease == "" {
			versions = []string{reader.Releases()[0].Version}
		}
	}
	for _, v := range versions {
		_, cat, err := Release(facts.Name, v)
		if err != nil {
			return nil, false, err
		}
		f, ok := reader.ReadRules(cat, file, text)
		if !ok {
			return nil, false, nil
		}
		if first = f; !f.OtherSeries {
			break
		}
	}
	return first, true, nil
}

func wanted(name string, text []byte) string {
	switch {
	case len(text) == 0:
		return ": it is empty"
	case strings.ContainsRune(string(text), 0):
		return ": it is binary"
	case name != "":
		return " of " + name
	}
	return ": want rules of Open MPI (coll/tuned, coll/han), a selection tree of MPICH in JSON, a tuner file of NCCL or RCCL, or a table of libtutti"
}
