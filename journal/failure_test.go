package journal

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
	"tutti/internal/testutil"
)

var stopRecord = Record{Kind: KindStop, Time: time.Unix(0, 0).UTC(), Stop: "budget"}

// failing is a file with one operation that fails in its next call and works again afterwards. If that
// operation is a write, it writes half of its bytes.
type failing struct {
	file
	write, sync, truncate error
}

func (f *failing) WriteAt(p []byte, off int64) (int, error) {
	if err := f.write; err != nil {
		f.write = nil
		n, _ := f.file.WriteAt(p[:len(p)/2], off)
		return n, err
	}
	return f.file.WriteAt(p, off)
}

func (f *failing) Sync() error {
	if err := f.sync; err != nil {
		f.sync = nil
		return err
	}
	return f.file.Sync()
}

func (f *failing) Truncate(size int64) error {
	if err := f.truncate; err != nil {
		f.truncate = nil
		return err
	}
	return f.file.Truncate(size)
}

func TestFailedAppend(t *testing.T) {
	golden := testutil.GoldenErrors(t)
	tests := []struct {
		name     string
		faults   failing
		want     error
		goesOn   bool // whether the same journal accepts the next record
		warnings int  // of the next Open
	}{
		{"disk full", failing{write: syscall.ENOSPC}, syscall.ENOSPC, true, 0},
		{"quota", failing{write: syscall.EDQUOT}, syscall.EDQUOT, true, 0},
		{"disk full and no cut", failing{write: syscall.ENOSPC, truncate: syscall.EIO}, syscall.ENOSPC, false, 1},
		{"fsync fails", failing{sync: syscall.EIO}, syscall.EIO, false, 0},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			dir := newJournal(t)
			j, _, err := Open(dir)
			testutil.NoError(t, err)
			testutil.NoError(t, j.Append(stopRecord))
			tc.faults.file = j.file
			j.file = &tc.faults
			golden(tc.name, j.Append(stopRecord, stopRecord, stopRecord), tc.want)
			err = j.Append(stopRecord)
			if (err == nil) != tc.goesOn {
				t.Errorf("next Append = %v, want it to go on: %v", err, tc.goesOn)
			}
			testutil.NoError(t, j.Close())
			want := 1
			if tc.goesOn {
				want = 2
			}
			j, contents, err := Open(dir)
			testutil.NoError(t, err)
			defer j.Close()
			if len(contents.Warnings) != tc.warnings {
				t.Errorf("warnings %q, want %d", contents.Warnings, tc.warnings)
			}
			// After an interrupted write, the file may contain a complete first record of that write.
			if got := contents.Records; got != want && !(tc.warnings > 0 && got == want+1) {
				t.Errorf("%d records, want %d", got, want)
			}
			if err := j.Append(stopRecord); err != nil {
				t.Errorf("Append after Open = %v", err)
			}
		})
	}
}

func TestGrownFile(t *testing.T) {
	dir := newJournal(t)
	j, _, err := Open(dir)
	testutil.NoError(t, err)
	defer j.Close()
	line := testutil.Must(encode(stopRecord))(t)
	f, err := os.OpenFile(filepath.Join(dir, FileName), os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = f.Write(line)
		err = errors.Join(err, f.Close())
	}
	testutil.NoError(t, err)
	if err := j.Append(stopRecord); !errors.Is(err, ErrLocked) {
		t.Errorf("Append after somebody else wrote = %v, want %v", err, ErrLocked)
	}
	contents, err := Read(dir)
	if err != nil || contents.Records != 1 {
		t.Errorf("Read = %+v, %v, want the record of the other", contents, err)
	}
}
