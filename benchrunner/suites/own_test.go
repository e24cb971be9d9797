package suites

import (
	"slices"
	"strings"
	"testing"

	"tutti/coll"
	"tutti/internal/testutil"
)

func ownProgram(t testing.TB, pattern string) *Program {
	return testutil.Must(NewOwn(OwnOptions{Path: "/opt/timer", Args: "--call MPI_{collective} -m {bytes} -n {bytes}:{ranks}:{iterations}", Pattern: pattern}))(t)
}

// TestOwnCommand checks that placeholders in arguments are replaced, and that no shell interprets arguments.
func TestOwnCommand(t *testing.T) {
	p := ownProgram(t, `(?P<s>\S+)`)
	s := launchOf(coll.Bcast, 2, 3, "ring", 8)
	command := testutil.Must(p.Command(s))(t)
	want := []string{"/opt/timer", "--call", "MPI_bcast", "-m", "8", "-n", "8:6:1000"}
	if n := len(command.Args); n < len(want) || !slices.Equal(command.Args[n-len(want):], want) {
		t.Errorf("command %q, want it to end with %q", command.Args, want)
	}
	if groups := p.Group(launchOf(coll.Bcast, 2, 3, "ring", 8, 16).Cases); len(groups) != 2 {
		t.Errorf("%d launches for two sizes, want 2", len(groups))
	}
}

func TestOwnRead(t *testing.T) {
	s := launchOf(coll.Bcast, 2, 1, "ring", 8)
	lines := "bcast 8 B 2 ranks: 3.5 us\nbcast 16 B 2 ranks: 99 us\nbcast 8 B 2 ranks: 2.5 us\nbcast 8 B 2 ranks: 4.5 us\n"
	checkRead(t, ownProgram(t, `^bcast (?P<bytes>\d+) B (?P<ranks>\d+) ranks: (?P<us>\S+) us$`), s, []readTest{
		{"median", lines, twoHosts, ended, []string{"done 3 calls 3.5e-06"}},
		{"nothing", "bcast: 5 us\n", twoHosts, ended, []string{"failed parse the program ended well but printed nothing for 8B"}},
		{"other world", strings.ReplaceAll(lines, "2 ranks", "3 ranks"), twoHosts, ended, []string{"failed launch a world of 3 ranks, want 2"}},
		{"one node", lines, hosts("n1", "n1"), ended, []string{"failed launch"}},
		{"no number", "bcast 8 B 2 ranks: nan us\nbcast 8 B 2 ranks: 0.5x us\n", twoHosts, ended, []string{"failed parse"}},
		{"crash", lines, twoHosts + "assert\n", crashed(9), []string{"failed run exit code 9: assert"}},
	})
}
