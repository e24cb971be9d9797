package token_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"tutti/service/token"
)

func open(t *testing.T, path string) *token.Store {
	t.Helper()
	s, err := token.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func create(t *testing.T, s *token.Store, name string, role token.Role) string {
	t.Helper()
	secret, err := s.Create(name, role)
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

func TestCheck(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "tokens.json")
	s := open(t, path)
	reader, operator := create(t, s, "grafana", token.Read), create(t, s, "anna@site", token.Operate)
	if reader == operator || len(reader) != len("tutti_")+43 {
		t.Fatalf("secrets %q and %q: want two of 256 bits", reader, operator)
	}
	tests := []struct {
		name, secret string
		who          string
		operate, ok  bool
	}{
		{name: "reader", secret: reader, who: "grafana", ok: true},
		{name: "operator", secret: operator, who: "anna@site", operate: true, ok: true},
		{name: "none", secret: ""},
		{name: "wrong", secret: "tutti_" + strings.Repeat("A", 43)},
		{name: "one letter less", secret: operator[:len(operator)-1]},
		{name: "one letter more", secret: operator + "A"},
		{name: "the hash itself", secret: hashOf(t, s, "anna@site")},
		{name: "another case", secret: strings.ToUpper(operator)},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			who, operate, ok := s.Check(tc.secret)
			if who != tc.who || operate != tc.operate || ok != tc.ok {
				t.Errorf("Check = %q, %t, %t, want %q, %t, %t", who, operate, ok, tc.who, tc.operate, tc.ok)
			}
		})
	}
}

func hashOf(t *testing.T, s *token.Store, name string) string {
	t.Helper()
	all, err := s.List()
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range all {
		if one.Name == name {
			return one.SHA256
		}
	}
	t.Fatalf("no token %s in %v", name, all)
	return ""
}

// Whoever reads the file learns no secret, and nobody else may read it.
func TestFileHoldsNoSecret(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens.json")
	secret := create(t, open(t, path), "x", token.Operate)
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(content), secret) || strings.Contains(string(content), strings.TrimPrefix(secret, "tutti_")) {
		t.Errorf("the file holds the secret: %s", content)
	}
	about, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if about.Mode().Perm() != 0o600 {
		t.Errorf("mode %04o, want 0600", about.Mode().Perm())
	}
}

// A process that serves sees at once what another one did.
func TestSeesOtherProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens.json")
	serving, command := open(t, path), open(t, path)
	secret := create(t, command, "x", token.Read)
	if _, _, ok := serving.Check(secret); !ok {
		t.Error("a token created by another process is unknown")
	}
	if err := command.Revoke("x"); err != nil {
		t.Fatal(err)
	}
	if _, _, ok := serving.Check(secret); ok {
		t.Error("a token revoked by another process still opens")
	}
	if err := command.Revoke("x"); !errors.Is(err, token.ErrNone) {
		t.Errorf("second Revoke: %v, want ErrNone", err)
	}
	again := create(t, command, "x", token.Read)
	if again == secret {
		t.Error("the same secret twice")
	}
	if _, _, ok := serving.Check(secret); ok {
		t.Error("the old secret opens again")
	}
}

func TestCreateRefuses(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "tokens.json"))
	create(t, s, "taken", token.Read)
	tests := []struct {
		name string
		role token.Role
		want error
	}{
		{"taken", token.Operate, token.ErrExists},
		{"", token.Read, token.ErrName},
		{"two words", token.Read, token.ErrName},
		{"line\nbreak", token.Read, token.ErrName},
		{"naïve", token.Read, token.ErrName},
		{strings.Repeat("a", 65), token.Read, token.ErrName},
		{"fine", "admin", token.ErrRole},
		{"fine", "", token.ErrRole},
	}
	for _, tc := range tests {
		if secret, err := s.Create(tc.name, tc.role); !errors.Is(err, tc.want) || secret != "" {
			t.Errorf("Create(%q, %q) = %q, %v, want %v", tc.name, tc.role, secret, err, tc.want)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	good := `{"tokens":[{"name":"x","role":"read","sha256":"` + strings.Repeat("0a", 32) + `","created":"2026-01-02T03:04:05Z"}]}`
	tests := []struct {
		name, content string
		mode          fs.FileMode
		want          string // "" opens
	}{
		{"fine", good, 0o600, ""},
		{"readable by the group", good, 0o640, "mode 0640"},
		{"readable by all", good, 0o644, "mode 0644"},
		{"no JSON", "hello", 0o600, "invalid character"},
		{"short hash", strings.Replace(good, "0a0a", "", 1), 0o600, "tokens[0].sha256"},
		{"long hash", strings.Replace(good, "0a0a", "0a0a0a", 1), 0o600, "tokens[0].sha256"},
		{"no hash", strings.Replace(good, strings.Repeat("0a", 32), "", 1), 0o600, "tokens[0].sha256"},
		{"unknown role", strings.Replace(good, `"read"`, `"root"`, 1), 0o600, "tokens[0].role"},
		{"no name", strings.Replace(good, `"x"`, `""`, 1), 0o600, "tokens[0].name"},
		{"unknown key", strings.Replace(good, `"name"`, `"nome"`, 1), 0o600, "nome"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "tokens.json")
			if err := os.WriteFile(path, []byte(tc.content), tc.mode); err != nil {
				t.Fatal(err)
			}
			_, err := token.Open(path)
			switch {
			case tc.want == "" && err != nil:
				t.Errorf("Open: %v", err)
			case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
				t.Errorf("Open: %v, want an error with %q", err, tc.want)
			}
		})
	}
}

// A file that others could have written opens nothing, even while the service runs.
func TestSpoiltFileLetsNobodyIn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens.json")
	s := open(t, path)
	secret := create(t, s, "x", token.Operate)
	if err := os.Chmod(path, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, _, ok := s.Check(secret); ok {
		t.Error("Check with a file that all may write: want nobody let in")
	}
}

func TestConcurrentUse(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "tokens.json"))
	var wg sync.WaitGroup
	for _, name := range []string{"a", "b", "c", "d"} {
		wg.Go(func() {
			secret, err := s.Create(name, token.Read)
			if who, _, ok := s.Check(secret); err != nil || !ok || who != name {
				t.Errorf("token %s: %v, Check = %q, %t", name, err, who, ok)
			}
		})
	}
	wg.Wait()
	if all, err := s.List(); err != nil || len(all) != 4 {
		t.Errorf("List = %v, %v, want four", all, err)
	}
}
