package infile_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"tutti/internal/infile"
	"tutti/internal/testutil"
)

// TestKinds checks which kinds of files can be opened, both directly and through a link. No call may block.
func TestKinds(t *testing.T) {
	dir := t.TempDir()
	file, pipe := filepath.Join(dir, "file"), filepath.Join(dir, "pipe")
	testutil.NoError(t, os.WriteFile(file, []byte("12345"), 0o666))
	testutil.NoError(t, syscall.Mkfifo(pipe, 0o666))
	for _, tc := range []struct {
		name, path string
		limit      int64
		want       error
	}{
		{"a regular file", file, 5, nil},
		{"a file above the limit", file, 4, infile.ErrSize},
		{"a named pipe", pipe, 5, infile.ErrKind},
		{"a folder", dir, 1 << 20, infile.ErrKind},
		{"a device", "/dev/zero", 5, infile.ErrKind},
		{"a missing file", filepath.Join(dir, "none"), 5, os.ErrNotExist},
	} {
		link := filepath.Join(dir, "link to "+tc.name)
		testutil.NoError(t, os.Symlink(tc.path, link))
		for _, path := range []string{tc.path, link} {
			text, err := infile.Read(path, tc.limit)
			if !errors.Is(err, tc.want) || tc.want == nil && string(text) != "12345" {
				t.Errorf("%s, %s: %q, %v, want %v", tc.name, path, text, err, tc.want)
			}
		}
		if _, err := infile.OpenUnlinked(link, tc.limit); !errors.Is(err, infile.ErrKind) {
			t.Errorf("%s: a link: %v, want %v", tc.name, err, infile.ErrKind)
		}
	}
}

func TestSkipByteOrderMark(t *testing.T) {
	for text, want := range map[string]string{"\ufeffa": "a", "a\ufeff": "a\ufeff", "": "", "\ufeff": "", "\xef\xbb": "\xef\xbb", "\ufeff\ufeffa": "\ufeffa"} {
		if got := testutil.Must(io.ReadAll(infile.SkipByteOrderMark(strings.NewReader(text))))(t); string(got) != want {
			t.Errorf("%q: read %q, want %q", text, got, want)
		}
	}
}
