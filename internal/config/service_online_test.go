package config_test

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"tutti/internal/config"
	"tutti/internal/testutil"
)

func TestLoadServiceOnline(t *testing.T) {
	path := serviceFile(t, "state: s\n"+goodBases+`online:
  - {name: app, folder: learned}
  - {name: other, folder: /scratch/learned, table: tables, base: a, release: 1+mpich-4.0.2, exclude: [ring, "pipeline(segsize=8192)"], every: 5m, drift: 0.25}
`)
	s := testutil.Must(config.LoadService(path))(t)
	want := []config.SampleFolder{
		{Name: "app", Folder: filepath.Join(filepath.Dir(path), "learned"), Every: time.Minute},
		{Name: "other", Folder: "/scratch/learned", Table: filepath.Join(filepath.Dir(path), "tables"), Base: "a", Release: "1+mpich-4.0.2", Exclude: []string{"ring", "pipeline(segsize=8192)"}, Every: 5 * time.Minute, Drift: 0.25},
	}
	if !reflect.DeepEqual(s.Online, want) {
		t.Errorf("%+v, want %+v", s.Online, want)
	}
}

func TestLoadServiceOnlineFaults(t *testing.T) {
	for text, want := range map[string]string{
		"online: x":           "online: want a list, each item with name and folder",
		"online: [{name: x}]": "online[0]: folder is missing",
		"online: [x]":         "online[0]: want name and folder",
		"online: [{name: x, folder: y}, {name: z, folder: y}]": "online[1]: z or its folder is given twice",
		"online: [{name: x, folder: y, base: none}]":           "online[0].base: none is none of bases",
		"online: [{name: x, folder: y, drift: 0.2}]":           "online[0]: drift: compares with the last campaign of a base",
		"online: [{name: x, folder: y, base: a, drift: 0}]":    "drift: 0: want a number",
		"online: [{name: x, folder: y, release: '9'}]":         "libtutti 9",
		"online: [{name: x, folder: y, every: soon}]":          "every",
		"online: [{name: x, folder: y, exclude: ['a b(']}]":    "exclude",
		"online: [{name: x, folder: y, xyzzy: z}]":             "unknown key: want one of name, folder, table, base",
	} {
		_, err := config.LoadService(serviceFile(t, "state: s\n"+goodBases+text+"\n"))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
