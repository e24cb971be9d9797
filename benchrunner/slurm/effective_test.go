package slurm

import "testing"

// TestKeep checks how many cores of a node jobs get if some of its CPUs are specialised for the system.
func TestKeep(t *testing.T) {
	tests := []struct{ cpus, cores, effective, want int }{
		{8, 4, 6, 3},    // two threads of a core, one core specialised
		{8, 4, 0, 4},    // unknown
		{8, 4, 8, 4},    // none
		{8, 8, 7, 7},    // one thread of a core
		{128, 64, 1, 1}, // at least one
	}
	for _, tc := range tests {
		n := node{cpus: tc.cpus, cores: tc.cores}
		if n.keep(tc.effective); n.cores != tc.want {
			t.Errorf("%d CPUs, %d cores, %d effective: %d cores, want %d", tc.cpus, tc.cores, tc.effective, n.cores, tc.want)
		}
	}
	const text = "NodeName=n1 Arch=x86_64 CoresPerSocket=4 \n   CPUAlloc=0\nNodeName=n2 Arch=x86_64 CPUAlloc=0 CPUEfctv=6 CPUTot=8 CPULoad=0.1\n"
	if m := effectiveForm.FindAllStringSubmatch(text, -1); len(m) != 1 || m[0][1] != "n2" || m[0][2] != "6" {
		t.Errorf("CPUEfctv = %v, want 6 of n2", m)
	}
}
