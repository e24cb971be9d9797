package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestRemote asks a service as a script would, and what is no service.
func TestRemote(t *testing.T) {
	dir := t.TempDir()
	smallService(t, dir, "")
	s := serve(t, dir)
	empty := filepath.Join(dir, "empty.token")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name           string
		want           exitCode
		stdout, stderr string // parts of it
		args           []string
	}{
		{"none is an empty list", codeDone, "[]\n", "", []string{"list", "--output", "json"}},
		{"no name, no brackets", codeDone, " of small on ", "", []string{"create", "small", "--key", "once", "--set", "collectives=alltoall"}},
		{"the same again", codeDone, " of small on ", "", []string{"create", "small", "--key", "once", "--set", "collectives=alltoall"}},
		{"another with its key", codeBusy, "", "used with another request", []string{"create", "small", "--key", "once"}},
		{"not to be set", codeInput, "", "body.set.runner.kind: cannot be set", []string{"create", "small", "--set", "runner.kind=local"}},
		{"no such campaign", codeInput, "", "no such campaign", []string{"watch", "none"}},
		{"no such state", codeUsage, "", "--state", []string{"list", "--state", "lost"}},
		{"no such verb", codeUsage, "", "unknown verb \"fetch\"", []string{"fetch", "x"}},
		{"nothing in the token file", codeInput, "", "empty.token is empty", []string{"list", "--token-file", empty}},
		{"no TLS there", codeFailed, "", "no service answers at https://", []string{"list", "--server", "https" + strings.TrimPrefix(s.address, "http")}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			stdout, stderr := mustTutti(t, tc.want, append([]string{"remote", "--server", s.address}, tc.args...)...)
			if !strings.Contains(stdout, tc.stdout) || !strings.Contains(stderr, tc.stderr) || strings.Contains(stdout, "()") {
				t.Errorf("says %q and %q, want %q and %q in it", stdout, stderr, tc.stdout, tc.stderr)
			}
		})
	}
	if code := s.end(syscall.SIGTERM); code != codeDone {
		t.Errorf("exit code %d after SIGTERM, want 0", code)
	}
}
