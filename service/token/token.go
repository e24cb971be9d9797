package token

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/renameio/v2"
)

// Role is what the holder of a token may do.
type Role string

// The roles.
const (
	Read    Role = "read"    // look
	Operate Role = "operate" // all: make campaigns, stop them
)

// Token is what is known of a token: never its secret.
type Token struct {
	Name    string    `json:"name"`
	Role    Role      `json:"role"`
	SHA256  string    `json:"sha256"` // of the secret, hexadecimal
	Created time.Time `json:"created"`
}

// prefix lets people and scanners of source code tell what a leaked secret is.
const prefix = "tutti_"

// Errors of changes; match them with errors.Is.
var (
	ErrExists = errors.New("there is a token of this name already")
	ErrName   = errors.New("want a name of 1 to 64 letters, digits and ._-@")
	ErrRole   = errors.New("want the role read or operate")
	ErrNone   = errors.New("no token of this name")
	ErrMode   = errors.New("others can read or write it: want mode 0600")
)

// Store is a file of tokens. It is safe for concurrent use, and for several
// processes as far as readers go: one that serves sees what another one created
// or revoked at the next Check. Two that change it at once can lose a change.
type Store struct {
	path string

	mu     sync.Mutex
	tokens []hashed
	stamp  stamp
}

type hashed struct {
	Token
	sum [sha256.Size]byte
}

// stamp tells one content of the file from another. A change replaces the file.
type stamp struct {
	modified time.Time
	size     int64
	file     os.FileInfo
}

// file is the form on disk.
type file struct {
	Tokens []Token `json:"tokens"`
}

// Open reads the tokens in a file; one that is not there has none. It is an error
// when others than the owner may use the file, and when it does not hold tokens.
func Open(path string) (*Store, error) {
	s := &Store{path: path}
	return s, s.refresh()
}

// Create adds a token and returns its secret: 256 random bits, which are not kept.
func (s *Store) Create(name string, role Role) (secret string, err error) {
	if !validName(name) {
		return "", fmt.Errorf("token %q: %w", name, ErrName)
	}
	if role != Read && role != Operate {
		return "", fmt.Errorf("role %q: %w", role, ErrRole)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refresh(); err != nil {
		return "", err
	}
	if slices.ContainsFunc(s.tokens, func(t hashed) bool { return t.Name == name }) {
		return "", fmt.Errorf("token %q: %w", name, ErrExists)
	}
	var random [32]byte
	rand.Read(random[:]) // never fails
	secret = prefix + base64.RawURLEncoding.EncodeToString(random[:])
	sum := sha256.Sum256([]byte(secret))
	made := Token{Name: name, Role: role, SHA256: hex.EncodeToString(sum[:]), Created: time.Now().UTC().Truncate(time.Second)}
	return secret, s.write(append(s.list(), made))
}

// Revoke takes a token away: its holder is refused from now on.
func (s *Store) Revoke(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refresh(); err != nil {
		return err
	}
	left := slices.DeleteFunc(s.list(), func(t Token) bool { return t.Name == name })
	if len(left) == len(s.tokens) {
		return fmt.Errorf("token %q: %w", name, ErrNone)
	}
	return s.write(left)
}

// List returns the tokens in the order they were made.
func (s *Store) List() ([]Token, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refresh(); err != nil {
		return nil, err
	}
	return s.list(), nil
}

// Check returns the token with this secret. It compares hashes, all of them and in
// constant time. When the file cannot be read any more nobody is let in.
func (s *Store) Check(secret string) (name string, operate, ok bool) {
	sum := sha256.Sum256([]byte(secret))
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refresh() != nil {
		return "", false, false
	}
	for _, t := range s.tokens {
		if subtle.ConstantTimeCompare(sum[:], t.sum[:]) == 1 {
			name, operate, ok = t.Name, t.Role == Operate, true
		}
	}
	return name, operate, ok
}

func (s *Store) list() []Token {
	out := make([]Token, len(s.tokens))
	for i, t := range s.tokens {
		out[i] = t.Token
	}
	return out
}

// refresh reads the file when it is not the one read last.
func (s *Store) refresh() error {
	about, err := os.Stat(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		s.tokens, s.stamp = nil, stamp{}
		return nil
	}
	if err != nil {
		return err
	}
	if about.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("tokens %s: mode %04o: %w", s.path, about.Mode().Perm(), ErrMode)
	}
	now := stamp{about.ModTime(), about.Size(), about}
	if s.stamp.file != nil && now.modified.Equal(s.stamp.modified) && now.size == s.stamp.size && os.SameFile(about, s.stamp.file) {
		return nil
	}
	tokens, err := read(s.path)
	if err != nil {
		return err
	}
	s.tokens, s.stamp = tokens, now
	return nil
}

func read(path string) ([]hashed, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(content))
	d.DisallowUnknownFields()
	var f file
	if err := d.Decode(&f); err != nil {
		return nil, fmt.Errorf("tokens %s: %w", path, err)
	}
	var out []hashed
	for i, t := range f.Tokens {
		h := hashed{Token: t}
		n, err := hex.Decode(h.sum[:], []byte(t.SHA256)[:min(len(t.SHA256), 2*sha256.Size)])
		switch {
		case err != nil || n != sha256.Size || len(t.SHA256) != 2*sha256.Size:
			return nil, fmt.Errorf("tokens %s: tokens[%d].sha256: want %d hexadecimal digits", path, i, 2*sha256.Size)
		case !validName(t.Name):
			return nil, fmt.Errorf("tokens %s: tokens[%d].name %q: %w", path, i, t.Name, ErrName)
		case t.Role != Read && t.Role != Operate:
			return nil, fmt.Errorf("tokens %s: tokens[%d].role %q: %w", path, i, t.Role, ErrRole)
		}
		out = append(out, h)
	}
	return out, nil
}

// write replaces the file at once: a reader sees the old one or the new one.
func (s *Store) write(tokens []Token) error {
	content, err := json.MarshalIndent(file{tokens}, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		return err
	}
	if err := renameio.WriteFile(s.path, append(content, '\n'), 0o600, renameio.IgnoreUmask()); err != nil {
		return err
	}
	return s.refresh()
}

func validName(name string) bool {
	odd := func(r rune) bool {
		return !(r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || strings.ContainsRune("._-@", r))
	}
	return len(name) >= 1 && len(name) <= 64 && strings.IndexFunc(name, odd) < 0
}
