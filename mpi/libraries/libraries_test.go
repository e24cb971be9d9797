package libraries_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"tutti/coll"
	"tutti/internal/infile"
	"tutti/internal/testutil"
	"tutti/mpi"
	"tutti/mpi/libraries"
)

func TestAll(t *testing.T) {
	want := []string{
		"mpich 4.0.2 4.1.2 4.2.3 4.3.2 5.0.1, measurable",
		"openmpi 4.1.4 5.0.9 6.0.x, measurable",
		"intel 2019 2021, measurable",
		"mvapich2 2.3, measurable", "mvapich 4.0, measurable", "cray 8.1, measurable", "hcoll 4.8, measurable", "libnbc 4.1 5.0 6.0, measurable", "ucc 1.4 1.5 1.6 1.7 1.8 1.9, measurable", "nccl 2.30", "rccl 2.30",
		"libtutti 1 1+mpich-4.0.2 1+openmpi-4.1.4, measurable",
	}
	var got []string
	for _, l := range libraries.All() {
		name := l.Facts().Name
		text := name
		for _, cat := range l.Releases() {
			text += " " + cat.Version
		}
		if _, ok := l.(mpi.Measurable); ok {
			text += ", measurable"
		}
		if named, ok := libraries.Named(name); !ok || named != l {
			t.Errorf("Named(%s) = %v, %t", name, named, ok)
		}
		got = append(got, text)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if l, ok := libraries.Named("intelmpi"); ok {
		t.Errorf("Named(intelmpi) = %v", l)
	}
}

// TestRelease checks a release without a catalogue. It must have the algorithms of the nearest release of
// its series. If the library itself lists its algorithms, the nearest release of another series is enough.
func TestRelease(t *testing.T) {
	for text, listed := range map[string]string{
		"mpich 4.0.2": "4.0.2", "mpich 4.0": "4.0.2", "mpich 4.1.1": "4.1.2", "mpich 4.2.1": "4.2.3", "mpich 5.0.2": "5.0.1",
		"openmpi 5.0.7": "5.0.9", "openmpi 6.0.0rc2": "6.0.x", "openmpi 6.0.x": "6.0.x", "intel 2019": "2019", "intel 2019.9": "2019", "intel 2021.6": "2021", "mvapich2 2.3.7": "2.3",
		"mpich 3.4": "4.0.2", "mpich 6.0.0": "5.0.1", "openmpi 3.1.6": "4.1.4", "openmpi 7.0.0": "6.0.x",
	} {
		name, version, _ := strings.Cut(text, " ")
		_, cat, err := libraries.Release(name, version)
		if err != nil || cat.Library != name || cat.Version != version || cat.Listed != listed || len(cat.Entries(coll.Bcast)) == 0 {
			t.Errorf("Release(%s) = %v, %v", text, cat, err)
		}
	}
	golden := testutil.GoldenErrors(t)
	for _, text := range []string{"mpich newest", "intel 2018", "other 1.0"} {
		name, version, _ := strings.Cut(text, " ")
		_, _, err := libraries.Release(name, version)
		golden(text, err, mpi.ErrUnknown)
	}
}

// strung returns the content of a binary file with the given NUL-terminated strings between bytes of code.
func strung(texts ...string) string {
	return "\x7fELF\x02\x01\x01\x00\x90\x90\xff\x00" + strings.Join(texts, "\x00") + "\x00\xde\xad\x00"
}

func TestIdentify(t *testing.T) {
	const date = "Thu Apr  7 12:34:45 CDT 2022"
	tests := []struct{ name, content, version string }{
		{"MPICH", strung("ch4:ucx", "--prefix=/usr", date, "4.0.2"), "MPICH 4.0.2"},
		{"MPICH, the other way round", strung("4.2.3", date), "MPICH 4.2.3"},
		{"Open MPI", strung("%s:version:full", "v4.1.4", "Open MPI", "%s:version:repo"), "Open MPI 4.1.4"},
		{"Open MPI without a tag", strung("1.x", "2026-10-03", "6.0.0rc2", "Open MPI v%d.%d.%d, package: %s"), "Open MPI 6.0.0rc2"},
		{"Open MPI by its banner alone", strung("Open MPI v%d.%d.%d", "v6.0.0", "2.3.4"), "Open MPI 6.0.0"},
		{"MPICH of a repository", strung("unreleased development copy", "5.1.0a1"), "MPICH 5.1.0a1"},
		{"Open MPI of a repository", strung("v5.0.9-12-gabcdef", "Open MPI"), "Open MPI 5.0.9"},
		{"Intel", strung(date, "3.4a2", "Intel(R) MPI Library 2021.6 for Linux* OS\n"), "Intel MPI 2021.6"},
		{"Cray", strung(date, "3.4a2", "MPI VERSION    : CRAY MPICH version 8.1.27.26 (ANL base 3.4a2)"), "Cray MPICH 8.1.27.26"},
		{"a version without a date", strung("4.0.2", "ch4:ucx"), ""},
		{"empty", "", ""},
		{"one long string", strings.Repeat("x", 300<<10), ""},
		{"abc", "abc", ""},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "libmpi.so.12")
			testutil.NoError(t, os.WriteFile(path, []byte(tc.content), 0o644))
			link := filepath.Join(filepath.Dir(path), "libmpi.so")
			testutil.NoError(t, os.Symlink("libmpi.so.12", link))
			got, err := libraries.Identify(link)
			if tc.version == "" && !errors.Is(err, mpi.ErrNoVersion) || tc.version != "" && err != nil {
				t.Errorf("error %v", err)
			}
			if got.Version != tc.version || got.Path != path || len(got.SHA256) != 64 {
				t.Errorf("got %+v, want %s of %s", got, tc.version, path)
			}
			// FIPS 180-2, example B.1.
			if tc.content == "abc" && got.SHA256 != "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" {
				t.Errorf("checksum %s of abc", got.SHA256)
			}
		})
	}
}

func TestIdentifyNoFile(t *testing.T) {
	if _, err := libraries.Identify(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v, want that of a file that is not there", err)
	}
	pipe := filepath.Join(t.TempDir(), "pipe.so")
	testutil.NoError(t, syscall.Mkfifo(pipe, 0o600))
	for _, path := range []string{pipe, "/dev/zero", t.TempDir()} {
		if _, err := libraries.Identify(path); !errors.Is(err, infile.ErrKind) {
			t.Errorf("Identify(%s): error %v, want one that matches infile.ErrKind", path, err)
		}
	}
}

// FuzzRecognise checks that the name of a library never contains control characters, which a terminal would
// interpret.
func FuzzRecognise(f *testing.F) {
	f.Add(strung("ch4:ucx", "Thu Apr  7 12:34:45 CDT 2022", "4.0.2"))
	f.Add(strung("v4.1.4", "Open MPI", "Intel(R) MPI Library 2021.6"))
	f.Add(strung("CRAY MPICH version 8.1.27.26"))
	f.Fuzz(func(t *testing.T, content string) {
		for _, l := range libraries.All() {
			name := l.Recognise([]byte(content))
			if !utf8.ValidString(name) || len(name) > 80 || strings.ContainsFunc(name, unicode.IsControl) {
				t.Errorf("name %q cannot be shown", name)
			}
		}
	})
}

func ExampleRelease() {
	lib, cat, err := libraries.Release("openmpi", "4.1.4")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(lib.Facts().Title, cat.Version)
	for _, e := range cat.Entries(coll.Gather) {
		fmt.Println(e.ID, e.Name, e.Params)
	}
	// Output:
	// Open MPI 4.1.4
	// 1 basic_linear []
	// 2 binomial []
	// 3 linear_sync [segsize]
}
