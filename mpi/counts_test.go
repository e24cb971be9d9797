package mpi_test

import (
	"testing"

	"tutti/coll"
	"tutti/mpi"
	"tutti/selection"
)

func TestBetween(t *testing.T) {
	for name, want := range map[string]bool{
		"ring": true, "mpich.ring": true, "user.mine": false, "recursive_doubling": false, "mpich.pairwise": false, "alpha": false,
	} {
		if got := mpi.Between(coll.Algorithm{Name: name}, selection.Gap{}); got != want {
			t.Errorf("%s: %t, want %t", name, got, want)
		}
	}
}
