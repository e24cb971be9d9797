package doctor

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// strung makes a file of NUL-terminated strings between bytes of code.
func strung(texts ...string) string {
	return "\x7fELF\x02\x01\x01\x00\x90\x90\xff\x00" + strings.Join(texts, "\x00") + "\x00\xde\xad\x00"
}

func TestFingerprint(t *testing.T) {
	const date = "Thu Apr  7 12:34:45 CDT 2022"
	tests := []struct{ name, content, version string }{
		{"MPICH", strung("ch4:ucx", "--prefix=/usr", date, "4.0.2"), "MPICH 4.0.2"},
		{"MPICH, the other way round", strung("4.2.3", date), "MPICH 4.2.3"},
		{"Open MPI", strung("%s:version:full", "v4.1.4", "Open MPI", "%s:version:repo"), "Open MPI 4.1.4"},
		{"Open MPI of a repository", strung("v5.0.9-12-gabcdef", "Open MPI"), "Open MPI 5.0.9"},
		{"Intel", strung(date, "3.4a2", "Intel(R) MPI Library 2021.6 for Linux* OS\n"), "Intel MPI 2021.6"},
		{"Cray", strung("MPI VERSION    : CRAY MPICH version 8.1.27.26 (ANL base 3.4a2)"), "Cray MPICH 8.1.27.26"},
		{"a version without a date", strung("4.0.2", "ch4:ucx"), ""},
		{"empty", "", ""},
		{"one long string", strings.Repeat("x", 300<<10), ""},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "libmpi.so.12")
			if err := os.WriteFile(path, []byte(tc.content), 0o644); err != nil {
				t.Fatal(err)
			}
			link := filepath.Join(filepath.Dir(path), "libmpi.so")
			if err := os.Symlink("libmpi.so.12", link); err != nil {
				t.Fatal(err)
			}
			got, err := Fingerprint(link)
			if tc.version == "" && !errors.Is(err, ErrNoVersion) || tc.version != "" && err != nil {
				t.Errorf("error %v", err)
			}
			if got.Version != tc.version || got.Path != real(path) || len(got.SHA256) != 64 {
				t.Errorf("got %+v, want %s of %s", got, tc.version, path)
			}
		})
	}
}

func TestFingerprintOfNothing(t *testing.T) {
	if _, err := Fingerprint(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v, want that of a file that is not there", err)
	}
	if _, err := Fingerprint(t.TempDir()); err == nil || errors.Is(err, ErrNoVersion) {
		t.Errorf("error %v, want one about a folder", err)
	}
}

// The checksum is that of the file: sha256sum of "abc" (FIPS 180-2, example B.1).
func TestChecksum(t *testing.T) {
	path := filepath.Join(t.TempDir(), "abc")
	if err := os.WriteFile(path, []byte("abc"), 0o644); err != nil {
		t.Fatal(err)
	}
	const want = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
	if got, err := Fingerprint(path); got.SHA256 != want || !errors.Is(err, ErrNoVersion) {
		t.Errorf("%s, %v, want %s", got.SHA256, err, want)
	}
}

func TestContents(t *testing.T) {
	var c contents
	err := c.scan(strings.NewReader(strung("ch4:ofi", "node->type == CSEL_NODE_TYPE__OPERATOR__COLLECTIVE",
		"composition=MPIDI_Bcast_intra_composition_alpha", "./src/mpid/ch4/shm/posix/posix_coll.h")))
	if err != nil || c.device != "ch4:ofi" || !c.asserts || !c.ch4 || !c.posix {
		t.Errorf("%+v, %v", c, err)
	}
	var none contents
	if err := none.scan(strings.NewReader(strung("CSEL_NODE_TYPE__OPERATOR__COLLECTIVE", "ch4"))); err != nil || none.asserts || none.device != "" {
		t.Errorf("%+v, %v", none, err)
	}
}
