package campaigntest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
)

// Change returns a copy of a journal with one random change, and a description of the change. The change
// affects bits, bytes, digits or whole lines. The changed journal may still be valid.
func Change(journal []byte, rng *rand.Rand) (out []byte, how string) {
	out = slices.Clone(journal)
	at := rng.IntN(len(out))
	switch rng.IntN(7) {
	case 0:
		bit := byte(1) << rng.IntN(8)
		out[at] ^= bit
		return out, fmt.Sprintf("byte %d with bits %08b turned", at, bit)
	case 1:
		out[at] = byte(rng.IntN(256))
		return out, fmt.Sprintf("byte %d is now %d", at, out[at])
	case 2:
		end := min(len(out), at+1+rng.IntN(20))
		return slices.Delete(out, at, end), fmt.Sprintf("bytes %d to %d deleted", at, end)
	case 3:
		return slices.Insert(out, at, byte(rng.IntN(256))), fmt.Sprintf("a byte more at %d", at)
	case 4:
		return changeDigit(out, at, rng)
	}
	lines := bytes.SplitAfter(out, []byte("\n"))
	i := rng.IntN(len(lines) - 1)
	if rng.IntN(2) == 0 {
		return slices.Concat(slices.Delete(lines, i, i+1)...), fmt.Sprintf("line %d deleted", i+1)
	}
	return slices.Concat(slices.Insert(lines, i, lines[i])...), fmt.Sprintf("line %d twice", i+1)
}

// changeDigit changes the first digit at or after a position. If no digit follows, it truncates the text at
// the position.
func changeDigit(out []byte, at int, rng *rand.Rand) ([]byte, string) {
	const digits = "0123456789-.eE"
	for k := at; k < len(out); k++ {
		if out[k] >= '0' && out[k] <= '9' {
			out[k] = digits[rng.IntN(len(digits))]
			return out, fmt.Sprintf("digit at %d is now %c", k, out[k])
		}
	}
	return out[:at], fmt.Sprintf("cut at %d", at)
}
