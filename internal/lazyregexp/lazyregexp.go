// Package lazyregexp compiles regular expressions when they are first used, as Go's own package of this name does.
// A command starts without the time that compiling all expressions of the program takes, about 20 ms.
package lazyregexp

import (
	"regexp"
	"sync"
)

// Regexp is a regular expression that its first method call compiles. Methods are those of regexp.Regexp. A call
// panics if the expression is wrong.
type Regexp struct {
	compiled func() *regexp.Regexp
}

// New returns the regular expression `text`.
func New(text string) *Regexp {
	return &Regexp{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })}
}

func (r *Regexp) Match(b []byte) bool                  { return r.compiled().Match(b) }
func (r *Regexp) MatchString(s string) bool            { return r.compiled().MatchString(s) }
func (r *Regexp) Split(s string, n int) []string       { return r.compiled().Split(s, n) }
func (r *Regexp) FindIndex(b []byte) []int             { return r.compiled().FindIndex(b) }
func (r *Regexp) FindSubmatch(b []byte) [][]byte       { return r.compiled().FindSubmatch(b) }
func (r *Regexp) FindSubmatchIndex(b []byte) []int     { return r.compiled().FindSubmatchIndex(b) }
func (r *Regexp) FindString(s string) string           { return r.compiled().FindString(s) }
func (r *Regexp) FindStringIndex(s string) []int       { return r.compiled().FindStringIndex(s) }
func (r *Regexp) FindStringSubmatch(s string) []string { return r.compiled().FindStringSubmatch(s) }
func (r *Regexp) ReplaceAllString(s, with string) string {
	return r.compiled().ReplaceAllString(s, with)
}

func (r *Regexp) FindAllSubmatch(b []byte, n int) [][][]byte {
	return r.compiled().FindAllSubmatch(b, n)
}

func (r *Regexp) FindAllStringSubmatch(s string, n int) [][]string {
	return r.compiled().FindAllStringSubmatch(s, n)
}

func (r *Regexp) ReplaceAllStringFunc(s string, with func(string) string) string {
	return r.compiled().ReplaceAllStringFunc(s, with)
}

func (r *Regexp) Expand(dst, template, src []byte, match []int) []byte {
	return r.compiled().Expand(dst, template, src, match)
}
