package api_test

import (
	"bytes"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"tutti/internal/testutil"
	"tutti/service/api"
)

func openTokens(t *testing.T, path string) *api.TokenStore {
	t.Helper()
	return testutil.Must(api.OpenTokens(path))(t)
}

func createToken(t *testing.T, s *api.TokenStore, name string, role api.Role) string {
	t.Helper()
	return testutil.Must(s.Create(name, role))(t)
}

func TestTokenCheck(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "tokens.json")
	s := openTokens(t, path)
	reader, operator := createToken(t, s, "grafana", api.Read), createToken(t, s, "anna@site", api.Operate)
	if reader == operator || len(reader) != len("tutti_")+43 {
		t.Fatalf("secrets %q and %q: want two of 256 bits", reader, operator)
	}
	tests := []struct {
		name, secret string
		want         string // name of the token; "" for none
		role         api.Role
	}{
		{"reader", reader, "grafana", api.Read},
		{"operator", operator, "anna@site", api.Operate},
		{"empty", "", "", ""},
		{"wrong", "tutti_" + strings.Repeat("A", 43), "", ""},
		{"one letter less", operator[:len(operator)-1], "", ""},
		{"one letter more", operator + "A", "", ""},
		{"the hash itself", hashOf(t, s, "anna@site"), "", ""},
		{"upper case", strings.ToUpper(operator), "", ""},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			got, ok := s.Check(tc.secret)
			if got.Name != tc.want || got.Role != tc.role || ok != (tc.want != "") {
				t.Errorf("Check = %+v, %t, want %q, %q", got, ok, tc.want, tc.role)
			}
			if named, ok := s.Lookup(tc.want); named != got || ok != (tc.want != "") {
				t.Errorf("Lookup(%q) = %+v, %t, want %+v", tc.want, named, ok, got)
			}
		})
	}
}

func hashOf(t *testing.T, s *api.TokenStore, name string) string {
	t.Helper()
	token, ok := s.Lookup(name)
	if !ok {
		t.Fatalf("no token %s", name)
	}
	return token.SHA256
}

// TestTokenFileContainsNoSecret checks that the file of tokens contains no secret, and that only the file's
// owner can read it.
func TestTokenFileContainsNoSecret(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens.json")
	secret := createToken(t, openTokens(t, path), "x", api.Operate)
	content := testutil.Must(os.ReadFile(path))(t)
	if strings.Contains(string(content), secret) || strings.Contains(string(content), strings.TrimPrefix(secret, "tutti_")) {
		t.Errorf("the file contains the secret: %s", content)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("file: %v, %v, want mode 0600", info, err)
	}
}

// TestTokensOfOtherProcesses checks that a store uses changes by another process immediately.
func TestTokensOfOtherProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens.json")
	serving, command := openTokens(t, path), openTokens(t, path)
	secret := createToken(t, command, "x", api.Read)
	if _, ok := serving.Check(secret); !ok {
		t.Error("a token created by another process is unknown")
	}
	testutil.NoError(t, command.Revoke("x"))
	if _, ok := serving.Check(secret); ok {
		t.Error("a token revoked by another process is still valid")
	}
	if err := command.Revoke("x"); !errors.Is(err, api.ErrNoToken) {
		t.Errorf("second Revoke: %v, want ErrNoToken", err)
	}
	again := createToken(t, command, "x", api.Read)
	if again == secret {
		t.Error("the same secret twice")
	}
	if _, ok := serving.Check(secret); ok {
		t.Error("the old secret is valid again")
	}
}

func TestCreateToken(t *testing.T) {
	s := openTokens(t, filepath.Join(t.TempDir(), "tokens.json"))
	createToken(t, s, "taken", api.Read)
	tests := []struct {
		name string
		role api.Role
		want error
	}{
		{"taken", api.Operate, api.ErrTokenExists},
		{"", api.Read, api.ErrTokenName},
		{"two words", api.Read, api.ErrTokenName},
		{"line\nbreak", api.Read, api.ErrTokenName},
		{"naïve", api.Read, api.ErrTokenName},
		{strings.Repeat("a", 65), api.Read, api.ErrTokenName},
		{"fine", "admin", api.ErrTokenRole},
		{"fine", "", api.ErrTokenRole},
	}
	for _, tc := range tests {
		if secret, err := s.Create(tc.name, tc.role); !errors.Is(err, tc.want) || secret != "" {
			t.Errorf("Create(%q, %q) = %q, %v, want %v", tc.name, tc.role, secret, err, tc.want)
		}
	}
}

func TestOpenTokens(t *testing.T) {
	golden := testutil.GoldenErrors(t)
	good := `{"tokens":[{"name":"x","role":"read","sha256":"` + strings.Repeat("0a", 32) + `","created":"2026-01-02T03:04:05Z"}]}`
	open := func(content string, mode fs.FileMode) (*api.TokenStore, error) {
		path := filepath.Join(t.TempDir(), "tokens.json")
		testutil.NoError(t, os.WriteFile(path, []byte(content), mode))
		return api.OpenTokens(path)
	}
	tests := []struct {
		name, content string
		mode          fs.FileMode
	}{
		{"readable by the group", good, 0o640},
		{"readable by all", good, 0o644},
		{"no JSON", "hello", 0o600},
		{"empty", "", 0o600},
		{"more", good + "{}", 0o600},
		{"short hash", strings.Replace(good, "0a0a", "", 1), 0o600},
		{"long hash", strings.Replace(good, "0a0a", "0a0a0a", 1), 0o600},
		{"no hash", strings.Replace(good, strings.Repeat("0a", 32), "", 1), 0o600},
		{"unknown role", strings.Replace(good, `"read"`, `"root"`, 1), 0o600},
		{"no name", strings.Replace(good, `"x"`, `""`, 1), 0o600},
		{"unknown key", strings.Replace(good, `"name"`, `"nome"`, 1), 0o600},
	}
	for _, tc := range tests {
		_, err := open(tc.content, tc.mode)
		golden(tc.name, err)
	}
	testutil.Must(open(good, 0o600))(t)
}

// TestWritableTokenFile checks that no token is valid if other users can write the file.
func TestWritableTokenFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens.json")
	s := openTokens(t, path)
	secret := createToken(t, s, "x", api.Operate)
	testutil.NoError(t, os.Chmod(path, 0o666))
	if _, ok := s.Check(secret); ok {
		t.Error("Check accepts a token of a file that all users can write")
	}
}

func TestConcurrentTokens(t *testing.T) {
	s := openTokens(t, filepath.Join(t.TempDir(), "tokens.json"))
	var wg sync.WaitGroup
	for _, name := range []string{"a", "b", "c", "d"} {
		wg.Go(func() {
			secret, err := s.Create(name, api.Read)
			if token, ok := s.Check(secret); err != nil || !ok || token.Name != name {
				t.Errorf("token %s: %v, Check = %+v, %t", name, err, token, ok)
			}
		})
	}
	wg.Wait()
	if all, err := s.List(); err != nil || len(all) != 4 {
		t.Errorf("List = %v, %v, want four", all, err)
	}
}

// TestCookieKey checks that the key is kept, and that a file which is no key is set aside and replaced.
func TestCookieKey(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	for name, spoil := range map[string]func(path string) error{
		"":                        nil,
		"other users can read it": func(path string) error { return os.Chmod(path, 0o640) },
		"short":                   func(path string) error { return os.Truncate(path, 3) },
		"empty":                   func(path string) error { return os.Truncate(path, 0) },
		"a folder":                func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) },
		"a pipe":                  func(path string) error { return errors.Join(os.Remove(path), syscall.Mkfifo(path, 0o600)) },
	} {
		path := filepath.Join(t.TempDir(), "cookie.key")
		key, err := api.CookieKey(path, log)
		if err != nil || len(key) != 32 {
			t.Fatalf("CookieKey = %d bytes, %v, want 32", len(key), err)
		}
		if spoil != nil {
			testutil.NoError(t, spoil(path))
		}
		again, err := api.CookieKey(path, log)
		if err != nil || len(again) != 32 || bytes.Equal(again, key) != (spoil == nil) {
			t.Errorf("%q: the second call returns %d bytes, %v, the same key %t", name, len(again), err, bytes.Equal(again, key))
		}
		if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
			t.Errorf("%q: key file: %v, %v, want mode 0600", name, info, err)
		}
		if aside, _ := filepath.Glob(path + ".unreadable-*"); (len(aside) == 1) != (spoil != nil) {
			t.Errorf("%q: set aside: %v", name, aside)
		}
	}
}
