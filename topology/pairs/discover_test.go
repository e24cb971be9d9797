package pairs_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tutti/campaign/assembly"
	"tutti/internal/config"
	"tutti/internal/testutil"
	"tutti/topology/pairs"
)

// prints is a benchmark program (a shell script) that prints given output, which may be incomplete. The
// launcher runs it once for all ranks.
const prints = `#!/bin/sh
echo x >> LEDGER
echo '{"event":"hello","nodes":[{"host":"n1"}],"library":"fake"}'
SAYS
`

const (
	ranks  = `for pass in 0 1 2 3; do for b in 1 2 3; do for a in 0 1 2; do [ $a -lt $b ] && echo '{"event":"pair","stage":"inside","pass":'$pass',"a":"n1","rank_a":'$a',"core_a":'$a',"b":"n1","rank_b":'$b',"core_b":'$b',"small":1e-6,"small_median":1e-6,"large":1e-5,"large_median":1e-5}'; done; done; done`
	ends   = `echo '{"event":"end"}'`
	dies   = `echo broken >&2; exit 9`
	wrong  = `echo '{"event":"error","why":"the world is 4 ranks on 1 nodes (4), the plan wants 2 nodes of 2"}'; exit 3`
	starts = `[ "$1" = --version ] && exit; shift 5; exec "$@"`
)

// machine creates a campaign on the local machine. Its benchmark program prints the lines in `says`. The
// result is the folder of the campaign.
func machine(t *testing.T, says string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range map[string]string{
		"prog":   strings.NewReplacer("LEDGER", filepath.Join(dir, "ledger"), "SAYS", says).Replace(prints),
		"launch": "#!/bin/sh\n" + starts + "\n",
		"c.yaml": `name: fake
output: "out [1]" # no pattern
libraries: [{name: mpich, version: "4.0.2", benchmark: prog, launcher: hydra, launcher_path: ` + dir + `/launch}]
collectives: [bcast]
grid: {nodes: [1], ppn: [4], sizes: [8, 1KiB]}
runner: {kind: local, ppn: 4}
benchmark: {program: native}
`,
	} {
		testutil.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755))
	}
	return dir
}

// discovery loads the campaign in a folder and opens its measurement of pairs, as a new process would.
func discovery(t *testing.T, dir string) *pairs.Discovery {
	t.Helper()
	cfg := testutil.Must(config.Load(filepath.Join(dir, "c.yaml"), config.Layers{}))(t)
	c := testutil.Must(assembly.New(cfg))(t)
	opt := pairs.Defaults
	opt.Version, opt.Environ = "test", os.Environ()
	d := testutil.Must(pairs.Open(c, opt))(t)
	t.Cleanup(func() { d.Close() })
	return d
}

// begun returns how many times the benchmark program was launched.
func begun(t *testing.T, dir string) int {
	t.Helper()
	text := testutil.Must(os.ReadFile(filepath.Join(dir, "ledger")))(t)
	return strings.Count(string(text), "x")
}

// TestMeasureOnce checks that a second process does not repeat measurements.
func TestMeasureOnce(t *testing.T) {
	dir := machine(t, ranks+"; "+ends)
	for range 2 {
		d := discovery(t, dir)
		testutil.NoError(t, d.Measure(t.Context()))
		found := testutil.Must(d.Found())(t)
		testutil.NoError(t, found.Write(d.Dir))
		testutil.NoError(t, d.Close())
		if n := begun(t, dir); n != 2 { // one launch for "pairs" and one for "examples"
			t.Errorf("%d starts, want 2", n)
		}
	}
	for _, name := range []string{pairs.TreeFile, pairs.LatencyFile, pairs.BandwidthFile, pairs.CoresFile, pairs.ParametersFile} {
		if _, err := os.Stat(filepath.Join(dir, "out [1]", "topology", name)); err != nil {
			t.Error(err)
		}
	}
}

// TestMeasureDies checks that the output of a failed launch remains, and that the next process launches the
// program again.
func TestMeasureDies(t *testing.T) {
	dir := machine(t, ranks+"; "+dies)
	for i := range 2 {
		d := discovery(t, dir)
		if err := d.Measure(t.Context()); !errors.Is(err, pairs.ErrNothing) || !strings.Contains(err.Error(), "broken") {
			t.Errorf("error %v, want one with the program's words", err)
		}
		found := testutil.Must(d.Found())(t)
		if gaps := strings.Join(found.Tree.Gaps, "; "); !strings.Contains(gaps, "the launch ended before all pairs were measured") {
			t.Errorf("gaps %s", gaps)
		}
		testutil.NoError(t, d.Close())
		if n := begun(t, dir); n != i+1 {
			t.Errorf("%d starts, want %d", n, i+1)
		}
	}
}

// TestMeasureMisplaced checks that it is an error if a launcher starts all ranks on one node.
func TestMeasureMisplaced(t *testing.T) {
	d := discovery(t, machine(t, wrong))
	if err := d.Measure(t.Context()); !errors.Is(err, pairs.ErrNothing) || !strings.Contains(err.Error(), "the world is 4 ranks on 1 nodes") {
		t.Errorf("error %v", err)
	}
	if _, err := d.Found(); !errors.Is(err, pairs.ErrNothing) || !strings.Contains(err.Error(), "the world is 4 ranks") {
		t.Errorf("found: error %v", err)
	}
}
