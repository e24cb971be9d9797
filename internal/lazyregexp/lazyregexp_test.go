package lazyregexp_test

import (
	"testing"

	"tutti/internal/lazyregexp"
)

func TestRegexp(t *testing.T) {
	r := lazyregexp.New(`^(\w+)=(\d+)$`)
	for range 2 {
		if got := r.ReplaceAllString("size=8", "$2 $1"); got != "8 size" || r.MatchString("size=") {
			t.Errorf("%q, want the number before the name", got)
		}
	}
}

// TestWrong checks that a wrong expression panics when it is used, not when it is made.
func TestWrong(t *testing.T) {
	r := lazyregexp.New("(")
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	r.MatchString("")
}
