package csource_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"tutti/internal/testutil"
)

// simulate runs a program on the ranks of a simulated machine and returns its output. A program that runs
// for minutes instead of seconds is considered to hang.
func simulate(t *testing.T, dir, machine string, ranks, ppn int, placement, program string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testutil.HangTimeout)
	defer cancel()
	all := append([]string{"../scripts/simulate.sh", dir, machine, strconv.Itoa(ranks), strconv.Itoa(ppn), placement, dir + "/" + program}, args...)
	cmd := exec.CommandContext(ctx, "sh", all...)
	cmd.WaitDelay = time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(all, " "), err, out.String())
	}
	return out.String()
}

// times reads the output of the program "time". It returns the microseconds that each algorithm took.
func times(t *testing.T, said string) map[string]float64 {
	t.Helper()
	took := map[string]float64{}
	for line := range strings.Lines(said) {
		word := strings.Split(strings.TrimSpace(line), ",")
		if len(word) != 4 {
			t.Fatalf("%q: want collective, algorithm, bytes, microseconds", line)
		}
		us, err := strconv.ParseFloat(word[3], 64)
		if err != nil || us <= 0 {
			t.Fatalf("%q: %v", line, err)
		}
		took[word[1]] = us
	}
	return took
}

// TestSimulated checks that every algorithm computes the required result on simulated ranks. It also checks
// that algorithms that use the tree of switches are faster by the expected factors. Simulated times have no
// noise.
func TestSimulated(t *testing.T) {
	testutil.NeedAllCases(t)
	dir := testutil.BuildSimulated(t, "..")
	for _, ranks := range []int{9, 16, 32} {
		t.Run(fmt.Sprintf("right on %d", ranks), func(t *testing.T) {
			args := []string{"1", "+"}
			switch ranks {
			case 9:
				args = append([]string{"split"}, args...) // on one to nine ranks
			case 32:
				args = args[:1] // longer messages take long
			}
			requireChecked(t, simulate(t, dir, "tree", ranks, 1, "block", "check", args...), 150)
		})
	}
	t.Run("allgather", func(t *testing.T) { // Faraj and Yuan measured 807.9 and 102.5 ms (figure 8)
		took := times(t, simulate(t, dir, "star", 32, 1, "dealt", "time", "allgather", "32768", "ring", "ring_depth_first"))
		if us := took["ring_depth_first"]; us > 100e3 || took["ring"] < 7*us {
			t.Errorf("ring takes %.0f us, depth first %.0f: want at most 100000 and at least 7 times as fast", took["ring"], us)
		}
	})
	t.Run("allgatherv", func(t *testing.T) {
		all := []string{"linear", "simple", "bruck", "recursive_doubling", "ring", "ring_depth_first", "pairwise", "pairwise_light_barrier", "pairwise_barrier", "pair", "pair_light_barrier", "pair_barrier"}
		took := times(t, simulate(t, dir, "star", 32, 1, "dealt", "time", append([]string{"allgatherv", "32768"}, all...)...))
		if len(took) != len(all) || took["ring"] < 7*took["ring_depth_first"] {
			t.Errorf("%v: want the times of %d algorithms, ring_depth_first at least 7 times as fast as ring", took, len(all))
		}
	})
	t.Run("bcast", func(t *testing.T) { // the ranks are distributed over 32 nodes
		for _, tc := range []struct{ bytes, before, now string }{
			{"8192", "magpie", "two_level_postal"}, {"262144", "multi_level=8192", "multi_level_pipeline=32768"},
		} {
			took := times(t, simulate(t, dir, "tree", 256, 8, "cyclic", "time", "bcast", tc.bytes, tc.before, tc.now))
			if took[tc.before] < 1.25*took[tc.now] {
				t.Errorf("%s bytes: %s takes %.1f us, %s %.1f: want at least 1.25 times as fast", tc.bytes, tc.before, took[tc.before], tc.now, took[tc.now])
			}
		}
	})
	t.Run("composed allreduces", func(t *testing.T) { // an allgather or an alltoall by the table serves a part of each
		table := filepath.Join(t.TempDir(), "table")
		testutil.NoError(t, os.WriteFile(table, []byte(sealTable("tutti-table 1\nallgather ranks 1-99 ppn 1-9 bytes 0-99999 recursive_doubling\n")), 0o666))
		composed := []string{"allgather", "halving_allgather", "alltoall_allgather"}
		without := times(t, simulate(t, dir, "star", 32, 1, "block", "time", append([]string{"allreduce", "65536"}, composed...)...))
		t.Setenv("TABLE", table)
		with := times(t, simulate(t, dir, "star", 32, 1, "block", "time", append([]string{"allreduce", "65536"}, composed...)...))
		for _, name := range composed {
			if without[name] == 0 || with[name] == 0 || with[name] == without[name] {
				t.Errorf("%s takes %.0f us, with the table's allgather %.0f: want two different times", name, without[name], with[name])
			}
		}
	})
	t.Run("monitors", func(t *testing.T) { // each way announces changes to all ranks; a tree costs less than one rank that writes to all
		table := filepath.Join(t.TempDir(), "table")
		testutil.NoError(t, os.WriteFile(table, []byte(sealTable("tutti-table 1\nallgather ranks 1-99 ppn 1-9 bytes 0-999 bruck\n")), 0o666))
		t.Setenv("TABLE", table)
		took := map[string]float64{}
		for line := range strings.Lines(simulate(t, dir, "tree", 32, 1, "block", "monitors", "8", "200", "20", "none", "tags", "allreduce:20", "rma:5:0", "rma:5:4")) {
			word := strings.Split(strings.TrimSpace(line), ",")
			if len(word) != 6 || word[2] != "none" && word[5] != "1" {
				t.Fatalf("%q: want ranks, bytes, monitor, two times and one announcement", line)
			}
			us := testutil.Must(strconv.ParseFloat(word[4], 64))(t)
			took[word[2]] = us
		}
		if took["rma:5:4"] > took["rma:5:0"] || took["rma:5:4"] > took["allreduce:20"] || took["tags"] > took["rma:5:4"] {
			t.Errorf("%v: want tags, a tree, and then all others", took)
		}
	})
	t.Run("alltoall", func(t *testing.T) {
		took := times(t, simulate(t, dir, "star", 32, 1, "block", "time", "alltoall", "131072", "pairwise", "scheduled"))
		if took["pairwise"] < 1.35*took["scheduled"] {
			t.Errorf("pairwise takes %.0f us, scheduled %.0f: want at least 1.35 times as fast", took["pairwise"], took["scheduled"])
		}
	})
}
