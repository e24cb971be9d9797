package doctor

import (
	"strings"
	"testing"

	"tutti/csource"
	"tutti/internal/config"
)

func TestNative(t *testing.T) {
	version := "tutti-native 1 " + csource.Bench.Checksum()
	tests := []struct {
		name, version, runs string
		state               State
		details, fix        string
	}{
		{"measures", "echo " + version, measured, OK, "measures a broadcast", ""},
		{"built by another", "echo tutti-native 1 0123", measured, Missing, "built by another version of tutti", "tutti build benchmark --mpicc mpicc.mpich -o "},
		{"somebody else's", "echo hello", measured, Missing, "is not tutti's benchmark program: hello", "tutti build benchmark"},
		{"silent", "exit 1", measured, Missing, "exit status 1", "tutti build benchmark"},
		{"hangs when asked", hang, measured, Missing, "is not tutti's benchmark program", "tutti build benchmark"},
		{"refuses", "echo " + version, `echo '{"event":"error","why":"a world of one rank instead of 2"}'; exit 3`, Missing, "measures nothing: a world of one rank", "tutti build benchmark"},
		{"measures nothing", "echo " + version, strings.Replace(measured, `"median":1e-06`, `"median":0`, 1), Missing, "measures nothing: a time of 0 s", "tutti build benchmark"},
		{"cut off", "echo " + version, `printf '{"event":"resu'`, Missing, "measures nothing", "tutti build benchmark"},
		{"hangs", "echo " + version, hang, Missing, "no end within", "tutti build benchmark"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t)
			m.compiler("mpicc.mpich", mpichMark)
			m.launcher("mpiexec.hydra", hydra, `case "$*" in */tutti-native|*"/tutti-native "*) ;; *) `+goodWorld+"; exit;; esac\n"+tc.runs)
			m.put("tutti-native", tc.version)
			r := m.examine()
			wantCheck(t, m.find(r, Programs, nativeTitle), tc.state, tc.details, tc.fix)
			if r.Ready() != (tc.state == OK) {
				t.Errorf("ready %v", r.Ready())
			}
		})
	}
}

func TestNativeIsNotBuilt(t *testing.T) {
	m := newMachine(t)
	m.compiler("mpicc.mpich", mpichMark)
	m.launcher("mpiexec.hydra", hydra, goodWorld)
	r := m.examine()
	const fix = "tutti build benchmark --mpicc mpicc.mpich -o tutti-native-mpich"
	wantCheck(t, m.find(r, Programs, nativeTitle), Missing, "MPICH 4.0.2: not built yet", fix)
	if len(r.MissingParts) != 1 || r.MissingParts[0].Fix != fix {
		t.Errorf("lacks %v, want the program and how to build it", r.MissingParts)
	}
	own := session{options: Options{Campaign: &config.Campaign{Libraries: []config.Library{{Name: "ucc"}}}}}
	if x := &own; x.inCampaign(&Library{Family: "mpich"}) || !x.inCampaign(&Library{Family: "openmpi"}) {
		t.Error("a campaign of UCC is to use programs of Open MPI alone")
	}
}
