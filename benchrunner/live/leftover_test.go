package live_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

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

// TestLeftProcesses checks that what a launch that ends well leaves behind has ended before the next launch begins. A
// process of the same user that only reads in the job's folder must continue.
func TestLeftProcesses(t *testing.T) {
	testutil.SkipShort(t)
	for name, command := range stray {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			o := options(t, dir, localScheduler(t))
			p := oneCaseProgram(o)
			pids := filepath.Join(dir, "pids")
			alive := filepath.Join(dir, "alive")
			look := fmt.Sprintf("for p in $(cat %[1]s 2>/dev/null); do case $(cat /proc/$p/stat 2>/dev/null) in '' | *') Z '*) ;; *) echo $p >>%[2]s ;; esac; done\n", pids, alive)
			text := strings.Replace(fakeText, "shift\n", "shift\n"+look+"("+strings.ReplaceAll(command, "PIDS", pids)+")\n", 1)
			testutil.NoError(t, testutil.WriteExecutable(p.path, text))
			o.Program = p
			log := &memory{}
			testutil.NoError(t, machine(t, o).Run(context.Background(), batchOf(at(1, 1, "a"), at(1, 2, "b"), at(1, 3, "c")), log))
			checkDone(t, log, 3, 3)
			if text, err := os.ReadFile(alive); err == nil {
				t.Errorf("processes %q ran beside a later launch", strings.Fields(string(text)))
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
