// Package binfile finds texts in binary files, such as shared libraries.
//
//	err := binfile.Texts(file, func(text []byte) {
//		if bytes.HasPrefix(text, []byte("v4.1.4")) { ... }
//	})
package binfile

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// window is more than any text of interest has bytes: the longest known is 15 kB.
const window = 1 << 20

// Texts calls see with every string of a file that ends in NUL, without it. What is
// longer than a window of 1 MiB, code or numbers, comes in pieces. The text is valid
// until see returns.
func Texts(r io.Reader, see func(text []byte)) error {
	in := bufio.NewReaderSize(r, window)
	for {
		text, err := in.ReadSlice(0)
		see(bytes.TrimSuffix(text, []byte{0}))
		switch {
		case err == io.EOF:
			return nil
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return err
		}
	}
}
