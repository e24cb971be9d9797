package mpi_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"tutti/mpi"
)

func TestBinaryTexts(t *testing.T) {
	long := strings.Repeat("x", 3<<20)
	var lengths []int
	err := mpi.BinaryTexts(iotest.HalfReader(strings.NewReader("\x7fELF\x00"+long+"\x00\x00end")), func(text []byte) {
		lengths = append(lengths, len(text))
	})
	// BinaryTexts passes the long string in pieces, of which the last one is empty.
	if got, want := fmt.Sprint(lengths), fmt.Sprint([]int{4, 1 << 20, 1 << 20, 1 << 20, 0, 0, 3}); err != nil || got != want {
		t.Errorf("lengths %s, %v, want %s", got, err, want)
	}
	broken := errors.New("broken")
	if err := mpi.BinaryTexts(io.MultiReader(strings.NewReader("a\x00"), iotest.ErrReader(broken)), func([]byte) {}); !errors.Is(err, broken) {
		t.Errorf("error %v, want that of the file", err)
	}
}
