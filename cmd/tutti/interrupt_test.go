package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"tutti/campaign/export"
	"tutti/internal/testutil"
	"tutti/internal/testutil/campaigntest"
	"tutti/journal"
)

// finalFiles are the result files that must be identical after any interruption.
var finalFiles = []string{export.ReportJSON, export.ReportHTML, export.CurveCSV, export.SelectionCSV, "mpich.json", "openmpi.rules"}

// reference runs the small campaign without interruption and returns the folder with its results.
func reference(t *testing.T, args ...string) string {
	t.Helper()
	dir := t.TempDir()
	campaigntest.Small(t, dir)
	mustTutti(t, codeDone, append([]string{"tune", "-c", filepath.Join(dir, "small.yaml")}, args...)...)
	return filepath.Join(dir, "out")
}

// compareFinal compares the final files of two campaigns. It does nothing if one started after midnight and the other before,
// because files say on which day their campaign started.
func compareFinal(t *testing.T, want, got string) {
	t.Helper()
	if startDay(t, want) != startDay(t, got) {
		return
	}
	for _, name := range finalFiles {
		if !bytes.Equal(readFile(t, filepath.Join(want, name)), readFile(t, filepath.Join(got, name))) {
			t.Errorf("%s differs from the one of the uninterrupted campaign", name)
		}
	}
}

func startDay(t *testing.T, dir string) string {
	t.Helper()
	contents, err := journal.Read(dir)
	testutil.NoError(t, err)
	return contents.Header.Created.UTC().Format(time.DateOnly)
}

// process starts tutti as a child process in a folder. The returned buffer collects the output.
func process(t *testing.T, dir string, args ...string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	return processWith(t, os.Environ(), dir, args...)
}

// processWith starts tutti like the function `process`, with additional environment variables.
func processWith(t *testing.T, environ []string, dir string, args ...string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	cmd := exec.Command("tutti", args...)
	cmd.Dir = dir
	cmd.Env = append(environ, "TUTTI_BENCHMARK_NOISE_LIMIT=0") // a busy machine passes, too
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	testutil.NoError(t, cmd.Start())
	return cmd, &output
}

// journalLines returns the number of lines of a journal, or 0 if there is none.
func journalLines(t *testing.T, dir string) int {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(dir, "journal.jsonl"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return bytes.Count(content, []byte("\n"))
}

// endWhen sends a signal to a process as soon as holds() returns true, and waits until the process ends. It
// returns the exit code, or -1 after SIGKILL.
func endWhen(t *testing.T, cmd *exec.Cmd, s os.Signal, holds func() bool) exitCode {
	t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	deadline := time.After(testutil.HangTimeout)
	for sent := false; ; {
		select {
		case err := <-ended:
			return codeOfProcess(t, err)
		case <-deadline:
			_ = cmd.Process.Kill()
			t.Fatal("the campaign does not end")
		case <-time.After(500 * time.Microsecond):
			if !sent && holds() {
				sent = true
				if err := cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
					t.Fatal(err)
				}
			}
		}
	}
}

// heldCampaign starts a program that tunes small.yaml in a new folder, and waits until the journal of the campaign has
// measurements. The pipe of its stderr takes a warning and a line of progress, then it is full. So the campaign cannot end before
// the caller reads or closes the pipe.
func heldCampaign(t *testing.T, name string, args ...string) (cmd *exec.Cmd, stderr *os.File, dir string) {
	t.Helper()
	const page, free = 4096, 200 // bytes
	dir = t.TempDir()
	campaigntest.Small(t, dir)
	stderr, w, err := os.Pipe()
	testutil.NoError(t, err)
	t.Cleanup(func() { stderr.Close() })
	testutil.Must(unix.FcntlInt(w.Fd(), unix.F_SETPIPE_SZ, page))(t)
	testutil.Must(w.Write(bytes.Repeat([]byte("\n"), page-free)))(t)
	cmd = exec.Command(name, args...)
	cmd.Dir, cmd.Stderr = dir, w
	testutil.NoError(t, errors.Join(cmd.Start(), w.Close()))
	for journalLines(t, filepath.Join(dir, "out")) < 5 {
		time.Sleep(time.Millisecond)
	}
	return cmd, stderr, dir
}

// startOrResume returns the arguments of tutti that resume the campaign in a folder or, if the folder has
// no journal, start it.
func startOrResume(t *testing.T, dir string) []string {
	t.Helper()
	if journalLines(t, filepath.Join(dir, "out")) > 0 {
		return []string{"resume", "out"}
	}
	return []string{"tune", "-c", "small.yaml"}
}

func endsKilled(t *testing.T, dir string, lines int, delay time.Duration) bool {
	t.Helper()
	cmd, output := process(t, dir, startOrResume(t, dir)...)
	reached := time.Time{}
	code := endWhen(t, cmd, syscall.SIGKILL, func() bool {
		if reached.IsZero() && journalLines(t, filepath.Join(dir, "out")) >= lines {
			reached = time.Now()
		}
		return !reached.IsZero() && time.Since(reached) >= delay
	})
	if code != codeDone && code != -1 {
		t.Fatalf("exit code %d\n%s", code, output)
	}
	return code == -1
}

// TestTorn checks that a campaign writes the same results if a crash of the machine cuts off the journal at
// a random byte.
func TestTorn(t *testing.T) {
	t.Parallel()
	want := reference(t)
	resumeCut(t, want, readFile(t, filepath.Join(want, "journal.jsonl")), cases(2, 6))
}

// TestFromAndResumed checks a campaign that starts from an earlier one, whose folder is then removed. The
// resumed campaign must have the same results as an uninterrupted one.
func TestFromAndResumed(t *testing.T) {
	t.Parallel()
	first := reference(t)
	dir := t.TempDir()
	campaigntest.Small(t, dir)
	_, _ = mustTutti(t, codeDone, "tune", "-c", filepath.Join(dir, "small.yaml"), "--set", "seed=5", "--from", first)
	want := filepath.Join(dir, "out")
	journal := readFile(t, filepath.Join(want, "journal.jsonl"))
	testutil.NoError(t, os.RemoveAll(first))
	resumeCut(t, want, journal, cases(2, 4))
	for _, p := range reportOf(t, want).Problems {
		if len(p.Compared) != 1 || p.Compared[0].Campaign != "small" {
			t.Errorf("%s: the report compares with %+v, want the earlier campaign small", p.Collective, p.Compared)
		}
	}
}

// resumeCut truncates a journal at random bytes after the header and resumes the campaign. It does so the
// given number of times. The results must equal those in the folder `want`. If the last line is incomplete,
// there must be a warning.
func resumeCut(t *testing.T, want string, journal []byte, times int) {
	t.Helper()
	header := bytes.IndexByte(journal, '\n') + 1
	rng := rand.New(rand.NewPCG(7, 7))
	for range times {
		end := header + rng.IntN(len(journal)-header)
		out := newJournalFolder(t, journal[:end])
		_, stderr := mustTutti(t, codeDone, "resume", out)
		if journal[end-1] != '\n' && !strings.Contains(stderr, "warning: ") {
			t.Errorf("cut at byte %d: no warning", end)
		}
		compareFinal(t, want, out)
	}
}

// newJournalFolder writes the bytes of a journal into a new folder, and returns the folder.
func newJournalFolder(t *testing.T, journal []byte) string {
	t.Helper()
	dir := t.TempDir()
	testutil.NoError(t, os.WriteFile(filepath.Join(dir, "journal.jsonl"), journal, 0o666))
	return dir
}

func TestInterrupt(t *testing.T) {
	t.Parallel()
	want := reference(t)
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP) // else tutti ignores it if this test runs under nohup
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		cmd, stderr, dir := heldCampaign(t, "tutti", "tune", "-c", "small.yaml")
		out := filepath.Join(dir, "out")
		testutil.NoError(t, cmd.Process.Signal(s))
		output := string(testutil.Must(io.ReadAll(stderr))(t))
		if code := codeOfProcess(t, cmd.Wait()); code != codeCancelled {
			t.Fatalf("%v: exit code %d, want %d\n%s", s, code, codeCancelled, output)
		}
		if hint := "Resume with:\n  tutti resume out\n"; !strings.HasSuffix(output, hint) {
			t.Errorf("%v: the output does not end with %q:\n%s", s, hint, output)
		}
		if n := journalLines(t, out); n >= journalLines(t, want) {
			t.Errorf("%v: the journal is complete after %d lines", s, n)
		}
		mustTutti(t, codeDone, "resume", out)
		compareFinal(t, want, out)
	}
}

// TestDoubledSignal checks that signals within a second count as one, and that a later one ends the process at once. A
// SIGPIPE while somebody reads the output counts for nothing.
func TestDoubledSignal(t *testing.T) {
	for _, tc := range []struct {
		name    string
		signals map[time.Duration]os.Signal // by the time at which they arrive
		ends    time.Duration
	}{
		{"twice within 50 ms", map[time.Duration]os.Signal{time.Second: syscall.SIGTERM, 1050 * time.Millisecond: syscall.SIGTERM}, time.Second},
		{"two kinds at once", map[time.Duration]os.Signal{time.Second: syscall.SIGHUP, time.Second + 1: syscall.SIGTERM}, time.Second},
		{"a closed connection before", map[time.Duration]os.Signal{time.Second: syscall.SIGPIPE, 3 * time.Second: os.Interrupt}, 3 * time.Second},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began, received := time.Now(), make(chan os.Signal, 1)
				for at, s := range tc.signals {
					time.AfterFunc(at, func() {
						select {
						case received <- s:
						default: // as signal.Notify
						}
					})
				}
				var cancelled, released time.Duration
				endAtSignal(received, func() bool { return false }, func() { cancelled = time.Since(began) }, func() { released = time.Since(began) })
				if cancelled != tc.ends || released != tc.ends+time.Second {
					t.Errorf("cancelled after %v, released after %v: want %v, and one second later", cancelled, released, tc.ends)
				}
			})
		})
	}
}

// TestClosedPipe checks that a campaign ends as after Ctrl-C when nobody reads its output any more, and that SIGPIPE for
// another reason, such as a client of tutti serve that closes its connection, ends nothing.
func TestClosedPipe(t *testing.T) {
	t.Parallel()
	for want, closes := range map[exitCode]bool{codeCancelled: true, codeDone: false} {
		cmd, stderr, _ := heldCampaign(t, "tutti", "tune", "-c", "small.yaml")
		if closes {
			stderr.Close()
		} else {
			testutil.NoError(t, cmd.Process.Signal(syscall.SIGPIPE))
			testutil.Must(io.Copy(io.Discard, stderr))(t)
		}
		if code := codeOfProcess(t, cmd.Wait()); code != want {
			t.Errorf("output closed %t: exit code %d, want %d", closes, code, want)
		}
	}
}

// TestNohup checks that a signal that the parent ignores, as nohup(1) does with SIGHUP, ends nothing.
func TestNohup(t *testing.T) {
	t.Parallel()
	cmd, stderr, _ := heldCampaign(t, "bash", "-c", `trap "" HUP; exec tutti tune -c small.yaml`)
	testutil.NoError(t, cmd.Process.Signal(syscall.SIGHUP))
	testutil.Must(io.Copy(io.Discard, stderr))(t)
	if code := codeOfProcess(t, cmd.Wait()); code != codeDone {
		t.Errorf("exit code %d, want %d", code, codeDone)
	}
}

func TestCancelledBeforeItBegan(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	campaigntest.Small(t, dir)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stderr bytes.Buffer
	code := Main(ctx, []string{"tune", "-c", filepath.Join(dir, "small.yaml")}, nil, &bytes.Buffer{}, &stderr)
	if exitCode(code) != codeCancelled || !strings.Contains(stderr.String(), "tutti resume") {
		t.Errorf("exit code %d, want %d\n%s", code, codeCancelled, &stderr)
	}
	mustTutti(t, codeDone, "resume", filepath.Join(dir, "out"))
}

// TestBusy checks that other commands refuse a campaign as long as a process tunes it.
func TestBusy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	campaigntest.Small(t, dir)
	out := filepath.Join(dir, "out")
	first, _ := process(t, dir, "tune", "-c", "small.yaml", "--set", "hpo.trials=100000", "--set", "workers=1")
	code := endWhen(t, first, os.Interrupt, func() bool {
		if journalLines(t, out) < 3 {
			return false
		}
		_, stderr := mustTutti(t, codeBusy, "resume", out)
		if !strings.Contains(stderr, "process") {
			t.Errorf("stderr does not name the process: %s", stderr)
		}
		for _, args := range [][]string{{"tune", "-c", filepath.Join(dir, "small.yaml")}, {"cancel", out}, {"verify", out}} {
			mustTutti(t, codeBusy, args...)
		}
		mustTutti(t, codeDone, "status", out)
		return true
	})
	if code != codeCancelled {
		t.Errorf("exit code %d, want %d", code, codeCancelled)
	}
}
