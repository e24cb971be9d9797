package libraries_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/coll"
	"tutti/mpi"
	"tutti/mpi/libraries"
)

func TestAll(t *testing.T) {
	want := []string{
		"mpich 4.0.2 4.1.2 4.2.3 4.3.2 5.0.1, measurable",
		"openmpi 4.1.4 5.0.9 6.0.x, measurable",
		"intel 2019",
		"mvapich2 2.3",
	}
	var got []string
	for _, l := range libraries.All() {
		name := l.Facts().Name
		text := name
		for _, cat := range l.Releases() {
			text += " " + cat.Version
		}
		if _, ok := l.(mpi.Measurable); ok {
			text += ", measurable"
		}
		if named, ok := libraries.Named(name); !ok || named != l {
			t.Errorf("Named(%s) = %v, %t", name, named, ok)
		}
		got = append(got, text)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if l, ok := libraries.Named("intelmpi"); ok {
		t.Errorf("Named(intelmpi) = %v", l)
	}
}

func TestRelease(t *testing.T) {
	_, _, err := libraries.Release("mpich", "4.0.3")
	if !errors.Is(err, mpi.ErrUnknown) {
		t.Fatalf("error = %v, want one matching ErrUnknown", err)
	}
	for _, want := range []string{"mpich 4.0.3", "mpich 4.0.2", "openmpi 4.1.4", "mvapich2 2.3"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error = %q, want it to name %s", err, want)
		}
	}
}

// A release that is not in the tables can do what the nearest one of its series can.
func TestNear(t *testing.T) {
	for _, text := range []string{"mpich 4.2.1", "mpich 4.0.2", "openmpi 5.0.3", "openmpi 6.0.0", "intel 2019", "mvapich2 2.3.7"} {
		name, version, _ := strings.Cut(text, " ")
		_, cat, err := libraries.Near(name, version)
		if err != nil || cat.Library != name || cat.Version != version || len(cat.Entries(coll.Bcast)) == 0 {
			t.Errorf("Near(%s) = %v, %v", text, cat, err)
		}
	}
	if _, known, err := libraries.Release("openmpi", "5.0.9"); err != nil || known.Version != "5.0.9" {
		t.Errorf("the catalogue itself was changed: %v, %v", known, err)
	}
	for text, want := range map[string]string{
		"mpich 3.4":     "nothing is known of mpich 3.4: want a release like 4.0.2, 4.1.2",
		"openmpi 7.0.0": "nothing is known of openmpi 7.0.0",
		"intel 2018":    "want a release like 2019",
		"other 1.0":     "want one of mpich 4.0.2",
	} {
		name, version, _ := strings.Cut(text, " ")
		if _, _, err := libraries.Near(name, version); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Near(%s): error %v, want one with %q", text, err, want)
		}
	}
}

func ExampleRelease() {
	lib, cat, err := libraries.Release("openmpi", "4.1.4")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(lib.Facts().Title, cat.Version)
	for _, e := range cat.Entries(coll.Gather) {
		fmt.Println(e.ID, e.Name, e.Params)
	}
	// Output:
	// Open MPI 4.1.4
	// 1 basic_linear []
	// 2 binomial []
	// 3 linear_sync [segsize]
}
