package mpi

import (
	"strings"
	"testing"

	"tutti/coll"
	"tutti/internal/testutil"
)

func TestTableFaults(t *testing.T) {
	golden := testutil.GoldenErrors(t)
	const header = "library,version,collective,algorithm,id,function,params,requires,op_safe\n"
	const good = "some,4.0.2,bcast,smp,3,,,parent,yes\n"
	if all, err := ReadTable(header+good, Rules{}); err != nil || len(all) != 1 || !all[0].Entries(coll.Bcast)[0].Has(Parent) {
		t.Fatalf("a good row = %v, %v", all, err)
	}
	tests := []struct{ name, row string }{
		{"collective", "some,4.0.2,broadcast,smp,3,,,,yes"},
		{"number", "some,4.0.2,bcast,smp,three,,,,yes"},
		{"requirement", "some,4.0.2,bcast,smp,3,,,pow3,yes"},
		{"safety", "some,4.0.2,bcast,smp,3,,k,,segsize"},
		{"columns", "some,4.0.2,bcast"},
		{"twice", "some,4.0.2,bcast,smp,4,,,,yes"},
		{"release", "some,newest,bcast,smp,3,,,,yes"},
		{"release twice", "some,4.1,bcast,smp,3,,,,yes\nsome,4.0.2,bcast,smp,3,,,,yes"},
	}
	for _, tc := range tests {
		_, err := ReadTable(header+good+tc.row+"\n", Rules{})
		golden(tc.name, err)
	}
	for name, text := range map[string]string{
		"empty": "", "semicolons": strings.ReplaceAll(header+good, ",", ";"), "order of columns": strings.Replace(header, "library,version", "version,library", 1) + good,
	} {
		_, err := ReadTable(text, Rules{})
		golden(name, err)
	}
}
