package benchrunner_test

import (
	"fmt"

	"tutti/benchrunner"
)

func ExampleSweeps() {
	cases := []benchrunner.Case{{Candidate: at(2, 16, "ring")}, {Candidate: at(2, 8, "tree")}, {Candidate: at(2, 8, "ring")}}
	for _, start := range benchrunner.Sweeps(cases, benchrunner.Ascending) {
		fmt.Println(start[0].Algorithm, "of", len(start), "sizes")
	}
	// Output:
	// ring of 2 sizes
	// tree of 1 sizes
}

func ExampleLaunchModel_Key() {
	a, b := at(2, 8, "ring"), at(2, 16, "ring")
	for _, m := range benchrunner.LaunchModels() {
		fmt.Println(m, m.Key(a) == m.Key(b))
	}
	// Output:
	// candidate false
	// osu true
	// native true
}
