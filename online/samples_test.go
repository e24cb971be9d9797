package online

import (
	"strings"
	"testing"
)

const whole = `# tutti-samples 1 MPI 1.0
collective,nodes,ppn,msg_bytes,algorithm,longest,shortest
allreduce,2,4,16,ring,2e-05,1e-05
bcast,2,4,100,"mpich.x(a=1,b=2)",4e-05,1e-06
barrier,1,2,0,library_default,3e-06,3e-06
`

// samples holds the faults that a call of readSamples returned, and the samples that it passed on.
type samples struct {
	calls  []Sample
	faults []string
}

func readText(text string) (s samples, err error) {
	s.faults, err = readSamples(strings.NewReader(text), func(c Sample) { s.calls = append(s.calls, c) }, func(Job) {})
	return s, err
}

func TestReadSamples(t *testing.T) {
	s, err := readText(whole)
	if err != nil || len(s.faults) != 0 || len(s.calls) != 3 {
		t.Fatalf("%+v, %v", s, err)
	}
	if c := s.calls[1]; c.Algorithm.String() != "mpich.x(a=1,b=2)" || c.MsgBytes != 100 || c.Longest != 4e-5 || c.Shortest != 1e-6 {
		t.Errorf("%+v", c)
	}
	// Ranks of an allreduce leave together, while ranks of a broadcast do not.
	if a, b := s.calls[0].Seconds(), s.calls[1].Seconds(); a != 1e-5 || b != 4e-5 {
		t.Errorf("allreduce %g s, want the shortest; bcast %g s, want the longest", a, b)
	}
}

// TestReadSamplesCutOff checks that a file can be read wherever it ends. An incomplete line must be a
// fault.
func TestReadSamplesCutOff(t *testing.T) {
	head := strings.Index(whole, "allreduce")
	for n := range len(whole) {
		s, err := readText(whole[:n])
		if err != nil {
			t.Fatalf("cut off after %d bytes: %v", n, err)
		}
		torn := n > 0 && whole[n-1] != '\n'
		want := 0
		if n > head {
			want = strings.Count(whole[head:n], "\n")
		}
		if len(s.calls) != want || (len(s.faults) == 1) != torn {
			t.Errorf("cut off after %d bytes: %d calls, want %d; %q", n, len(s.calls), want, s.faults)
		}
	}
}

func TestReadSamplesFaults(t *testing.T) {
	for from, to := range map[string]string{
		"allreduce": "allreduced", "2,4,16": "0,4,16", "4,16": "0,16", ",16,": ",-1,", "2e-05,1e-05": "1e-05,2e-05", "05,1e-05\n": "05,0\n",
		"2e-05": "NaN", "2e-05,": "+Inf,", "ring,2e-05,1e-05": "ring,2e-05", "ring": "ring(", "ring,2e": "\"ring,2e", "1e-05\n": "1e-05bcast,1\n",
	} {
		s, err := readText(strings.Replace(whole, from, to, 1))
		if err != nil || len(s.calls) != 2 || len(s.faults) != 1 || !strings.HasPrefix(s.faults[0], "line 3: ") {
			t.Errorf("%q for %q: %d calls, faults %q, %v", to, from, len(s.calls), s.faults, err)
		}
	}
	for _, text := range []string{"collective,nodes\n", "# tutti-samples 2 x\n", "# tutti-samples 1 x\ncollective\n"} {
		if _, err := readText(text); err == nil {
			t.Errorf("%q is no error", text)
		}
	}
}

func FuzzReadSamples(f *testing.F) {
	f.Add(whole)
	f.Add(whole[:200])
	f.Fuzz(func(t *testing.T, text string) {
		s, err := readText(text)
		if err == nil && len(s.calls)+len(s.faults) > strings.Count(text, "\n")+1 {
			t.Errorf("%d calls and %d faults of %q", len(s.calls), len(s.faults), text)
		}
		for _, c := range s.calls {
			if !(c.Seconds() > 0) || c.Seconds() > c.Longest {
				t.Errorf("%+v", c)
			}
		}
	})
}
