package preprocess

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"tutti/coll"
)

func FuzzReadTable(f *testing.F) {
	sample, err := os.ReadFile("testdata/bcast.csv")
	if err != nil {
		f.Fatal(err)
	}
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
		if frame := table.Frame(); frame.Err != nil || frame.Nrow() != len(ms) {
			t.Errorf("frame of %d rows, error %v, want %d", frame.Nrow(), frame.Err, len(ms))
		}
		var first, second bytes.Buffer
		if err := WriteTable(&first, ms); err != nil {
			t.Fatal(err)
		}
		again, err := readTable(bytes.NewReader(first.Bytes()), "out.csv")
		if err != nil {
			t.Fatal(err)
		}
		if err := WriteTable(&second, again.Measurements()); err != nil || first.String() != second.String() {
			t.Errorf("written again: error %v\n%s%s", err, &first, &second)
		}
	})
}

func FuzzReadNames(f *testing.F) {
	sample, err := os.ReadFile("testdata/names.csv")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(sample))
	f.Add("collective,recorded,library,algorithm\nbcast,a,l,\n")
	f.Fuzz(func(t *testing.T, text string) {
		names, err := readNames(strings.NewReader(text), "in.csv")
		if err != nil {
			return
		}
		for key, algorithm := range names.algorithms {
			m := coll.Measurement{Candidate: coll.Candidate{Point: coll.Point{Collective: key.collective}, Algorithm: key.recorded}}
			out, dropped := names.Translate([]coll.Measurement{m}, key.library)
			if len(out) != 1 || dropped != 0 || out[0].Algorithm != algorithm {
				t.Errorf("%v translates to %v, %d dropped", key, out, dropped)
			}
		}
	})
}

func FuzzReadDefaults(f *testing.F) {
	sample, err := os.ReadFile("testdata/defaults.csv")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(sample))
	f.Fuzz(func(t *testing.T, text string) {
		defaults, err := readDefaults(strings.NewReader(text), "in.csv")
		if err == nil && (len(defaults.Machines()) == 0 || len(defaults.Libraries()) == 0) {
			t.Error("no machine or library and no error")
		}
	})
}
