package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"tutti/coll"
	"tutti/mpi/libraries"
)

// SampleFolder is a folder into which jobs write samples, the times of their collective calls. When there
// are new samples, a service updates the table in the folder.
type SampleFolder struct {
	Name    string        `json:"name"`
	Folder  string        `json:"folder,omitempty"`
	Table   string        `json:"-"`              // folder of the table; empty: in the state folder of the service
	Base    string        `json:"base,omitempty"` // base whose last campaign is a source of the table; drift starts a new campaign
	Release string        `json:"release,omitempty"`
	Exclude []string      `json:"exclude,omitempty"` // names of algorithms
	Every   time.Duration `json:"-"`                 // interval between checks for new samples
	Drift   float64       `json:"drift,omitzero"`    // median relative difference from the last campaign that starts a new one
}

// defaultEvery is the default interval between checks for new samples.
const defaultEvery = time.Minute

func sampleFolderFields(w *SampleFolder) []field {
	return []field{
		{"name", "the name of the folder", nil, text(&w.Name, isName)},
		{"folder", "the folder of --learn", nil, text(&w.Folder, notEmpty)},
		{"table", "folder of the table that the samples make", optional, text(&w.Table, notEmpty)},
		{"base", "base whose last campaign is a source of the table", optional, text(&w.Base, notEmpty)},
		{"release", "release of libtutti", optional, text(&w.Release, isLearnerRelease)},
		{"exclude", "algorithms that are neither selected nor explored", optional, texts(&w.Exclude, 0, isAlgorithm)},
		{"every", "interval between checks for new samples, 1m if it is missing", optional, duration(&w.Every)},
		{"drift", "median relative difference from the last campaign that starts a new one", optional, number(&w.Drift, 0.001, 10)},
	}
}

// complete sets the fields that the service file leaves out, and makes paths absolute. `dir` is the
// folder of the service file.
func (w *SampleFolder) complete(dir string, before []SampleFolder) error {
	if w.Drift > 0 && w.Base == "" {
		return errors.New("drift: compares with the last campaign of a base, but base is missing")
	}
	w.Every = cmp.Or(w.Every, defaultEvery)
	w.Folder, w.Table = absolute(w.Folder, dir), absolute(w.Table, dir)
	if slices.ContainsFunc(before, func(o SampleFolder) bool { return o.Name == w.Name || o.Folder == w.Folder }) {
		return fmt.Errorf("%s or its folder is given twice", w.Name)
	}
	return nil
}

func isLearnerRelease(release string) error {
	_, _, err := libraries.Release("libtutti", release)
	return err
}

func isAlgorithm(name string) error {
	_, err := coll.ParseAlgorithm(name)
	return err
}

// agreeOnline reports a folder of samples that names an unknown base (a campaign file of the service).
func (s *Service) agreeOnline(fault func(key string, err error)) {
	for i, w := range s.Online {
		if w.Base != "" && !slices.ContainsFunc(s.Bases, func(b Base) bool { return b.Name == w.Base }) {
			fault(fmt.Sprintf("online[%d].base", i), fmt.Errorf("%s is none of bases", w.Base))
		}
	}
}
