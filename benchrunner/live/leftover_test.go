package live_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"tutti/benchrunner"
	"tutti/internal/testutil"
)

// stray are commands that leave a process behind, as the fake program runs them. Each process writes its number to
// the file PIDS.
var stray = map[string]string{
	"child":              `sleep 1000 & echo $! >>PIDS`,
	"session":            `setsid -f bash -c 'echo $$ >>PIDS; exec sleep 1000' </dev/null >/dev/null 2>&1`,
	"empty environment":  `env -i setsid -f bash -c 'echo $$ >>PIDS; exec sleep 1000' </dev/null >/dev/null 2>&1`,
	"keeps its output":   `env -i setsid -f bash -c 'cd /; echo $$ >>PIDS; exec sleep 1000'`,
	"nothing of the job": `cd /; env -i setsid -f bash -c 'echo $$ >>PIDS; exec sleep 1000' </dev/null >/dev/null 2>&1`,
	"daemon of a daemon": `cd /; env -i setsid -f bash -c 'setsid -f bash -c "echo \$\$ >>PIDS; exec sleep 1000"; echo $$ >>PIDS; exec sleep 1000' </dev/null >/dev/null 2>&1`,
	"deaf":               `bash -c 'trap "" TERM INT HUP; echo $$ >>PIDS; while :; do sleep 1; done' & sleep 0.1`,
}

// lookAndLeave returns lines of a program that first add the processes of the file pids that are still alive to the file
// alive, and then run a command of stray.
func lookAndLeave(pids, alive, command string) string {
	look := fmt.Sprintf("for p in $(cat %[1]s 2>/dev/null); do case $(cat /proc/$p/stat 2>/dev/null) in '' | *') Z '*) ;; *) echo $p >>%[2]s ;; esac; done\n", pids, alive)
	return look + "(" + strings.ReplaceAll(command, "PIDS", pids) + ")\n"
}

// TestLeftProcesses checks that what a launch that ends well leaves behind has ended before the next launch begins. A
// process of the same user that only reads in the job's folder must continue.
func TestLeftProcesses(t *testing.T) {
	testutil.SkipShort(t)
	for name, command := range stray {
		t.Run(name, func(t *testing.T) {
			if name != "session" && name != "nothing of the job" {
				testutil.NeedAllCases(t)
			}
			dir := t.TempDir()
			o := options(t, dir, localScheduler(t))
			p := oneCaseProgram(o)
			pids := filepath.Join(dir, "pids")
			alive := filepath.Join(dir, "alive")
			text := strings.Replace(fakeText, "shift\n", "shift\n"+lookAndLeave(pids, alive, command), 1)
			testutil.NoError(t, testutil.WriteExecutable(p.path, text))
			o.Program = p
			log := &memory{}
			testutil.NoError(t, machine(t, o).Run(context.Background(), batchOf(at(1, 1, "a"), at(1, 2, "b"), at(1, 3, "c")), log))
			checkDone(t, log, 3, 3)
			if text, err := os.ReadFile(alive); err == nil {
				t.Errorf("processes %q ran during a later launch", strings.Fields(string(text)))
			}
			began := strings.Fields(string(testutil.Must(os.ReadFile(pids))(t)))
			if len(began) < 3 {
				t.Fatalf("only %q began", began)
			}
			for _, pid := range began {
				if text, err := os.ReadFile("/proc/" + pid + "/stat"); err == nil && !strings.Contains(string(text), ") Z ") {
					t.Errorf("process %s runs after its job: %s", pid, text)
				}
			}
		})
	}
}

// noKill is a set-up line without which no process outlives its launch: the job script cannot end any.
const noKill = "kill() { return 1; }"

// TestStayingProcesses checks that a campaign stops if a launch leaves a process that cannot be ended, names the process,
// and keeps what it has measured.
func TestStayingProcesses(t *testing.T) {
	testutil.SkipShort(t)
	dir := t.TempDir()
	o := options(t, dir, localScheduler(t))
	p := oneCaseProgram(o)
	text := strings.Replace(fakeText, "shift\n", "shift\nsetsid -f sleep 1000 </dev/null >/dev/null 2>&1\n", 1)
	testutil.NoError(t, testutil.WriteExecutable(p.path, text))
	o.Program, o.Setup = p, []string{noKill}
	log := &memory{}
	err := machine(t, o).Run(context.Background(), batchOf(at(1, 1, "a"), at(1, 2, "b")), log)
	if !errors.Is(err, benchrunner.ErrLeft) || !strings.Contains(err.Error(), " sleep on ") {
		t.Errorf("error %v", err)
	}
	if len(log.trials) != 1 {
		t.Errorf("%d trials, want the one before the process was found: %s", len(log.trials), trialsText(log))
	}
}

// TestEarlierProcesses checks that no job measures while a process of an earlier launch runs of its campaign: it ends the
// process, or stops and names it.
func TestEarlierProcesses(t *testing.T) {
	testutil.SkipShort(t)
	for _, mark := range []string{"end", "../stop"} {
		for _, ends := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s %t", filepath.Base(mark), ends), func(t *testing.T) {
				if ends != (mark == "end") {
					testutil.NeedAllCases(t)
				}
				dir := t.TempDir()
				o := options(t, dir, localScheduler(t))
				launch := filepath.Join(dir, "jobs", "earlier", "1")
				testutil.NoError(t, errors.Join(os.MkdirAll(launch, 0o777), os.WriteFile(filepath.Join(launch, mark), nil, 0o666)))
				stays := exec.Command("sleep", "1000")
				stays.Env = append(os.Environ(), "TUTTI_LAUNCH="+launch)
				testutil.NoError(t, stays.Start())
				ended := make(chan error, 1)
				go func() { ended <- stays.Wait() }()
				t.Cleanup(func() { _ = stays.Process.Kill() })
				if !ends {
					o.Setup = []string{noKill}
				}
				log := &memory{}
				err := machine(t, o).Run(context.Background(), batchOf(at(1, 1, "a")), log)
				if !ends {
					if !errors.Is(err, benchrunner.ErrLeft) || !strings.Contains(err.Error(), strconv.Itoa(stays.Process.Pid)+" sleep on ") || len(log.trials) != 0 {
						t.Errorf("error %v, trials %s", err, trialsText(log))
					}
					return
				}
				testutil.NoError(t, err)
				checkDone(t, log, 1, 1)
				if err := <-ended; err == nil || err.Error() != "signal: killed" {
					t.Errorf("the process ended with %v", err)
				}
			})
		}
	}
}
