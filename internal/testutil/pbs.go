package testutil

import (
	_ "embed"
	"os"
	"path/filepath"
	"testing"
)

//go:embed pbs/pbs.sh
var pbsText string

// Answers of the fake PBS about its server, its only queue and its node, shortened from those of OpenPBS 23.06.06.
var pbsAnswers = map[string]string{
	"server.json": `{"Server":{"pbs0":{"server_state":"Active","default_queue":"workq"}}}`,
	"queue.json":  `{"Queue":{"workq":{"queue_type":"Execution","enabled":"True","started":"True"}}}`,
	"nodes.json":  `{"nodes":{"n1":{"state":"free","resources_available":{"ncpus":8,"mem":"24683652kb","host":"n1"}}}}`,
}

// PBS returns a folder with qsub, qstat, qselect, qdel and pbsnodes of a fake PBS, which runs each job at once on
// this machine. The file calls in the folder has a line for each call. A test switches on a fault by a file in the
// folder; see PBSFault.
func PBS(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"jobs", "gone"} {
		NoError(t, os.Mkdir(filepath.Join(dir, name), 0o777))
	}
	for name, text := range pbsAnswers {
		NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	for _, name := range []string{"qsub", "qstat", "qselect", "qdel", "pbsnodes"} {
		NoError(t, WriteExecutable(filepath.Join(dir, name), pbsText))
	}
	return dir
}

// PBSFault switches on a fault of a fake PBS: down (the server does not answer), hold (jobs are held), drop (the
// next job vanishes although qsub prints its ID), lost-answer (the next job runs although qsub fails), refuse (no
// queue takes a job), history-off (jobs vanish when they end), no-json (qstat prints JSON that is not valid) or node-lost
// (a node of the next job fails during the first launch).
func PBSFault(t testing.TB, dir, fault string) {
	t.Helper()
	NoError(t, os.WriteFile(filepath.Join(dir, fault), nil, 0o666))
}
