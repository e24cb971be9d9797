package service_test

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"tutti/internal/testutil"
	"tutti/service"
)

// putFile writes a text file into a folder or one of its subfolders.
func putFile(t *testing.T, folder, name, text string) {
	t.Helper()
	path := filepath.Join(folder, name)
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o600)
	}
	testutil.NoError(t, err)
}

// withFiles returns a service with a campaign that is done. The campaign's folder has files to download,
// files of other kinds, and symbolic links to places outside the folder.
func withFiles(t *testing.T) (s *service.Service, id string) {
	t.Helper()
	state := t.TempDir()
	s, _ = running(t, options(t, state, base(t, "b", fakeFile{Trials: 1})))
	id = runToEnd(t, s, service.Request{Base: "b"})
	results, outside := filepath.Join(state, "campaigns", id, "results"), t.TempDir()
	putFile(t, outside, "secret", "secret")
	for name, text := range map[string]string{"mpich.json": "{}", "layouts/2x4.rules": "#", "a/b/c/deep.txt": "x", ".hidden": "x", "half.new": "x"} {
		putFile(t, results, name, text)
	}
	for name, to := range map[string]string{"link": filepath.Join(outside, "secret"), "folder": outside, "up": "../campaign.json"} {
		testutil.NoError(t, os.Symlink(to, filepath.Join(results, name)))
	}
	return s, id
}

func TestFiles(t *testing.T) {
	s, id := withFiles(t)
	files, err := s.Files(id)
	var names []string
	for _, f := range files {
		names = append(names, f.Name)
	}
	if want := []string{"journal.jsonl", "layouts/2x4.rules", "mpich.json", "report.json"}; err != nil || !slices.Equal(names, want) {
		t.Errorf("Files = %v, %v, want %v", names, err, want)
	}
	f, about, err := s.Open(id, "mpich.json")
	if err != nil || about.Type != "application/json" || about.Size != 2 {
		t.Fatalf("Open = %+v, %v", about, err)
	}
	defer f.Close()
	if content, err := io.ReadAll(f); err != nil || string(content) != "{}" {
		t.Errorf("mpich.json holds %q, %v", content, err)
	}
}

func TestOpenRefuses(t *testing.T) {
	s, id := withFiles(t)
	for _, name := range []string{
		"", ".", "..", "../campaign.json", "layouts/../../campaign.json", "/etc/passwd", "link", "up", "folder/secret", "layouts", "layouts/",
		".hidden", "half.new", "journal.lock", "nothing", "a/b/c/deep.txt", "mpich.json\x00", `..\campaign.json`, "./mpich.json", "layouts//2x4.rules",
	} {
		if f, _, err := s.Open(id, name); err == nil {
			f.Close()
			t.Errorf("Open(%q) opened something", name)
		}
	}
}

// TestPrivateFiles checks that files which match no pattern of Options.Readable are private.
func TestPrivateFiles(t *testing.T) {
	state := t.TempDir()
	opt := options(t, state, base(t, "b", fakeFile{Trials: 1}))
	opt.Readable = []string{"mpich.json", "layouts/*"}
	s, _ := running(t, opt)
	id := runToEnd(t, s, service.Request{Base: "b"})
	private := map[string]bool{
		"mpich.json": false, "layouts/2x4.rules": false,
		"journal.jsonl": true, "jobs/j1/job.sh": true, "jobs/j1/setup.sh": true, "report.html": true, "report.json": true, "jobs/mpich.json": true, "layouts/a/b.sh": true, "MPICH.JSON": true,
	}
	for name := range private {
		if name != "journal.jsonl" {
			putFile(t, filepath.Join(state, "campaigns", id, "results"), name, secret)
		}
	}
	files, err := s.Files(id)
	if err != nil || len(files) != len(private) {
		t.Fatalf("Files = %v, %v, want %d", files, err, len(private))
	}
	for _, f := range files {
		opened, about, err := s.Open(id, f.Name)
		testutil.NoError(t, err)
		opened.Close()
		if want := private[f.Name]; f.Private != want || about.Private != want {
			t.Errorf("%s is private: %t in the list, %t when opened, want %t", f.Name, f.Private, about.Private, want)
		}
	}
}
