package testutil_test

import (
	"fmt"
	"testing"

	"tutti/internal/testutil"
)

func TestMissing(t *testing.T) {
	for value, fails := range map[string]bool{"": false, "0": false, "1": true} {
		t.Setenv(string(testutil.NeedDisk), value)
		result := &outcome{}
		testutil.NeedDisk.Missing(result, "disk full: %d bytes", 7)
		if result.text != "disk full: 7 bytes" || result.failed != fails {
			t.Errorf("%s=%q: %+v, want failed %t", testutil.NeedDisk, value, result, fails)
		}
	}
}

func TestAllCases(t *testing.T) {
	for value, want := range map[string]bool{"": false, "0": false, "1": true} {
		t.Setenv("TEST_ALL", value)
		got := &outcome{}
		testutil.NeedAllCases(got)
		if skipped := got.text != ""; testutil.AllCases() != want || skipped == want || got.failed {
			t.Errorf("TEST_ALL=%q: All() = %t, AllCases %+v, want all cases %t", value, testutil.AllCases(), got, want)
		}
	}
}

// outcome records how a test ended.
type outcome struct {
	testing.TB
	failed bool
	text   string
}

func (*outcome) Helper() {}

func (o *outcome) Fatalf(format string, args ...any) {
	o.failed, o.text = true, fmt.Sprintf(format, args...)
}

func (o *outcome) Skip(args ...any) { o.text = fmt.Sprint(args...) }

func (o *outcome) Skipf(format string, args ...any) { o.text = fmt.Sprintf(format, args...) }
