package coll_test

import (
	"math"
	"strconv"
	"testing"

	"tutti/coll"
	"tutti/internal/testutil"
)

func TestParseBytes(t *testing.T) {
	for in, want := range map[string]int64{
		"0": 0, "512": 512, "8B": 8, "64KiB": 65536, "1MiB": 1 << 20, "3GiB": 3 << 30, " 64 KiB ": 65536,
		"007":                 7, // decimal, never octal
		"9223372036854775807": math.MaxInt64, "8589934591GiB": 8589934591 << 30,
	} {
		if got, err := coll.ParseBytes(in); err != nil || got != want {
			t.Errorf("ParseBytes(%q) = %d, %v, want %d", in, got, err, want)
		}
	}
	golden := testutil.GoldenErrors(t)
	for _, in := range []string{
		"8589934592GiB", "9223372036854775808", "9007199254740992KiB", // 2^63
		"", "KiB", "-1", "1.5KiB", "1kB", "1MB", "1K", "1kib", "0x10", "1_000", "1KiBKiB", "64KiBytes",
	} {
		_, err := coll.ParseBytes(in)
		golden(strconv.Quote(in), err)
	}
}

func TestFormatBytes(t *testing.T) {
	for in, want := range map[int64]string{
		0: "0B", 1: "1B", 1023: "1023B", 1024: "1KiB", 1536: "1536B", 65536: "64KiB", 1<<20 + 1024: "1025KiB",
		1 << 30: "1GiB", 3 << 31: "6GiB", math.MaxInt64: "9223372036854775807B",
	} {
		if got := coll.FormatBytes(in); got != want {
			t.Errorf("FormatBytes(%d) = %q, want %q", in, got, want)
		}
	}
}

// FuzzParseBytes checks that a formatted size parses to the same number of bytes.
func FuzzParseBytes(f *testing.F) {
	for _, s := range []string{"0", "64KiB", "1 MiB", "8589934591GiB", "-3", "+3", "", "9223372036854775807B", "1e3"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, err := coll.ParseBytes(s)
		if err != nil {
			return
		}
		if n < 0 {
			t.Fatalf("ParseBytes(%q) = %d, want zero or more", s, n)
		}
		back, err := coll.ParseBytes(coll.FormatBytes(n))
		if err != nil || back != n {
			t.Errorf("ParseBytes(FormatBytes(%d)) = %d, %v", n, back, err)
		}
	})
}
