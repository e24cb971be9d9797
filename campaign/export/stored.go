package export

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"tutti/internal/infile"
	"tutti/journal"
	"tutti/report"
)

// Stored returns the facts in the report of a folder if they are those of its journal: the same program wrote them
// after the last measurement, and every file is as it was written. Otherwise it returns false, and the files must be
// written again. It fits no model.
func Stored(dir, version string) (report.Facts, bool) {
	var f report.Facts
	text, err := infile.Read(filepath.Join(dir, ReportJSON), maxStored)
	if err != nil || json.Unmarshal(text, &f) != nil || f.Tutti != version || f.Journal == "" {
		return report.Facts{}, false
	}
	digest, err := journal.Digest(dir)
	if err != nil || digest != f.Journal {
		return report.Facts{}, false
	}
	for _, name := range []string{ReportHTML, CurveCSV, SelectionCSV} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return report.Facts{}, false
		}
	}
	for _, l := range f.Libraries {
		if sum, err := sumOf(dir, l.Files); err != nil || sum != l.Sum {
			return report.Facts{}, false
		}
	}
	return f, true
}

// StoredVerdicts returns the verdicts in the report of a folder, whether or not its journal has grown since.
func StoredVerdicts(dir string) ([]report.Verdict, error) {
	text, err := infile.Read(filepath.Join(dir, ReportJSON), maxStored)
	if err != nil {
		return nil, err
	}
	var f struct {
		Libraries []report.LibraryFacts `json:"libraries"`
	}
	if err := json.Unmarshal(text, &f); err != nil {
		return nil, fmt.Errorf("%s: %w", ReportJSON, err)
	}
	return report.Facts{Libraries: f.Libraries}.Verdicts(), nil
}

// maxStored is the largest size of a report that is read, in bytes. A million points take about 300 MB.
const maxStored = 1 << 30

// sumOf returns the SHA-256 of the names and contents of files in a folder. The path of the folder, which the files
// contain, does not count: in another folder the same files have the same sum.
func sumOf(dir string, names []string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	all := sha256.New()
	for _, name := range names {
		text, err := infile.Read(filepath.Join(dir, name), maxStored)
		if err != nil {
			return "", err
		}
		one := sha256.Sum256(bytes.ReplaceAll(text, []byte(dir), nil))
		all.Write(append([]byte(name+"\x00"), one[:]...))
	}
	return hex.EncodeToString(all.Sum(nil)), nil
}
