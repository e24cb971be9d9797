package campaigntest

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"strings"
	"testing"

	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/selection"
)

// Selected parses the text of a file selection.csv and returns the rows of one library. Each row contains
// only the selected algorithm.
func Selected(t testing.TB, text []byte, library string) []selection.Row {
	t.Helper()
	lines := testutil.Must(csv.NewReader(bytes.NewReader(text)).ReadAll())(t)
	var rows []selection.Row
	for _, line := range lines[1:] {
		if line[0] != library {
			continue
		}
		var p coll.Point
		words := strings.Join(line[1:5], " ")
		if _, err := fmt.Sscanf(words, "%s %d %d %d", &p.Collective, &p.Nodes, &p.PPN, &p.MsgBytes); err != nil {
			t.Fatalf("%s: %v", words, err)
		}
		alg := testutil.Must(coll.ParseAlgorithm(line[5]))(t)
		rows = append(rows, selection.Row{Point: p, Options: []selection.Option{{Algorithm: alg, Seconds: 1}}})
	}
	return rows
}
