package config

import (
	"errors"
	"fmt"
	"regexp"
	"unicode"

	"tutti/coll"
)

// isPrintable returns an error if a text has control characters. Such characters could end a line in a
// script or in a file of another program.
func isPrintable(s string) error {
	for _, r := range s {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) && r != '\t' {
			return fmt.Errorf("%q: contains a character that cannot be printed", s)
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

func anything(string) error { return nil }

func notEmpty(s string) error {
	if s == "" {
		return errors.New("is empty")
	}
	return nil
}

// isName returns an error unless a text has only the characters of algorithm names.
func isName(s string) error {
	if _, err := coll.NewAlgorithm(s); err != nil {
		return fmt.Errorf("%q: want letters, digits and ._-", s)
	}
	return nil
}
