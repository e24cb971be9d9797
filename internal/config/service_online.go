package config

import (
	"errors"
	"fmt"
	"path/filepath"
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

// sampleFolderList returns the type of the key online.
func sampleFolderList(s *Service, dir string) value {
	word := schema{"type": "string"}
	item := objectSchema([]string{"name", "folder"}, map[string]schema{
		"name": word, "folder": word, "table": word, "base": word, "release": word, "exclude": listSchema(), "every": word, "drift": {"type": "number"},
	})
	read := func(_ *Campaign, v any) error { return readSampleFolders(s, dir, v) }
	return value{read: read, schema: schema{"type": "array", "items": item}}
}

// readSampleFolders reads the value of the key online.
func readSampleFolders(s *Service, dir string, v any) error {
	given, ok := v.([]any)
	if !ok {
		return errors.New("want a list of folders, each with name and folder")
	}
	var faults faultList
	for i, item := range given {
		w, err := toSampleFolder(item, dir)
		if err == nil && slices.ContainsFunc(s.Online, func(o SampleFolder) bool { return o.Name == w.Name || o.Folder == w.Folder }) {
			err = fmt.Errorf("%s or its folder is given twice", w.Name)
		}
		if err != nil {
			faults.add(fmt.Sprintf("[%d]", i), err)
		}
		s.Online = append(s.Online, w)
	}
	return faults.err()
}

// toSampleFolder reads one item of the key `online`.
func toSampleFolder(item any, dir string) (SampleFolder, error) {
	w := SampleFolder{Every: defaultEvery}
	m, ok := item.(map[string]any)
	if !ok {
		return w, errors.New("want name and folder")
	}
	if err := eachKey(m, func(key string, v any) error { return setSampleFolder(&w, key, v) }); err != nil {
		return w, err
	}
	if w.Name == "" || w.Folder == "" {
		return w, errors.New("want name and folder")
	}
	if w.Drift > 0 && w.Base == "" {
		return w, errors.New("drift: compares with the last campaign of a base, but base is missing")
	}
	for _, folder := range []*string{&w.Folder, &w.Table} {
		if *folder != "" && !filepath.IsAbs(*folder) {
			*folder = filepath.Join(dir, *folder)
		}
	}
	return w, nil
}

// setSampleFolder sets one field of a folder of samples, by its key in the service file.
func setSampleFolder(w *SampleFolder, key string, v any) error {
	switch key {
	case "name":
		return text(func(*Campaign) *string { return &w.Name }, isName).read(nil, v)
	case "folder":
		return text(func(*Campaign) *string { return &w.Folder }, notEmpty).read(nil, v)
	case "table":
		return text(func(*Campaign) *string { return &w.Table }, notEmpty).read(nil, v)
	case "base":
		return text(func(*Campaign) *string { return &w.Base }, notEmpty).read(nil, v)
	case "release":
		return text(func(*Campaign) *string { return &w.Release }, isLearnerRelease).read(nil, v)
	case "exclude":
		return texts(func(*Campaign) *[]string { return &w.Exclude }, 0, isAlgorithm).read(nil, v)
	case "every":
		return duration(func(*Campaign) *time.Duration { return &w.Every }).read(nil, v)
	case "drift":
		return number(func(*Campaign) *float64 { return &w.Drift }, 0.001, 10).read(nil, v)
	}
	return fmt.Errorf("unknown key: %s", Hint(key, []string{"name", "folder", "table", "base", "release", "exclude", "every", "drift"}))
}

// isLearnerRelease returns an error unless a text names a release of libtutti.
func isLearnerRelease(release string) error {
	_, _, err := libraries.Release("libtutti", release)
	return err
}

func isAlgorithm(name string) error {
	_, err := coll.ParseAlgorithm(name)
	return err
}

// agreeOnline reports a folder of samples whose base does not exist.
func (s *Service) agreeOnline(fault func(key string, err error)) {
	for i, w := range s.Online {
		if w.Base != "" && !slices.ContainsFunc(s.Bases, func(b Base) bool { return b.Name == w.Base }) {
			fault(fmt.Sprintf("online[%d].base", i), fmt.Errorf("%s is none of bases", w.Base))
		}
	}
}
