package csource_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/coll"
	"tutti/internal/testutil"
)

// TestCollectives checks that the lists of collectives in C and in Go have the same names, in the same order, with
// the same properties.
func TestCollectives(t *testing.T) {
	header := testutil.Must(os.ReadFile("collectives/collectives.h"))(t)
	var got, want []string
	for _, entry := range regexp.MustCompile(`X\((\w+), (\w+), (\w+), (\w+), ([^,]*),`).FindAllSubmatch(header, -1) {
		number, function, name, counts, properties := string(entry[1]), string(entry[2]), string(entry[3]), string(entry[4]), string(entry[5])
		if number == "number" {
			continue // the comment
		}
		if strings.ToLower(number) != name || strings.ToLower(function) != name {
			t.Errorf("%s and %s stand for %s", number, function, name)
		}
		if strings.Contains(properties, "OVERLAPS") {
			got = append(got, "i"+name)
		}
		reduces := strings.Contains(properties, "REDUCES")
		got = append(got, line(name, counts == "COUNTED", reduces, strings.Contains(properties, "BLOCKS_") && !reduces,
			strings.Contains(properties, "SYNCHRONIZES"), strings.Contains(properties, "SIZES_DIFFER")))
	}
	slices.Sort(got)
	for _, c := range coll.Collectives() {
		if c.Nonblocking() {
			want = append(want, string(c))
			continue
		}
		want = append(want, line(string(c), c.Sized(), c.Reduces(), c.PerRank(), c.Synchronizes(), c.SizesDiffer()))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the list in C differs from coll.Collectives (-Go +C):\n%s", diff)
	}
}

func line(name string, sized, reduces, perRank, synchronizes, sizesDiffer bool) string {
	for _, p := range []struct {
		holds bool
		name  string
	}{{sized, "sized"}, {reduces, "reduces"}, {perRank, "per rank"}, {synchronizes, "synchronizes"}, {sizesDiffer, "sizes differ"}} {
		if p.holds {
			name += " " + p.name
		}
	}
	return name
}
