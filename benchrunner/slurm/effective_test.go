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
}

// TestEffectiveOf reads lines of scontrol of several releases of Slurm.
func TestEffectiveOf(t *testing.T) {
	tests := []struct {
		name, line string
		want       int
	}{
		{"22.05", "NodeName=n2 Arch=x86_64 CoresPerSocket=4 CPUAlloc=0 CPUEfctv=6 CPUTot=8 CPULoad=0.1 CoreSpecCount=1 ThreadsPerCore=2", 6},
		{"20.11, nothing specialised", "NodeName=n2 Arch=x86_64 CPUAlloc=0 CPUTot=8 CPULoad=0.1 ThreadsPerCore=2", 8},
		{"20.11, cores", "NodeName=n2 CPUAlloc=0 CPUTot=8 ThreadsPerCore=2 CoreSpecCount=1 CPUSpecList=6-7", 6},
		{"20.11, CPUs", "NodeName=n2 CPUAlloc=0 CPUTot=128 ThreadsPerCore=2 CPUSpecList=0-1,64-65", 124},
		{"a comment", "NodeName=n2 CPUTot=8 CPUEfctv=7 Comment=set CPUEfctv=1 by hand", 7},
		{"no numbers", "NodeName=n2 Arch=x86_64", 0},
	}
	for _, tc := range tests {
		if name, n := effectiveOf(tc.line); name != "n2" || n != tc.want {
			t.Errorf("%s: %d CPUs of %s, want %d of n2", tc.name, n, name, tc.want)
		}
	}
}
