package exitcode_test

import (
	"fmt"
	"testing"

	"tutti/internal/exitcode"
)

func TestMeanings(t *testing.T) {
	for i, m := range exitcode.Meanings() {
		if int(m.Code) != i || m.Text == "" {
			t.Errorf("place %d of the meanings has code %d, %q: want the codes in their order, each with its text", i, m.Code, m.Text)
		}
	}
}

func ExampleMeanings() {
	for _, m := range exitcode.Meanings()[4:6] {
		fmt.Println(m.Code, m.Text)
	}
	// Output:
	// 4 results are written, but a problem stopped before its criteria held
	// 5 cancelled; continue with tutti resume
}
