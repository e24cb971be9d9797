package api_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tutti/internal/testutil"
	"tutti/preprocess"
	"tutti/service"
	"tutti/service/api"
)

type measured struct {
	Measurements []service.Measurement
	Next         int64
}

// TestMeasurementPages checks that the pages together contain every measurement once and in order.
func TestMeasurementPages(t *testing.T) {
	f := newFake()
	f.measure(25)
	s := serve(t, f, api.Options{})
	for _, tc := range []struct {
		query string
		want  int
		pages int
	}{
		{"limit=10", 25, 3}, {"limit=25", 25, 1}, {"limit=24", 25, 2}, {"limit=5", 25, 5}, {"limit=10&library=mpich", 13, 2}, {"limit=10&library=openmpi", 12, 2},
		{"limit=1000", 25, 1}, {"library=intel", 0, 1}, {"collective=reduce", 0, 1}, {"limit=1&library=mpich", 13, 13},
	} {
		var all []service.Measurement
		pages, after, before := 0, "", f.reads
		for {
			got := ask(t, s, "GET", "/api/v1/campaigns/c1/measurements?"+tc.query+after, "")
			var p measured
			if err := json.Unmarshal([]byte(got.body), &p); err != nil || got.status != 200 {
				t.Fatalf("%s: %d %s", tc.query, got.status, got.body)
			}
			all = append(all, p.Measurements...)
			pages++
			if p.Next == 0 {
				break
			}
			after = fmt.Sprint("&after=", p.Next)
		}
		if reads := f.reads - before; tc.want == 0 && reads > 0 {
			t.Errorf("%s: the journal is read though the campaign has no such problem", tc.query)
		}
		if len(all) != tc.want || pages != tc.pages {
			t.Errorf("%s: %d measurements on %d pages, want %d on %d", tc.query, len(all), pages, tc.want, tc.pages)
		}
		for i := 1; i < len(all); i++ {
			if all[i].Seq <= all[i-1].Seq {
				t.Errorf("%s: line %d after line %d", tc.query, all[i].Seq, all[i-1].Seq)
			}
		}
	}
}

// TestMeasurementsCSV checks that a CSV answer can be read as recorded data.
func TestMeasurementsCSV(t *testing.T) {
	f := newFake()
	f.measure(5000) // more than csvRows
	f.measured[1].Low, f.measured[1].High, f.measured[1].Samples = 1.5e-6, 2.5e-6, 40
	s := serve(t, f, api.Options{})
	const path = "/api/v1/campaigns/c1/measurements"
	byAccept := ask(t, s, "GET", path, "", "Accept: text/csv")
	byQuery := ask(t, s, "GET", path+"?format=csv", "", "Accept: application/json")
	if byAccept.body != byQuery.body || !strings.HasPrefix(byAccept.header.Get("Content-Type"), "text/csv") {
		t.Errorf("by Accept: %d bytes of %s, by format: %d bytes", len(byAccept.body), byAccept.header.Get("Content-Type"), len(byQuery.body))
	}
	rows, err := csv.NewReader(strings.NewReader(byAccept.body)).ReadAll()
	if err != nil || len(rows) != 5001 {
		t.Fatalf("%d rows, %v, want 5000 and a header", len(rows), err)
	}
	if got, want := strings.Join(rows[2], ","), "bcast,binomial,2,4,16,2,0.5,1.5,2.5,40,,openmpi,1,5"; got != want {
		t.Errorf("row 2 is %s, want %s", got, want)
	}
	file := filepath.Join(t.TempDir(), "m.csv")
	one := ask(t, s, "GET", path+"?format=csv&library=mpich", "")
	testutil.NoError(t, os.WriteFile(file, []byte(one.body), 0o666))
	table, err := preprocess.ReadTable(file)
	if err != nil || len(table.Warnings) != 0 {
		t.Fatalf("ReadTable: %v, %v", err, table)
	}
	if got := len(table.Measurements()); got != 2500 {
		t.Errorf("%d measurements read back, want 2500", got)
	}
	if got := ask(t, s, "GET", path+"?format=json", "", "Accept: text/csv"); !json.Valid([]byte(got.body)) {
		t.Errorf("format=json gives %.80s", got.body)
	}
	if got := ask(t, s, "GET", path+"?format=xml", ""); got.status != 422 {
		t.Errorf("format=xml: %d, want 422", got.status)
	}
}
