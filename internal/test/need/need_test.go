package need_test

import (
	"fmt"
	"testing"

	"tutti/internal/test/need"
)

func TestMissing(t *testing.T) {
	for value, fails := range map[string]bool{"": false, "0": false, "1": true} {
		t.Setenv(string(need.Disk), value)
		told := &outcome{}
		need.Disk.Missing(told, "no room: %d bytes", 7)
		if told.text != "no room: 7 bytes" || told.failed != fails {
			t.Errorf("%s=%q: %+v, want failed %t", need.Disk, value, told, fails)
		}
	}
}

// outcome keeps how a test was ended.
type outcome struct {
	testing.TB
	failed bool
	text   string
}

func (*outcome) Helper() {}

func (o *outcome) Fatalf(format string, args ...any) {
	o.failed, o.text = true, fmt.Sprintf(format, args...)
}

func (o *outcome) Skipf(format string, args ...any) { o.text = fmt.Sprintf(format, args...) }
