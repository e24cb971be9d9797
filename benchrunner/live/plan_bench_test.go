package live

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"tutti/benchrunner"
	"tutti/coll"
	"tutti/internal/testutil"
)

// BenchmarkPlan plans jobs for a thousand launches of 1 to 64 nodes.
func BenchmarkPlan(b *testing.B) {
	rng := rand.New(rand.NewPCG(9, 10))
	cases := make([]requestedCase, 1000)
	for i := range cases {
		cases[i] = caseAt(i, 1<<rng.IntN(7), int64(30+rng.IntN(300)), "a")
	}
	var pairs [][]string
	for n := range 32 {
		pairs = append(pairs, []string{fmt.Sprint("a", n), fmt.Sprint("b", n)})
	}
	for _, bc := range []struct {
		name    string
		sharing sharing
	}{{"one after another", sharing{}}, {"concurrently", sharing{nodes: 64}}, {"by switches", sharing{nodes: 64, switches: pairs}}} {
		b.Run(bc.name, func(b *testing.B) {
			p := planner{program: sized{most: 1}, bounds: bounds{limit: 4 * time.Hour}, launchTime: 5 * time.Second, dir: "/check", sharing: bc.sharing}
			for b.Loop() {
				if jobs, rejected, err := p.plan(cases); err != nil || len(rejected) > 0 || len(jobs) == 0 {
					b.Fatal(jobs, rejected, err)
				}
			}
		})
	}
}

// BenchmarkRender writes the folder and script of a job with a hundred launches.
func BenchmarkRender(b *testing.B) {
	m := &Machine{opt: Options{Dir: "/scratch", Program: naps{}, Launcher: placing{}}}
	d := plannedJob{nodes: 1, limit: time.Hour}
	for i := range 100 {
		d.launches = append(d.launches, twoCases(2*i))
	}
	for b.Loop() {
		if _, err := m.render(d, "name"); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSee reads the output of a job with eight launches of 4 MiB each.
func BenchmarkSee(b *testing.B) {
	m := &Machine{opt: Options{Dir: b.TempDir(), Program: quiet{}}}
	j := job{Job: coll.Job{Name: "j"}}
	text := bytes.Repeat([]byte("64    0.21    0.19    0.24    1000\n"), 4<<20/35)
	for i := range 8 {
		j.launches = append(j.launches, twoCases(2*i))
		dir := filepath.Join(m.jobDir("j"), launchDir(i))
		testutil.NoError(b, os.MkdirAll(dir, 0o777))
		for name, content := range map[string][]byte{"begin": nil, "stdout": text, "stderr": nil, "end": []byte("exit 0\nbegin 1 1\nend 2 2\nwhole\n")} {
			testutil.NoError(b, os.WriteFile(filepath.Join(dir, name), content, 0o666))
		}
	}
	b.SetBytes(int64(8 * len(text)))
	for b.Loop() {
		if _, err := m.see(b.Context(), j, ending{}); err != nil {
			b.Fatal(err)
		}
	}
}

// quiet is a program that reads no results from its output.
type quiet struct{ sized }

func (quiet) Read(s benchrunner.Launch, _ benchrunner.Output) benchrunner.Reading {
	return benchrunner.Reading{Outcomes: make([]benchrunner.Outcome, len(s.Cases))}
}
