package suites

import (
	"slices"
	"strings"
	"testing"
	"time"

	"tutti/benchrunner"
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
	for text, want := range map[string]string{
		"time 7,25": `the pattern takes "7" out of "7,25"`, "time 1e-3": `the pattern takes "1" out of "1e-3"`, "time 1_0 us": `the pattern takes "1" out of "1_0 us"`,
		"time 0x1p3": `the pattern takes "0" out of "0x1p3"`, "time 7.25, 8": "", "time 7.25,8": "", "time 7, 8 more": "",
	} {
		r := ownProgram(t, `^time (?P<us>[0-9.]+)`).Read(s, benchrunner.Output{Stdout: []byte(text + "\n"), Stderr: []byte(twoHosts), Ended: true})
		if o := r.Outcomes[0]; !strings.HasPrefix(o.Error, want) || (o.State == benchrunner.OutcomeDone) != (want == "") {
			t.Errorf("%q: %+v, want %q", text, o, want)
		}
	}
	for text, want := range map[string]string{
		"8 B -2.5 us": `the pattern takes "2.5" out of "-2.5`, "-8 B 2.5 us": `the pattern takes "8" out of "-8`, "x-8 B 2.5 us": "", "8 B t=-2.5 us": `the pattern takes "2.5" out of "-2.5`,
		"size=8 B 2.5 us": "", "18 B 2.5 us": "the program ended well but printed nothing",
	} {
		r := ownProgram(t, `(?P<bytes>\d+) B .*?(?P<us>[0-9.]+) us`).Read(s, benchrunner.Output{Stdout: []byte(text + "\n"), Stderr: []byte(twoHosts), Ended: true})
		if o := r.Outcomes[0]; !strings.HasPrefix(o.Error, want) || (o.State == benchrunner.OutcomeDone) != (want == "") {
			t.Errorf("%q: %+v, want %q", text, o, want)
		}
	}
	lines := "bcast 8 B 2 ranks: 3.5 us\nbcast 16 B 2 ranks: 99 us\nbcast 8 B 2 ranks: 2.5 us\nbcast 8 B 2 ranks: 4.5 us\n"
	checkRead(t, ownProgram(t, `^bcast (?P<bytes>\d+) B (?P<ranks>\d+) ranks: (?P<us>\S+) us$`), s, []readTest{
		{"median", lines, twoHosts, ended, []string{"done 3 calls 3.5e-06"}},
		{"nothing", "bcast: 5 us\n", twoHosts, ended, []string{"failed parse the program ended well but printed nothing for 8B"}},
		{"other world", strings.ReplaceAll(lines, "2 ranks", "3 ranks"), twoHosts, ended, []string{"failed launch a world of 3 ranks, want 2"}},
		{"one node", lines, hosts("n1", "n1"), ended, []string{"failed launch"}},
		{"two worlds", lines + "bcast 8 B 3 ranks: 9 us\n", twoHosts, ended, []string{"failed parse lines of 2 and 3 ranks: want one number"}},
		{"no number", "bcast 8 B 2 ranks: nan us\nbcast 8 B 2 ranks: 0.5x us\n", twoHosts, ended, []string{"failed parse 2 lines with a time, among them \"nan\""}},
		{"nine nan and one number", strings.Repeat("bcast 8 B 2 ranks: nan us\n", 9) + "bcast 8 B 2 ranks: 2.5 us\n", twoHosts, ended,
			[]string{"failed parse 10 lines with a time, among them \"nan\""}},
		{"title", "bcast 8 B 2 ranks: time us\n" + lines, twoHosts, ended, []string{"done 3 calls 3.5e-06"}},
		{"a word after a time", lines + "bcast 8 B 2 ranks: N/A us\n", twoHosts, ended, []string{"failed parse 4 lines with a time, among them \"N/A\": want a decimal number"}},
		{"nine words and one number", strings.Repeat("bcast 8 B 2 ranks: -- us\n", 9) + "bcast 8 B 2 ranks: 2.5 us\n", twoHosts, ended,
			[]string{"failed parse 9 lines with a time, among them \"--\""}},
		{"decimal comma", strings.ReplaceAll(lines, ".", ","), twoHosts, ended, []string{"done 3 calls 3.5e-06"}},
		{"thousands", "bcast 8 B 2 ranks: 1,234.5 us\n", twoHosts, ended, []string{"failed parse 1 lines with a time, among them \"1,234.5\": a number with thousands"}},
		{"thousands or decimals", "bcast 8 B 2 ranks: 1,234 us\n", twoHosts, ended, []string{"failed parse 1 lines with a time, among them \"1,234\": the comma may"}},
		{"hexadecimal", "bcast 8 B 2 ranks: 0x1p3 us\n", twoHosts, ended, []string{"failed parse 1 lines"}},
		{"underscore", "bcast 8 B 2 ranks: 1_0 us\n", twoHosts, ended, []string{"failed parse 1 lines"}},
		{"negative", "bcast 8 B 2 ranks: -2.5 us\n" + lines, twoHosts, ended, []string{"failed parse 4 lines with a time, among them \"-2.5\": want a time above 0"}},
		{"zero", "bcast 8 B 2 ranks: 0 us\n" + lines, twoHosts, ended, []string{"failed parse 4 lines with a time, among them \"0\": want a time above 0"}},
		{"too short", "bcast 8 B 2 ranks: 1e-300 us\n", twoHosts, ended, []string{"failed parse 1 calls of 1e-306 s: a time of"}},
		{"too long", "bcast 8 B 2 ranks: 1e300 us\n", twoHosts, ended, []string{"failed parse 1 calls of 1e+294 s: a time of"}},
		{"longer than the launch", "bcast 8 B 2 ranks: 9e6 us\n", twoHosts, benchrunner.Output{Ended: true, Wall: 3 * time.Second},
			[]string{"failed parse 1 calls of 9 s: 4.5 s of measuring in a launch of 3 s"}},
		{"output cut", lines, twoHosts, benchrunner.Output{Ended: true, StdoutCut: true}, []string{"failed parse the program printed so much that times of calls may be missing"}},
		{"crash", lines, twoHosts + "assert\n", crashed(9), []string{"failed run exit code 9: assert"}},
	})
}
