package mpi

import (
	"strings"
	"testing"

	"tutti/coll"
)

func TestTableFaults(t *testing.T) {
	const header = "library,version,collective,algorithm,id,function,params,requires,op_safe\n"
	const good = "some,4.0.2,bcast,smp,3,,,parent,yes\n"
	if all, err := readTable(header+good, Rules{}); err != nil || len(all) != 1 || !all[0].Entries(coll.Bcast)[0].Has(Parent) {
		t.Fatalf("a good row = %v, %v", all, err)
	}
	tests := []struct{ name, row, want string }{
		{"collective", "some,4.0.2,broadcast,smp,3,,,,yes", "some 4.0.2 broadcast smp: unknown collective"},
		{"number", "some,4.0.2,bcast,smp,three,,,,yes", `"three"`},
		{"requirement", "some,4.0.2,bcast,smp,3,,,pow3,yes", `requirement "pow3"`},
		{"safety", "some,4.0.2,bcast,smp,3,,k,,segsize", `op_safe "segsize"`},
		{"columns", "some,4.0.2,bcast", "wrong number of fields"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			_, err := readTable(header+good+tc.row+"\n", Rules{})
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error = %v, want %q", err, tc.want)
			}
		})
	}
}
