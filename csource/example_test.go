package csource_test

import (
	"fmt"
	"os"

	"tutti/csource"
)

func ExampleProgram_Unpack() {
	dir, err := os.MkdirTemp("", "pair-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	args, err := csource.Pair.Unpack(dir, "pair")
	fmt.Println("mpicc", args, err)
	// Output: mpicc [-o pair pair.c] <nil>
}
