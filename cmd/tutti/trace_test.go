package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The predicted saving of a trace is shown on the terminal and as a page; a trace
// without times cannot say it.
func TestTraceShowTuned(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	put("report.json", `{"campaign":"night","problems":[{"library":"mpich","collective":"bcast","cells":[
		{"nodes":2,"ppn":1,"msg_bytes":1024,"algorithm":"binomial","slowdown":1,"default_slowdown":4}]}]}`)
	timed := put("timed.csv", "collective,nodes,ppn,msg_bytes,calls,seconds\nbcast,2,1,1024,10,2\n")
	counted := put("counted.csv", "collective,nodes,ppn,msg_bytes,calls\nbcast,2,1,1024,10\n")
	code, out, errs := tutti("trace", timed, "--campaign", dir)
	if code != codeDone || !strings.Contains(out, "binomial") || !strings.Contains(out, "save 75 %") {
		t.Errorf("exit code %d, %s%s: want that binomial saves 75 %%", code, out, errs)
	}
	page := filepath.Join(dir, "trace.html")
	if code, _, errs := tutti("trace", timed, "--campaign", dir, "--out", page); code != codeDone {
		t.Errorf("exit code %d: %s", code, errs)
	}
	if text, err := os.ReadFile(page); err != nil || !strings.Contains(string(text), "Campaign night") {
		t.Errorf("the page (%v) says nothing of the campaign", err)
	}
	if code, _, errs := tutti("trace", counted, "--campaign", dir); code != codeInput || !strings.Contains(errs, "seconds") {
		t.Errorf("without times: exit code %d, %s: want %d and the column", code, errs, codeInput)
	}
	if code, _, errs := tutti("trace", timed, "--campaign", dir, "--library", "openmpi"); code != codeInput || !strings.Contains(errs, "want one of mpich") {
		t.Errorf("another library: exit code %d, %s: want %d and the one there is", code, errs, codeInput)
	}
}
