package mpi_test

import (
	"fmt"
	"slices"
	"testing"

	"tutti/mpi"
)

func TestReleaseNumbers(t *testing.T) {
	tests := []struct {
		release string
		want    []int
	}{
		{"4.0.2", []int{4, 0, 2}},
		{"4.2.0rc1", []int{4, 2, 0}},
		{"6.0.x", []int{6, 0}},
		{"3.4a2", []int{3, 4}},
		{"2019", []int{2019}},
		{"99999999999999999999.1", nil},
		{"newest", nil},
		{"", nil},
	}
	for _, tc := range tests {
		if got := mpi.ReleaseNumbers(tc.release); !slices.Equal(got, tc.want) {
			t.Errorf("ReleaseNumbers(%q) = %v, want %v", tc.release, got, tc.want)
		}
	}
}

func ExampleSameRelease() {
	for _, names := range [][2]string{{"6.0.0rc2", "6.0.0"}, {"6.0.x", "6.0.0rc2"}, {"4.2.1", "4.2.3"}, {"4", "4.2"}, {"2019", "2019"}} {
		fmt.Println(names[0], names[1], mpi.SameRelease(names[0], names[1]))
	}
	// Output:
	// 6.0.0rc2 6.0.0 true
	// 6.0.x 6.0.0rc2 true
	// 4.2.1 4.2.3 false
	// 4 4.2 false
	// 2019 2019 true
}

func ExampleAtLeast() {
	for _, release := range []string{"4.1.4", "5.0.6", "5.0.7", "5.1", "6.0.x", "main"} {
		fmt.Println(release, mpi.AtLeast(release, 5, 0, 7))
	}
	// Output:
	// 4.1.4 false
	// 5.0.6 false
	// 5.0.7 true
	// 5.1 true
	// 6.0.x true
	// main false
}
