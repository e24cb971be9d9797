package service_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"tutti/service"
)

// secret is the text that stands for every secret in the test journals.
const secret = "hunter2"

// secretHeader is the header of a journal with secrets. shownHeader is what users with the role "read" get
// instead.
const (
	secretHeader = `{"kind":"header","schema":3,"campaign":"night","id":"a1","version":"0.3.0","created":"2026-03-01T12:00:00Z","seed":7,"spec":{
		"name":"night","machine":"m","seed":7,"output":"/home/hunter2","libraries":[{"name":"mpich","version":"4.0.2","path":"/opt/hunter2/libmpich.so",
		"launcher_args":["--export=K=hunter2"],"env":["MPICH_KEY=hunter2","hunter2"]}],"collectives":["bcast"],"grid":{"nodes":[2,4],"trace":"/hunter2"},
		"runner":{"kind":"slurm","env":["TOKEN=hunter2"],"setup":["export LICENSE=hunter2","module load x"],"modules":["hunter2"],"confirm":10},
		"slurm":{"account":"hunter2","directives":["--comment=hunter2"]},"stop":{"slowdown":1.03,"node_hours":5},"from":[{"machine":"hunter2"}],"later":"hunter2"}}`
	shownHeader = `{"kind":"header","schema":3,"campaign":"night","id":"a1","version":"0.3.0","created":"2026-03-01T12:00:00Z","seed":7,"spec":{` +
		`"name":"night","machine":"m","seed":7,"libraries":[{"name":"mpich","version":"4.0.2","env":["MPICH_KEY=[hidden]","[hidden]"]}],"collectives":["bcast"],` +
		`"grid":{"nodes":[2,4]},"runner":{"kind":"slurm","env":["TOKEN=[hidden]"],"setup":["[hidden]","[hidden]"]},"stop":{"slowdown":1.03,"node_hours":5}}}`
)

// TestRedacted checks, for each kind of event, which data a user with the role "read" gets.
func TestRedacted(t *testing.T) {
	const stamp = `"time":"2026-03-01T12:00:00Z"`
	point := `"collective":"bcast","nodes":2,"ppn":1,"msg_bytes":8,"algorithm":"binomial"`
	tests := []struct {
		name, kind string
		data, want string
	}{
		{"header", "header", secretHeader, shownHeader},
		{"unknown header", "header", `{"kind":"header","spec":"hunter2"}`, `{"kind":"header",` + stamp + `}`},
		{"trial", "trial", `{"kind":"trial",` + stamp + `,"trial":{` + point + `,"seconds":1,"cost_seconds":2,"attempt":1,"state":"done"}}`, `{"kind":"trial",` + stamp + `,"trial":{` + point + `,"seconds":1,"cost_seconds":2,"attempt":1,"state":"done"}}`},
		{
			"job that never started", "job", `{"kind":"job",` + stamp + `,"job":{"name":"j","state":"ended","carries":[0],"nodes":2,"limit_seconds":9,"outcome":"failed","no_start_reason":"no licence for hunter2",` +
				`"environment":{"nodes":["hunter2"],"library":"hunter2"}}}`,
			`{"kind":"job",` + stamp + `,"job":{"name":"j","state":"ended","carries":[0],"nodes":2,"limit_seconds":9,"outcome":"failed"}}`,
		},
		{
			"failed trial", "trial", `{"kind":"trial",` + stamp + `,"trial":{` + point + `,"cost_seconds":2,"attempt":1,"state":"failed","phase":"launch","error":"export: hunter2"}}`,
			`{"kind":"trial",` + stamp + `,"trial":{` + point + `,"seconds":0,"cost_seconds":2,"attempt":1,"state":"failed","phase":"launch"}}`,
		},
		{"stop with a note", "stop", `{"kind":"stop",` + stamp + `,"stop":"budget","note":"hunter2"}`, `{"kind":"stop",` + stamp + `,"stop":"budget"}`},
		{"study that failed", "hpo", `{"kind":"hpo",` + stamp + `,"hpo":{"error":"hunter2"}}`, `{"kind":"hpo",` + stamp + `}`},
		{"verification", "verify", `{"kind":"verify",` + stamp + `,"verify":{"forcing_checks":[{"note":"hunter2"}]}}`, `{"kind":"verify",` + stamp + `}`},
		{"unknown kind", "secrets", `{"kind":"secrets","value":"hunter2"}`, `{"kind":"secrets",` + stamp + `}`},
		{"invalid record", "trial", `{"kind":"trial","note":"hunter2","trial":7}`, `{"kind":"trial",` + stamp + `}`},
		{"campaign", "campaign", `{"id":"a","error":"hunter2"}`, ""},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			given := service.Event{Seq: 3, Type: tc.kind, Time: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), Data: json.RawMessage(tc.data)}
			e := given.Redacted()
			if e.Seq != 3 || e.Type != tc.kind || strings.Contains(string(e.Data), secret) || !json.Valid(e.Data) {
				t.Errorf("event %d %s shows %s", e.Seq, e.Type, e.Data)
			}
			if tc.want != "" && !sameJSON(t, string(e.Data), tc.want) {
				t.Errorf("shows %s, want %s", e.Data, tc.want)
			}
			if string(given.Data) != tc.data {
				t.Errorf("the event has become %s, want %s", given.Data, tc.data)
			}
		})
	}
}

func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	var x, y any
	if err := json.Unmarshal([]byte(a), &x); err != nil {
		t.Fatalf("%s: %v", a, err)
	}
	if err := json.Unmarshal([]byte(b), &y); err != nil {
		t.Fatalf("%s: %v", b, err)
	}
	return reflect.DeepEqual(x, y)
}
