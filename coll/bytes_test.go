package coll_test

import (
	"math"
	"strings"
	"testing"

	"tutti/coll"
)

func TestParseBytes(t *testing.T) {
	tests := []struct {
		in      string
		want    int64
		wantErr bool
	}{
		{in: "0", want: 0},
		{in: "512", want: 512},
		{in: "8B", want: 8},
		{in: "64KiB", want: 65536},
		{in: "1MiB", want: 1 << 20},
		{in: "3GiB", want: 3 << 30},
		{in: " 64 KiB ", want: 65536},
		{in: "007", want: 7}, // decimal, never octal
		{in: "9223372036854775807", want: math.MaxInt64},
		{in: "8589934591GiB", want: 8589934591 << 30},
		{in: "8589934592GiB", wantErr: true}, // 2^63
		{in: "9223372036854775808", wantErr: true},
		{in: "9007199254740992KiB", wantErr: true},
		{in: "", wantErr: true},
		{in: "KiB", wantErr: true},
		{in: "-1", wantErr: true},
		{in: "1.5KiB", wantErr: true},
		{in: "1kB", wantErr: true},
		{in: "1MB", wantErr: true},
		{in: "1K", wantErr: true},
		{in: "1kib", wantErr: true},
		{in: "0x10", wantErr: true},
		{in: "1_000", wantErr: true},
		{in: "1KiBKiB", wantErr: true},
		{in: "64KiBytes", wantErr: true},
	}
	for _, tc := range tests {
		t.Run(tc.in, func(t *testing.T) {
			got, err := coll.ParseBytes(tc.in)
			if (err != nil) != tc.wantErr {
				t.Fatalf("ParseBytes(%q) error = %v, want an error: %t", tc.in, err, tc.wantErr)
			}
			if got != tc.want {
				t.Errorf("ParseBytes(%q) = %d, want %d", tc.in, got, tc.want)
			}
			if err != nil && !strings.Contains(err.Error(), "64KiB") {
				t.Errorf("ParseBytes(%q) error = %q, want an example of what is allowed", tc.in, err)
			}
		})
	}
}

func TestFormatBytes(t *testing.T) {
	tests := []struct {
		in   int64
		want string
	}{
		{0, "0B"},
		{1, "1B"},
		{1023, "1023B"},
		{1024, "1KiB"},
		{1536, "1536B"},
		{65536, "64KiB"},
		{1<<20 + 1024, "1025KiB"},
		{1 << 30, "1GiB"},
		{3 << 31, "6GiB"},
		{math.MaxInt64, "9223372036854775807B"},
	}
	for _, tc := range tests {
		if got := coll.FormatBytes(tc.in); got != tc.want {
			t.Errorf("FormatBytes(%d) = %q, want %q", tc.in, got, tc.want)
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
