package config

import (
	"fmt"
	"regexp"
	"unicode"
)

// isPrintable refuses what could end a line or a word of somebody else's file.
func isPrintable(s string) error {
	for _, r := range s {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) && r != '\t' {
			return fmt.Errorf("%q: holds a character that cannot be printed", s)
		}
	}
	return nil
}

var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)

func isVariable(s string) error {
	if !variable.MatchString(s) {
		return fmt.Errorf("%q: want NAME=VALUE", s)
	}
	return isPrintable(s)
}
