package benchrunner_test

import (
	"bytes"
	"os/exec"
	"testing"
)

// run runs a command and returns its output.
func run(t *testing.T, args []string) (stdout, stderr string) {
	t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, errs.String())
	}
	return out.String(), errs.String()
}
