package config

import (
	"fmt"
	"strings"
)

// Suggest returns the known word that is most similar to a misspelled word, or "" if none is similar
// enough. The edit distance may be at most a third of the number of letters. Of equally similar words, it
// prefers one that begins with the misspelled word.
func Suggest(word string, known []string) string {
	best, least := "", max(1, len(word)/3)+1
	for _, k := range known {
		if d := editDistance(word, k); d < least || d == least && best != "" && strings.HasPrefix(k, word) {
			best, least = k, d
		}
	}
	return best
}

// NotOneOf returns the error for a word that is not in a list of allowed words. The error contains a hint.
func NotOneOf(word string, allowed []string) error {
	return fmt.Errorf("%q: %s", word, Hint(word, allowed))
}

// Hint returns a suggestion for a word that is not allowed: the most similar allowed word, or the whole
// list.
func Hint(word string, allowed []string) string {
	if near := Suggest(word, allowed); near != "" {
		return "did you mean " + near + "?"
	}
	return "want one of " + strings.Join(allowed, ", ")
}

// editDistance returns the optimal string alignment distance of two words, in bytes.
func editDistance(a, b string) int {
	d := make([][]int, len(a)+1)
	for i := range d {
		d[i] = make([]int, len(b)+1)
		d[i][0] = i
	}
	for j := range d[0] {
		d[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			replace := d[i-1][j-1]
			if a[i-1] != b[j-1] {
				replace++
			}
			d[i][j] = min(d[i-1][j]+1, d[i][j-1]+1, replace)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(a)][len(b)]
}
