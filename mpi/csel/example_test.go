package csel_test

import (
	"fmt"

	"tutti/mpi/csel"
)

func ExampleEmbedded() {
	lib, err := csel.Embedded("4.0.2")
	if err != nil {
		fmt.Println(err)
		return
	}
	scan, _ := lib.Device.Get("collective=scan")
	fmt.Printf("%s", scan.Bytes())
	// Output:
	// {
	//  "is_node_consecutive=yes": {"composition=MPIDI_Scan_intra_composition_alpha": {}},
	//  "is_node_consecutive=no": {"composition=MPIDI_Scan_intra_composition_beta": {}}
	// }
}
