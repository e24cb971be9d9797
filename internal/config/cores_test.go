package config

import "testing"

func TestLocalPPN(t *testing.T) {
	for cores, want := range map[int]string{1: "[2]", 2: "[2]", 3: "[2, 3]", 4: "[2, 4]", 6: "[2, 4, 6]", 64: "[2, 4, 8, 64]"} {
		if got := localPPN(cores); got != want {
			t.Errorf("on %d cores %s, want %s", cores, got, want)
		}
	}
}
