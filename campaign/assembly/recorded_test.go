package assembly_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/benchrunner"
	"tutti/campaign/assembly"
	"tutti/coll"
	"tutti/internal/config"
	"tutti/internal/testutil"
	"tutti/internal/testutil/campaigntest"
	"tutti/mpi"
)

// equalAlgorithms lets package cmp compare algorithms, which have unexported fields.
var equalAlgorithms = cmp.Comparer(func(a, b coll.Algorithm) bool { return a == b })

// write writes files into a folder. The map `files` has the text of each file, with the name as key.
func write(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		testutil.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
}

// recorded returns the text of a file of recorded data, and separately its header and its rows.
func recorded(t testing.TB, name string) (text, header, rows string) {
	t.Helper()
	content := testutil.Must(os.ReadFile(filepath.Join(campaigntest.Recorded(t), name)))(t)
	text = string(content)
	header, rows, _ = strings.Cut(text, "\n")
	return text, header, rows
}

// small returns the configuration of the campaign "small", in a folder that also contains the given files.
func small(t testing.TB, files map[string]string, set ...string) *config.Campaign {
	t.Helper()
	dir := t.TempDir()
	file := campaigntest.Small(t, dir)
	write(t, dir, files)
	return campaigntest.Load(t, file, set...)
}

// withData returns the configuration of the campaign "small" with `text` as its recorded data.
func withData(t testing.TB, text string) *config.Campaign {
	t.Helper()
	return small(t, map[string]string{"in.csv": text}, "runner.data=in.csv")
}

func assemble(t testing.TB, cfg *config.Campaign) *assembly.Campaign {
	t.Helper()
	return testutil.Must(assembly.New(cfg))(t)
}

func row(rows string, i int) string { return strings.SplitAfter(rows, "\n")[i] }

// TestRecordedRepetitions checks recorded data with several repetitions of a candidate. The true time must be
// their median, and each attempt must return another repetition.
func TestRecordedRepetitions(t *testing.T) {
	clean, header, rows := recorded(t, "C_allreduce.csv")
	want := assemble(t, withData(t, clean))
	var text strings.Builder
	at := slices.Index(strings.Split(header, ","), "time_us")
	for _, line := range strings.Split(strings.TrimSuffix(rows, "\n"), "\n") {
		cells := strings.Split(line, ",")
		seconds := testutil.Must(strconv.ParseFloat(cells[at], 64))(t)
		for rep, times := range []float64{1, 2, 0.5} {
			cells[at] = strconv.FormatFloat(seconds*times, 'g', -1, 64)
			fmt.Fprintf(&text, "%s,%d\n", strings.Join(cells, ","), rep+1)
		}
	}
	got := assemble(t, withData(t, header+",rep\n"+text.String()))
	if len(want.Warnings) != len(got.Warnings) { // the texts differ: they contain three times as high numbers of rows
		t.Errorf("warnings %q, want such as %q", got.Warnings, want.Warnings)
	}
	for i, p := range got.Problems {
		if diff := cmp.Diff(want.Problems[i].Truth, p.Truth, equalAlgorithms); diff != "" {
			t.Errorf("%s (-want +got):\n%s", p.Problem, diff)
		}
		for _, m := range p.Truth[:5] {
			var times []float64
			for attempt := 1; attempt <= 3; attempt++ {
				batch := benchrunner.Batch{Requests: []benchrunner.Request{{Candidate: m.Candidate, Attempt: attempt}}}
				err := p.Runner.Run(t.Context(), batch, benchrunner.TrialLog(func(tr coll.Trial) error {
					times = append(times, tr.Seconds/m.Seconds)
					return nil
				}))
				testutil.NoError(t, err)
			}
			if slices.Sort(times); times[0] > 0.51 || times[1] != 1 || times[2] < 1.99 {
				t.Errorf("%v took %v times its median, want each repetition once", m.Candidate, times)
			}
		}
	}
}

// TestRecordedWarnings checks that unusable rows are left out, with a warning that names the file, the line
// and the cause.
func TestRecordedWarnings(t *testing.T) {
	clean, _, rows := recorded(t, "C_allreduce.csv")
	with := func(row string) string { return clean + row + "\n" }
	for _, tc := range []struct{ name, text, want string }{
		{"torn in the middle", strings.Replace(clean, row(rows, 7), "allreduce,lr,4\n", 1), `^in.csv: 1 x torn, first at line 9: .*3 fields, want 9`},
		{"rows twice", clean + row(rows, 0) + row(rows, 1), `^in.csv: 2 x repeated candidate, first at line 476: .* is at line 2, too`},
		{"negative time", with("allreduce,rdb,4,1,16,-5,1,1,1"), `^in.csv: 1 x impossible time, first at line 476: a time of -5e-06 s: want .* s$`},
		{"infinite", with("allreduce,rdb,4,1,16,Inf,1,1,1") + "allreduce,rdb,4,1,16,-Inf,1,1,1\n", `^in.csv: 2 x bad number, first at line 476: .*want a decimal number`},
		{"unknown algorithm", with("allreduce,rbd,4,1,16,5,1,1,1"), `^names.csv: 1 recorded rows left out, no row names their algorithms: allreduce rbd$`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := assemble(t, withData(t, tc.text))
			// These warnings appear for the unchanged data, too.
			others := slices.DeleteFunc(slices.Clone(c.Warnings), func(w string) bool {
				return strings.HasPrefix(w, "mpich 4.0.2 has no allreduce algorithm ring: ")
			})
			if len(others) != 1 || !regexp.MustCompile(tc.want).MatchString(others[0]) {
				t.Errorf("warnings %q, want one like %q", others, tc.want)
			}
		})
	}
}

// openMPIOnly is a campaign file for Open MPI alone. The rules of Open MPI do not distinguish reduction
// operations.
const openMPIOnly = `name: small
output: out
libraries: [{name: openmpi, version: "4.1.4"}]
collectives: [allreduce]
runner: {data: [in.csv], names: data/names.csv}
`

// unknownTree is a campaign file for a release of MPICH whose selection trees only its library has.
const unknownTree = `name: small
output: out
libraries: [{name: mpich, version: "4.3.2"}]
collectives: [allreduce]
runner: {data: [in.csv], names: data/names.csv}
`

// TestRecordedFaults checks that each unusable input file leads to an error that names the file. Package
// preprocess tests further faults within a file.
func TestRecordedFaults(t *testing.T) {
	clean, header, rows := recorded(t, "C_allreduce.csv")
	in := func(text string) map[string]string { return map[string]string{"in.csv": text} }
	for _, tc := range []struct {
		name  string
		files map[string]string
		set   []string
		want  string
	}{
		{"time in another unit", in(strings.Replace(clean, "time_us", "time_ms", 1)), nil, `in.csv: .*"time_ms": want the time in microseconds as time_us`},
		{
			"recorded in two files", map[string]string{"in.csv": clean, "more.csv": header + "\n" + row(rows, 3)},
			[]string{"runner.data=in.csv,more.csv"}, `^allreduce .* is recorded in .*/in.csv and in .*/more.csv$`,
		},
		{
			"names of another library", map[string]string{"in.csv": clean, "names.csv": "collective,recorded,library,algorithm\nallreduce,rdb,openmpi,recursive_doubling\n"},
			[]string{"runner.names=names.csv"}, `names.csv: no row for the library "mpich": it has openmpi$`,
		},
		{
			"names torn", map[string]string{"in.csv": clean, "names.csv": "collective,recorded\n"},
			[]string{"runner.names=names.csv"}, `names.csv: `,
		},
		{
			"defaults of another library", map[string]string{"in.csv": clean, "defaults.csv": "machine,collective,nodes,ppn,msg_bytes,openmpi\nC,allreduce,4,1,16,rdb\n"},
			[]string{"runner.defaults=defaults.csv", "runner.recorded=C"}, `defaults.csv: no row for the library "mpich": it has openmpi$`,
		},
		{
			"defaults of another machine", in(clean),
			[]string{"runner.defaults=data/defaults.csv", "runner.recorded=Z"}, `defaults.csv: no row for the machine "Z": it has A, C`,
		},
		{"grid elsewhere", in(clean), []string{"grid.nodes=7"}, `^mpich 4.0.2 allreduce: no recorded measurement lies on the grid and can run there: \d+ rows outside the grid, 0 that cannot run there, `},
		{"another collective", in(clean), []string{"collectives=bcast"}, `^mpich 4.0.2 bcast: no recorded measurement .*: no row is about this collective$`},
		{"no file of names", in(clean), []string{"runner.names="}, `: 0 rows outside the grid, 0 that cannot run there, \d+ of algorithms it does not have \(lr, rab, `},
		{"wrong for some operations", map[string]string{"in.csv": header + "\n" + row(rows, 0), "small.yaml": openMPIOnly}, nil, `: 0 rows outside the grid, 0 that cannot run there, 0 of algorithms it does not have, 1 that export.op_safe excludes \([a-z]+\)$`},
		{"release without rules", map[string]string{"in.csv": clean, "small.yaml": unknownTree}, nil, `^libraries: mpich 4.3.2: no built-in selection tree .*: give the path of its libmpich.so$`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			set := append([]string{"runner.data=in.csv"}, tc.set...)
			_, err := assembly.New(small(t, tc.files, set...))
			if !errors.Is(err, assembly.ErrInput) || !regexp.MustCompile(tc.want).MatchString(err.Error()) {
				t.Errorf("error %v, want bad input like %q", err, tc.want)
			}
		})
	}
}

// TestNamesAndDefaults checks that the problems of each library have the library's names of algorithms, the
// times of its default, and the points of the grid.
func TestNamesAndDefaults(t *testing.T) {
	c := assemble(t, small(t, nil, "runner.defaults=data/defaults.csv", "runner.recorded=C", "grid.nodes=8,16", "grid.sizes=64,4096"))
	for i, want := range []struct {
		problem    string
		algorithms []string
	}{
		{"mpich allreduce", []string{"library_default", "recursive_doubling", "reduce_scatter_allgather"}},
		{"openmpi allreduce", []string{"library_default", "nonoverlapping", "rabenseifner", "recursive_doubling"}},
	} {
		p := c.Problems[i]
		var names []string
		for _, a := range p.Space.Algorithms() {
			names = append(names, a.String())
		}
		slices.Sort(names)
		if p.Problem.String() != want.problem || !slices.Equal(names, want.algorithms) {
			t.Errorf("problem %d is %s with %q, want %s with %q", i, p.Problem, names, want.problem, want.algorithms)
		}
		if n := len(p.Space.Points()); n != 4 {
			t.Errorf("%s: %d points, want 4", p.Problem, n)
		}
		checkDefaults(t, p.Truth)
	}
}

// checkDefaults checks that the default at each point has the time of one of the algorithms.
func checkDefaults(t *testing.T, truth []coll.Measurement) {
	t.Helper()
	times, defaults := map[coll.Point][]float64{}, map[coll.Point]float64{}
	for _, m := range truth {
		if m.Algorithm.IsDefault() {
			defaults[m.Point] = m.Seconds
		} else {
			times[m.Point] = append(times[m.Point], m.Seconds)
		}
	}
	for p, all := range times {
		if !slices.Contains(all, defaults[p]) {
			t.Errorf("%v: the default takes %g s, want one of %v", p, defaults[p], all)
		}
	}
}

// TestUnknownSeries checks a campaign for a release series whose algorithms tutti does not know. It must need
// the algorithm list of the installed library, and warn.
func TestUnknownSeries(t *testing.T) {
	cfg := small(t, nil)
	cfg.Libraries = cfg.Libraries[1:]
	cfg.Libraries[0].Version = "7.0.0"
	_, err := assembly.New(cfg)
	testutil.GoldenErrors(t)("without ompi_info", err, mpi.ErrUnknown)
	dir := t.TempDir()
	const text = "ompi:version:full:7.0.0\nmca:coll:tuned:param:coll_tuned_allreduce_algorithm:enumerator:value:3:recursive_doubling\n"
	write(t, dir, map[string]string{"ompi_info": "#!/bin/sh\ncat <<END\n" + text + "END\n"})
	testutil.NoError(t, os.Chmod(filepath.Join(dir, "ompi_info"), 0o777))
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	c := assemble(t, cfg)
	if !slices.ContainsFunc(c.Warnings, func(w string) bool { return strings.Contains(w, "openmpi 7.0.0: no release of this series is known") }) {
		t.Errorf("warnings %q", c.Warnings)
	}
	names := map[string]bool{}
	for _, a := range c.Problems[0].Space.Algorithms() {
		names[a.Name] = true
	}
	if len(names) != 1 || !names["recursive_doubling"] {
		t.Errorf("algorithms %v", names)
	}
}
