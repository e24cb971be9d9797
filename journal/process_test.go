package journal_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"tutti/internal/testutil"
	"tutti/journal"
)

func TestProcess(t *testing.T) {
	cmd := exec.Command("sleep", "60")
	testutil.NoError(t, cmd.Start())
	p, err := journal.ProcessOf(cmd.Process.Pid)
	if err != nil || p.PID != cmd.Process.Pid || !p.Runs() || p.Gone() {
		t.Errorf("process %d: %+v, %v, runs %t, gone %t", cmd.Process.Pid, p, err, p.Runs(), p.Gone())
	}
	content := testutil.Must(json.Marshal(p))(t)
	testutil.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	var kept journal.Process
	if err := json.Unmarshal(content, &kept); err != nil || kept != p || kept.Runs() || !kept.Gone() {
		t.Errorf("process that was kept and has ended: %+v, %v, runs %t, gone %t", kept, err, kept.Runs(), kept.Gone())
	}
	// A process with the same number but another start time must not be mistaken for this process.
	me := testutil.Must(journal.ProcessOf(os.Getpid()))(t)
	var other journal.Process
	text := map[string]any{}
	content, _ = json.Marshal(me)
	testutil.NoError(t, json.Unmarshal(content, &text))
	text["start"] = "1"
	content, _ = json.Marshal(text)
	if err := json.Unmarshal(content, &other); err != nil || other.Runs() || !other.Gone() {
		t.Errorf("an earlier process of the same number: runs %t, gone %t, %v", other.Runs(), other.Gone(), err)
	}
	text["start"], text["host"] = me.Start, "elsewhere"
	content, _ = json.Marshal(text)
	if err := json.Unmarshal(content, &other); err != nil || other.Runs() || other.Gone() {
		t.Errorf("a process of another machine: runs %t, gone %t, want neither: nobody knows", other.Runs(), other.Gone())
	}
}

func TestWriter(t *testing.T) {
	dir := t.TempDir()
	if _, err := journal.Writer(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Writer without a journal = %v", err)
	}
	j := testutil.Must(journal.Create(dir, journal.Header{}))(t)
	if p, err := journal.Writer(dir); err != nil || p.PID != os.Getpid() || !p.Runs() {
		t.Errorf("Writer = %+v, %v, want this process", p, err)
	}
	testutil.NoError(t, j.Close())
	if _, err := journal.Writer(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Writer of a closed journal = %v", err)
	}
}

func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	release := testutil.Must(journal.Lock(path))(t)
	if _, err := journal.Lock(path); !errors.Is(err, journal.ErrLocked) {
		t.Errorf("a second Lock = %v, want ErrLocked", err)
	}
	testutil.NoError(t, release())
	release = testutil.Must(journal.Lock(path))(t)
	testutil.NoError(t, release())
}
