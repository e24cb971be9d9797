package journal

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"tutti/internal/testutil"
)

// If the environment variable holdEnv names a folder, the test binary opens the journal of this folder. It
// keeps the journal open until it is killed or its standard input ends. If appendEnv is set as well, it
// appends records continuously.
const (
	holdEnv   = "TUTTI_STORE_TEST_HOLD"
	appendEnv = "TUTTI_STORE_TEST_APPEND"
)

func TestMain(m *testing.M) {
	dir := os.Getenv(holdEnv)
	if dir == "" {
		os.Exit(m.Run())
	}
	j, _, err := Open(dir)
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	fmt.Println("open")
	for round := 1; os.Getenv(appendEnv) != ""; round++ {
		r := stopRecord
		r.Round, r.Note = round, strings.Repeat("x", 5000) // longer than a memory page
		if err := j.Append(r); err != nil {
			fmt.Println("error:", err)
			os.Exit(1)
		}
		fmt.Println(round)
	}
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
	if err := j.Close(); err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// hold starts another process that keeps the journal open.
func hold(t *testing.T, dir string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), holdEnv+"="+dir)
	stdin := testutil.Must(cmd.StdinPipe())(t)
	stdout := testutil.Must(cmd.StdoutPipe())(t)
	testutil.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = stdin.Close(); _ = cmd.Process.Kill(); _ = cmd.Wait() })
	if line, _ := bufio.NewReader(stdout).ReadString('\n'); line != "open\n" {
		t.Fatalf("other process says %q, want open", line)
	}
	return cmd
}

// newJournal creates a journal without records and returns its folder.
func newJournal(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	j := testutil.Must(Create(dir, Header{Campaign: "lock", Created: time.Unix(0, 0)}))(t)
	testutil.NoError(t, j.Close())
	return dir
}

func putLock(t *testing.T, dir string, o Process) {
	t.Helper()
	contents, err := encode(o)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, LockName), contents, 0o600)
	}
	testutil.NoError(t, err)
}

func TestLockOfAnotherProcess(t *testing.T) {
	dir := newJournal(t)
	cmd := hold(t, dir)
	_, _, err := Open(dir)
	if !errors.Is(err, ErrLocked) {
		t.Fatalf("Open next to another writer = %v, want %v", err, ErrLocked)
	}
	host, _ := os.Hostname()
	for _, want := range []string{fmt.Sprint("process ", cmd.Process.Pid), "on " + host, "since 20", "remove " + filepath.Join(dir, LockName)} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q does not say %q", err, want)
		}
	}
	if _, err := Read(dir); err != nil {
		t.Errorf("Read next to a writer = %v", err)
	}
	testutil.NoError(t, cmd.Process.Kill())
	waitDead(t, dir)
	j, _, err := Open(dir) // the killed process still exists as a zombie
	if err != nil {
		t.Fatalf("Open after a crash = %v", err)
	}
	if err := j.Append(stopRecord); err != nil {
		t.Error(err)
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
	onlyJournal(t, dir)
}

// TestKilledWhileAppending kills a process that appends records. The journal must then have, in order, all
// records that the process reported as written, and at most one more.
func TestKilledWhileAppending(t *testing.T) {
	t.Setenv(appendEnv, "1")
	for range 3 {
		dir := newJournal(t)
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), holdEnv+"="+dir)
		stdout, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		testutil.NoError(t, err)
		said := 0
		for lines := bufio.NewScanner(stdout); lines.Scan(); {
			if _, err := fmt.Sscan(lines.Text(), &said); err == nil && said == 20 {
				_ = cmd.Process.Kill() // then read its output until the end
			}
		}
		_ = cmd.Wait()
		j, contents, err := Open(dir)
		testutil.NoError(t, err)
		if n := contents.Records; said < 20 || n < said || n > said+1 {
			t.Errorf("%d records, the writer said %d", n, said)
		}
		for i, r := range recordsIn(t, dir) {
			if r.Round != i+1 {
				t.Fatalf("record %d is of round %d", i+1, r.Round)
			}
		}
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	}
}

// waitDead waits until the process that owns the lock of a folder has ended.
func waitDead(t *testing.T, dir string) {
	t.Helper()
	holder := testutil.Must(readLock(filepath.Join(dir, LockName)))(t)
	me := testutil.Must(self())(t)
	for range 500 {
		if holder.surelyDead(me) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%v is not dead after 5 s", holder)
}

func onlyJournal(t *testing.T, dir string) {
	t.Helper()
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 || left[0].Name() != FileName {
		t.Errorf("folder has %v (error %v), want only %s", left, err, FileName)
	}
}

func TestStaleLocks(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs Linux, whose /proc tells when a process began")
	}
	me, err := self()
	if err != nil || me.Boot == "" || me.Start == "" {
		t.Fatalf("self() = %+v, %v", me, err)
	}
	dead := func(change func(*Process)) Process {
		o := me
		o.Nonce = "DEAD"
		change(&o)
		return o
	}
	const noPID = 1 << 30 // above the largest pid_max of Linux, 2^22
	tests := []struct {
		name   string
		holder Process
		taken  bool
	}{
		{"this process, a lock before this one", dead(func(o *Process) {}), false},
		{"process is gone", dead(func(o *Process) { o.PID = noPID }), true},
		{"number used again by a later process", dead(func(o *Process) { o.Start = "1" }), true},
		{"machine was booted since", dead(func(o *Process) { o.Boot = "another boot" }), true},
		{"boot unknown", dead(func(o *Process) { o.Boot = "" }), false},
		{"start unknown, number in use", dead(func(o *Process) { o.Start = "" }), false},
		{"start unknown, number free", dead(func(o *Process) { o.Start = ""; o.PID = noPID }), true},
		{"another container", dead(func(o *Process) { o.PIDNamespace = "pid:[1]"; o.PID = noPID }), false},
		{"another host", dead(func(o *Process) { o.Host = "node07"; o.PID = noPID }), false},
		{"another host, other boot", dead(func(o *Process) { o.Host = "node07"; o.Boot = "another boot" }), false},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			dir := newJournal(t)
			putLock(t, dir, tc.holder)
			want := Running
			if tc.taken {
				want = Dead
			}
			if a, process, err := ActivityIn(dir); err != nil || a != want || process != tc.holder.String() {
				t.Errorf("ActivityIn = %s, %q, %v, want %s", a, process, err, want)
			}
			j, _, err := Open(dir)
			if !tc.taken {
				if !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), "on "+tc.holder.Host+" since") {
					t.Errorf("Open = %v, want %v naming the host", err, ErrLocked)
				}
				return
			}
			if err != nil {
				t.Fatalf("Open = %v, want the lock taken over", err)
			}
			if err := j.Close(); err != nil {
				t.Error(err)
			}
			onlyJournal(t, dir)
		})
	}
}

func TestUnreadableLock(t *testing.T) {
	golden := testutil.GoldenErrors(t)
	for _, contents := range []string{"", "{", "{}", `{"nonce":"../../x"}`} {
		dir := newJournal(t)
		testutil.NoError(t, os.WriteFile(filepath.Join(dir, LockName), []byte(contents), 0o600))
		_, _, err := Open(dir)
		golden(strconv.Quote(contents), err, ErrLocked)
	}
}

// TestTakeoverRace starts many processes that find the same lock of a dead process. It checks that at most
// one of them has the journal open at any time. Some also find the lock of a process that crashed while it
// removed a lock.
func TestTakeoverRace(t *testing.T) {
	me := testutil.Must(self())(t)
	dead := me
	dead.PID, dead.Nonce = 1<<30, "DEAD"
	guard := dead
	guard.Nonce = "GUARD"
	for round := range 20 {
		dir := newJournal(t)
		putLock(t, dir, dead)
		if round%2 == 1 {
			contents, _ := json.Marshal(guard)
			testutil.NoError(t, os.WriteFile(filepath.Join(dir, LockName+"."+dead.Nonce), contents, 0o600))
		}
		var (
			wg      sync.WaitGroup
			mu      sync.Mutex
			holding []*lock
		)
		for range 8 {
			wg.Go(func() {
				l, err := acquire(filepath.Join(dir, LockName))
				if err != nil && !errors.Is(err, ErrLocked) {
					t.Error(err)
				}
				if err == nil {
					mu.Lock()
					holding = append(holding, l)
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		if len(holding) > 1 {
			t.Fatalf("round %d: %d hold the lock, want at most one", round, len(holding))
		}
		for _, l := range holding {
			if err := l.release(); err != nil {
				t.Errorf("round %d: %v", round, err)
			}
		}
		j, _, err := Open(dir)
		if err != nil {
			t.Fatalf("round %d: Open = %v", round, err)
		}
		if err := j.Close(); err != nil {
			t.Error(err)
		}
		onlyJournal(t, dir)
	}
}

func TestLockRemovedByOthers(t *testing.T) {
	dir := newJournal(t)
	j, _, err := Open(dir)
	testutil.NoError(t, err)
	testutil.NoError(t, os.Remove(filepath.Join(dir, LockName)))
	other, _, err := Open(dir)
	testutil.NoError(t, err)
	if err := j.Append(stopRecord); !errors.Is(err, ErrLocked) {
		t.Errorf("Append without the lock = %v, want %v", err, ErrLocked)
	}
	if err := j.Close(); !errors.Is(err, ErrLocked) {
		t.Errorf("Close without the lock = %v, want %v", err, ErrLocked)
	}
	if err := other.Append(stopRecord); err != nil { // its lock still exists
		t.Errorf("Append of the new writer = %v", err)
	}
	if err := other.Close(); err != nil {
		t.Error(err)
	}
}

func TestWriteSynced(t *testing.T) {
	path := filepath.Join(t.TempDir(), LockName)
	testutil.NoError(t, writeSynced(path, []byte("one"), os.O_EXCL, 0o644))
	if err := writeSynced(path, []byte("two"), os.O_EXCL, 0o644); !errors.Is(err, os.ErrExist) {
		t.Errorf("second writeSynced = %v, want %v", err, os.ErrExist)
	}
}
