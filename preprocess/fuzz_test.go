package preprocess

import (
	"bytes"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"tutti/coll"
	"tutti/internal/testutil"
)

func FuzzReadTable(f *testing.F) {
	sample := testutil.Must(os.ReadFile("testdata/bcast.csv"))(f)
	f.Add(sample)
	f.Add([]byte("collective,algorithm,nodes,ppn,msg_bytes,time_us,cost_s,note\nbcast,\"a(k=2)\",1,1,0,1e-3,,\"x\ny\"\n"))
	f.Add([]byte("\ufeffcollective,algorithm,nodes,ppn,msg_bytes,time_us\r\nbarrier,a,1,1,1,0x1p-2\r\nbcast,a,1,1,1,inf"))
	f.Fuzz(func(t *testing.T, text []byte) {
		table, err := readTable(bytes.NewReader(text), "in.csv")
		if err != nil {
			return
		}
		ms := table.Measurements()
		if len(ms) == 0 {
			t.Fatal("no rows and no error")
		}
		for i, m := range ms {
			if err := m.Validate(); err != nil {
				t.Error(err)
			}
			if i > 0 && coll.CompareCandidates(ms[i-1].Candidate, m.Candidate) >= 0 {
				t.Errorf("%v is not before %v", ms[i-1].Candidate, m.Candidate)
			}
		}
		var first, second bytes.Buffer
		testutil.NoError(t, WriteTable(&first, ms))
		again := testutil.Must(readTable(bytes.NewReader(first.Bytes()), "out.csv"))(t)
		if err := WriteTable(&second, again.Measurements()); err != nil || first.String() != second.String() {
			t.Errorf("written again: error %v\n%s%s", err, &first, &second)
		}
	})
}

func FuzzReadNames(f *testing.F) {
	sample := testutil.Must(os.ReadFile("testdata/names.csv"))(f)
	f.Add(string(sample))
	f.Add("collective,recorded,library,algorithm\nbcast,a,l,\n")
	f.Fuzz(func(t *testing.T, text string) {
		names, err := readNames(strings.NewReader(text), "in.csv")
		if err != nil {
			return
		}
		for key, algorithm := range names.algorithms {
			m := coll.Measurement{Candidate: coll.Candidate{Point: coll.Point{Collective: key.collective}, Algorithm: key.recorded}}
			if out := names.Translate([]coll.Measurement{m}, key.library); len(out) != 1 || out[0].Algorithm != algorithm {
				t.Errorf("%v translates to %v", key, out)
			}
		}
	})
}

func FuzzReadDefaults(f *testing.F) {
	sample := testutil.Must(os.ReadFile("testdata/defaults.csv"))(f)
	f.Add(string(sample))
	f.Fuzz(func(t *testing.T, text string) {
		defaults, err := readDefaults(strings.NewReader(text), "in.csv")
		if err == nil && (len(defaults.Machines()) == 0 || len(defaults.Libraries()) == 0) {
			t.Error("no machine or library and no error")
		}
	})
}

func FuzzReadTrace(f *testing.F) {
	f.Add("collective,nodes,ppn,msg_bytes,calls\nbcast,4,2,8,100\nbarrier,4,2,8,1e3\n")
	f.Add("collective,processes,ppn,msg_bytes,calls,seconds\nallreduce,48,32,1024,7,0.5\nallreduce,48,32,1024,1,0\n")
	f.Add("# ranks=4,run_seconds=1,collective_seconds=0.5\ncollective,nodes,ppn,msg_bytes,calls\nbcast,4,2,8,100\n")
	f.Add("\ufeffcollective, nodes,ppn,msg_bytes,calls\r\nbcast,1,1,0,1e308\r\nbcast,1,1,0,1e308")
	f.Fuzz(func(t *testing.T, text string) {
		read, err := readTrace(strings.NewReader(text), "in.csv")
		if err != nil {
			return
		}
		if share := read.CollectiveShare(); !(share >= 0 && share <= 1) {
			t.Errorf("share of collectives %g", share)
		}
		trace := read.Calls
		if len(trace) == 0 {
			t.Fatal("no calls and no error")
		}
		for i, c := range trace {
			if !(c.Calls >= 0) || !(c.Seconds >= 0) || c.Nodes < 1 || c.PPN < 1 || c.MsgBytes < 0 {
				t.Errorf("%+v", c)
			}
			if i > 0 && coll.ComparePoints(trace[i-1].Point, c.Point) >= 0 {
				t.Errorf("%v is not before %v", trace[i-1].Point, c.Point)
			}
		}
		points := []coll.Point{
			{Collective: trace[0].Collective, Nodes: 2, PPN: 1, MsgBytes: 8},
			{Collective: trace[0].Collective, Nodes: 64, PPN: 32, MsgBytes: 1 << 20},
		}
		weights, far, ok := CallWeights(points, trace)
		if !ok {
			return
		}
		if sum := weights[0] + weights[1]; !(sum > 2-1e-9 && sum < 2+1e-9) || !(far >= 0 && far <= 1+1e-9) {
			t.Errorf("weights %v, far %g: want a sum of 2 and a share", weights, far)
		}
	})
}

func TestMicros(t *testing.T) {
	tests := []struct {
		text    string
		seconds float64
		want    string // empty: the same text
	}{
		{"0.4211", 0.4211e-6, ""},
		{"12.5", 12.5e-6, ""},
		{"1", 1e-6, ""},
		{"1500000", 1.5, ""},
		{"0.0001", 1e-10, ""},
		{"0", 0, ""},
		{"1E3", 1e-3, "1000"},
		{"+2.50", 2.5e-6, "2.5"},
		{"1e12", 1e6, "1000000000000"},
		{"7,25", 7.25e-6, "7.25"},
	}
	for _, tc := range tests {
		got, err := parseMicros(tc.text)
		if err != nil || got != tc.seconds {
			t.Errorf("parseMicros(%q) = %g, %v, want %g", tc.text, got, err, tc.seconds)
		}
		want := tc.want
		if want == "" {
			want = tc.text
		}
		if got := formatMicros(tc.seconds); got != want {
			t.Errorf("formatMicros(%g) = %q, want %q", tc.seconds, got, want)
		}
	}
	for _, bad := range []string{"", "1us", "12.3ms", "1,500", "1e", "e5", "--1", "0x1p-2", "1_0", "inf", "NaN"} {
		if got, err := parseMicros(bad); err == nil {
			t.Errorf("parseMicros(%q) = %g, want an error", bad, got)
		}
	}
}

func TestMicrosRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 2))
	for range 100_000 {
		seconds := math.Float64frombits(rng.Uint64() >> 1) // any positive number
		if math.IsInf(seconds, 0) || math.IsNaN(seconds) || seconds > 1e300 {
			continue
		}
		text := formatMicros(seconds)
		if got, err := parseMicros(text); err != nil || got != seconds {
			t.Fatalf("%g s is written %q and read %g, %v", seconds, text, got, err)
		}
	}
}

func TestLongCells(t *testing.T) {
	long := strings.Repeat("ä", 10_000)
	text := "collective,algorithm,nodes,ppn,msg_bytes,time_us\n" +
		long + ",a,1,1,1,1\nbcast," + long + ",1,1,1,1\nbcast,a," + long + ",1,1,1\nbcast,a,1,1,1,1\n"
	table := testutil.Must(readTable(strings.NewReader(text), "in.csv"))(t)
	for _, w := range table.Warnings {
		if len(w.String()) > 500 {
			t.Errorf("warning of %d bytes", len(w.String()))
		}
	}
}
