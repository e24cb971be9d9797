package api

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
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/renameio/v2"
	"github.com/gorilla/securecookie"

	"tutti/internal/infile"
	"tutti/internal/lazyregexp"
	"tutti/service"
)

// Role says which requests a token allows.
type Role string

// The roles.
const (
	Read    Role = "read"    // see campaigns and their results
	Operate Role = "operate" // everything: also create, stop and resume campaigns
)

// Token describes a token. It contains the hash of the token's secret instead of the secret.
type Token struct {
	Name    string    `json:"name"`
	Role    Role      `json:"role"`
	SHA256  string    `json:"sha256"` // of the secret, hexadecimal
	Created time.Time `json:"created"`
}

// Fingerprint returns the first 12 digits of the hash. They are enough to distinguish tokens.
func (t Token) Fingerprint() string { return t.SHA256[:12] }

// tokenPrefix begins every secret. It lets people and source code scanners recognise a leaked secret.
const tokenPrefix = "tutti_"

// Errors of TokenStore; match them with errors.Is.
var (
	ErrTokenExists = errors.New("there is a token of this name already")
	ErrTokenName   = errors.New("want a name of 1 to 64 letters, digits and ._-@")
	ErrTokenRole   = errors.New("want the role read or operate")
	ErrNoToken     = errors.New("no token of this name")
	ErrFileMode    = errors.New("other users can read or write it: want mode 0600")
)

// TokenStore is a file of tokens. It is safe for concurrent use. If another process changes the file, the next
// call sees the change. If two processes change the file at the same time, one of the changes may be lost.
type TokenStore struct {
	path string

	mu     sync.Mutex
	tokens []Token
	read   os.FileInfo // of the file that was read; every change replaces the file
}

type tokenFile struct {
	Tokens []Token `json:"tokens"`
}

// OpenTokens reads a file of tokens. If the file is missing, the store is empty. The error matches
// ErrFileMode if other users can read or write the file.
func OpenTokens(path string) (*TokenStore, error) {
	s := &TokenStore{path: path}
	return s, s.refresh()
}

// Create adds a token and returns its secret, 256 random bits. The file keeps only the hash
// of the secret. The error matches ErrTokenName, ErrTokenRole or ErrTokenExists.
func (s *TokenStore) Create(name string, role Role) (secret string, err error) {
	if !tokenName.MatchString(name) {
		return "", fmt.Errorf("token %q: %w", name, ErrTokenName)
	}
	if role != Read && role != Operate {
		return "", fmt.Errorf("role %q: %w", role, ErrTokenRole)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refresh(); err != nil {
		return "", err
	}
	if slices.ContainsFunc(s.tokens, func(t Token) bool { return t.Name == name }) {
		return "", fmt.Errorf("token %q: %w", name, ErrTokenExists)
	}
	var random [32]byte
	rand.Read(random[:]) // never fails
	secret = tokenPrefix + base64.RawURLEncoding.EncodeToString(random[:])
	token := Token{Name: name, Role: role, SHA256: hashOf(secret), Created: time.Now().UTC().Truncate(time.Second)}
	return secret, s.write(append(slices.Clone(s.tokens), token))
}

// Revoke removes a token. The token's secret and login cookies become invalid. The error matches
// ErrNoToken.
func (s *TokenStore) Revoke(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refresh(); err != nil {
		return err
	}
	remaining := slices.DeleteFunc(slices.Clone(s.tokens), func(t Token) bool { return t.Name == name })
	if len(remaining) == len(s.tokens) {
		return fmt.Errorf("token %q: %w", name, ErrNoToken)
	}
	return s.write(remaining)
}

// List returns the tokens in the order of their creation.
func (s *TokenStore) List() ([]Token, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refresh(); err != nil {
		return nil, err
	}
	return slices.Clone(s.tokens), nil
}

// Check returns the token with the given secret. It compares the hashes of all tokens in constant time. If
// the file cannot be read, no secret is valid.
func (s *TokenStore) Check(secret string) (t Token, ok bool) {
	hash := []byte(hashOf(secret))
	return s.find(func(t Token) bool { return subtle.ConstantTimeCompare(hash, []byte(t.SHA256)) == 1 })
}

// Lookup returns the token with the given name. If the file cannot be read, it finds no token.
func (s *TokenStore) Lookup(name string) (t Token, ok bool) {
	return s.find(func(t Token) bool { return t.Name == name })
}

// find returns a token for which the function `match` returns true. It checks all tokens, so its duration does not
// reveal which token matches.
func (s *TokenStore) find(match func(Token) bool) (found Token, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refresh() != nil {
		return Token{}, false
	}
	for _, t := range s.tokens {
		if match(t) {
			found, ok = t, true
		}
	}
	return found, ok
}

func hashOf(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// refresh reads the file again if it has changed.
func (s *TokenStore) refresh() error {
	info, err := os.Stat(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		s.tokens, s.read = nil, nil
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("tokens %s: mode %04o: %w", s.path, info.Mode().Perm(), ErrFileMode)
	}
	if s.read != nil && info.ModTime().Equal(s.read.ModTime()) && info.Size() == s.read.Size() && os.SameFile(info, s.read) {
		return nil
	}
	tokens, err := readTokens(s.path)
	if err != nil {
		return err
	}
	s.tokens, s.read = tokens, info
	return nil
}

// maxTokens limits the size of the file of tokens, in bytes.
const maxTokens = 4 << 20

func readTokens(path string) ([]Token, error) {
	content, err := infile.Read(path, maxTokens)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(content))
	d.DisallowUnknownFields()
	var f tokenFile
	if err := d.Decode(&f); err != nil {
		return nil, fmt.Errorf("tokens %s: want the JSON object that tutti token create writes: %w", path, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("tokens %s: text after the JSON object", path)
	}
	for i, t := range f.Tokens {
		f.Tokens[i].SHA256 = strings.ToLower(t.SHA256)
		_, err := hex.DecodeString(t.SHA256)
		switch {
		case err != nil || len(t.SHA256) != 2*sha256.Size:
			return nil, fmt.Errorf("tokens %s: tokens[%d].sha256: want %d hexadecimal digits", path, i, 2*sha256.Size)
		case !tokenName.MatchString(t.Name):
			return nil, fmt.Errorf("tokens %s: tokens[%d].name %q: %w", path, i, t.Name, ErrTokenName)
		case t.Role != Read && t.Role != Operate:
			return nil, fmt.Errorf("tokens %s: tokens[%d].role %q: %w", path, i, t.Role, ErrTokenRole)
		}
	}
	return f.Tokens, nil
}

func (s *TokenStore) write(tokens []Token) error {
	content, err := json.MarshalIndent(tokenFile{tokens}, "", "  ")
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

var tokenName = lazyregexp.New(`^[0-9A-Za-z._@-]{1,64}$`)

// CookieKey returns the key that signs login cookies. It reads the key from a file of the service. If the file is missing,
// it creates the file with mode 0600. A file that is no key, or that other users can read or write, is set aside and
// replaced, which ends all logins.
func CookieKey(path string, log *slog.Logger) ([]byte, error) {
	key, err := readCookieKey(path)
	switch {
	case err == nil:
		return key, nil
	case !errors.Is(err, fs.ErrNotExist):
		service.SetAside(path, err, log)
	}
	key = securecookie.GenerateRandomKey(cookieKeyBytes)
	return key, renameio.WriteFile(path, key, 0o600, renameio.IgnoreUmask())
}

// readCookieKey returns the key in a file. The error matches fs.ErrNotExist if there is none.
func readCookieKey(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case info.Mode().Perm()&0o077 != 0:
		return nil, fmt.Errorf("cookie key %s: mode %04o: %w", path, info.Mode().Perm(), ErrFileMode)
	case info.Mode().IsRegular() && info.Size() != cookieKeyBytes:
		return nil, fmt.Errorf("cookie key %s: %d bytes, want %d", path, info.Size(), cookieKeyBytes)
	}
	return infile.Read(path, cookieKeyBytes)
}

const cookieKeyBytes = 32
