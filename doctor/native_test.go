package doctor

import (
	"testing"

	"tutti/csource"
)

func TestNative(t *testing.T) {
	version := "tutti-native 1 " + csource.Bench.Checksum()
	const result = `echo '{"event":"hello","ranks":2}'; echo '{"event":"result","case":1,"median":1e-06}'; echo '{"event":"end"}'`
	tests := []struct {
		name, version, runs string
		state               State
		details, fix        string
	}{
		{"measures", "echo " + version, result, OK, "measures a broadcast", ""},
		{"built by another", "echo tutti-native 1 0123", result, Missing, "built by another version of tutti", "tutti build benchmark --mpicc mpicc.mpich -o "},
		{"somebody else's", "echo hello", result, Missing, "is not tutti's benchmark program: hello", "tutti build benchmark"},
		{"silent", "exit 1", result, Missing, "exit status 1", "tutti build benchmark"},
		{"hangs when asked", hang, result, Missing, "is not tutti's benchmark program", "tutti build benchmark"},
		{"refuses", "echo " + version, `echo '{"event":"error","why":"a world of one rank instead of 2"}'; exit 3`, Missing, "error a world of one rank", "tutti build benchmark"},
		{"measures nothing", "echo " + version, `echo '{"event":"result","median":0}'`, Missing, "measures nothing", "tutti build benchmark"},
		{"cut off", "echo " + version, `printf '{"event":"resu'`, Missing, "measures nothing", "tutti build benchmark"},
		{"hangs", "echo " + version, hang, Missing, "no end within", "tutti build benchmark"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t)
			m.compiler("mpicc.mpich", mpichMark)
			m.launcher("mpiexec.hydra", hydra, "case $3 in */tutti-native) ;; *) "+goodWorld+"; exit;; esac\n"+tc.runs)
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
}
