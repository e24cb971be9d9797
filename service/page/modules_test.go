package page_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"tutti/internal/testutil"
)

// TestModules checks the grammar of every module and runs the tests of those that touch
// no document.
func TestModules(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		testutil.NeedBrowser.Missing(t, "%v: needs apt-get install nodejs", err)
	}
	names, err := filepath.Glob("assets/*.js")
	if err != nil || len(names) == 0 {
		t.Fatalf("modules: %v (error %v)", names, err)
	}
	for _, name := range names {
		contents, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		check := exec.Command(node, "--input-type=module", "--check")
		check.Stdin = bytes.NewReader(contents)
		if out, err := check.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
	out, err := exec.Command(node, "--test", "jstest/").CombinedOutput()
	if err != nil {
		t.Errorf("node --test: %v\n%s", err, out)
	}
}
