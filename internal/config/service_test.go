package config_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"tutti/internal/config"
	"tutti/internal/testutil"
)

func TestLoadService(t *testing.T) {
	s := testutil.Must(config.LoadService("../../configs/service-demo.yaml"))(t)
	if s.Listen != "127.0.0.1:8372" || !filepath.IsAbs(s.State) || s.Drain != time.Minute || s.Limits.Waiting != 100 || s.Limits.LogBytes != 1<<20 {
		t.Errorf("service is %+v", s)
	}
	b := s.Bases[0]
	if !filepath.IsAbs(b.File) {
		t.Errorf("file of the base is %q, want it absolute", b.File)
	}
	b.File = ""
	want := config.Base{
		Name: "demo", Machine: "simulated machine A", Runner: "replay", Libraries: []string{"mpich"}, Collectives: []string{"bcast", "allreduce"},
		Schedule: "* * * * *", TimeZone: "UTC", When: config.StartCondition{AgeSeconds: 24 * 3600}, FromLast: true,
	}
	if !reflect.DeepEqual(b, want) {
		t.Errorf("base is %+v, want %+v", b, want)
	}
	if _, err := config.LoadService("../../configs/none.yaml"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a file: %v", err)
	}
}

// serviceFile writes a service file and returns its path. In the text, DEMO stands for the path of the demo
// campaign.
func serviceFile(t *testing.T, text string) string {
	t.Helper()
	demo := testutil.Must(filepath.Abs("../../configs/demo.yaml"))(t)
	path := filepath.Join(t.TempDir(), "service.yaml")
	testutil.NoError(t, os.WriteFile(path, []byte(strings.ReplaceAll(text, "DEMO", demo)), 0o600))
	return path
}

const goodBases = "bases:\n  - {name: a, file: DEMO}\n"

func TestLoadServiceFaults(t *testing.T) {
	golden := testutil.GoldenErrors(t)
	tests := []struct{ name, text string }{
		{"empty", ""},
		{"no bases", "state: s\n"},
		{"unknown key", "state: s\nlimit: {waiting: 1}\n" + goodBases},
		{"open to all", "state: s\nlisten: :80\n" + goodBases},
		{"open to all with TLS alone", "state: s\nlisten: 10.0.0.1:80\ntls: {cert: c, key: k}\n" + goodBases},
		{"key without a certificate", "state: s\ntls: {key: k}\n" + goodBases},
		{"no port", "state: s\nlisten: localhost\n" + goodBases},
		{"such a port", "state: s\nlisten: localhost:99999\n" + goodBases},
		{"public address without a scheme", "state: s\ntokens: t\npublic_address: tutti.example.org\n" + goodBases},
		{"public address with a path", "state: s\ntokens: t\npublic_address: https://example.org/tutti\n" + goodBases},
		{"public address with a name and a password", "state: s\ntokens: t\npublic_address: https://a:b@example.org\n" + goodBases},
		{"proxy without tokens", "state: s\npublic_address: https://example.org\n" + goodBases},
		{"no socket", "state: s\nlisten: 'unix:'\n" + goodBases},
		{"mode of a socket", "state: s\nlisten: 'unix:s'\ntokens: t\nsocket: {mode: 0777}\n" + goodBases},
		{"mode without a zero", "state: s\nlisten: 'unix:s'\ntokens: t\nsocket: {mode: 660}\n" + goodBases},
		{"mode without a socket", "state: s\ntokens: t\nsocket: {mode: '0660'}\n" + goodBases},
		{"socket of a group without tokens", "state: s\nlisten: 'unix:s'\nsocket: {mode: '0660'}\n" + goodBases},
		{"no such group", "state: s\nlisten: 'unix:s'\ntokens: t\nsocket: {mode: '0660', group: no-such-group}\n" + goodBases},
		{"group that is kept out", "state: s\nlisten: 'unix:s'\ntokens: t\nsocket: {group: 0}\n" + goodBases},
		{"group without a socket", "state: s\ntokens: t\nsocket: {group: 0}\n" + goodBases},
		{"small log", "state: s\nlimits: {log: 1KiB}\n" + goodBases},
		{"twice", "state: s\nbases:\n  - {name: a, file: DEMO}\n  - {name: a, file: DEMO}\n"},
		{"no file", "state: s\nbases: [{name: a}]\n"},
		{"name", "state: s\nbases: [{name: a/b, file: DEMO}]\n"},
		{"name of the folder above", "state: s\nbases: [{name: .., file: DEMO}]\n"},
		{"key of a base", "state: s\nbases: [{name: a, path: DEMO}]\n"},
		{"bad campaign file", "state: s\nbases: [{name: a, file: service.yaml}]\n"},
		{"schedule", "state: s\nbases: [{name: a, file: DEMO, schedule: hourly}]\n"},
		{"minute of a schedule", "state: s\nbases: [{name: a, file: DEMO, schedule: '61 2 * * *'}]\n"},
		{"schedule that is never due", "state: s\nbases: [{name: a, file: DEMO, schedule: '0 0 31 2 *'}]\n"},
		{"zone without a schedule", "state: s\nbases: [{name: a, file: DEMO, time_zone: UTC}]\n"},
		{"zone", "state: s\nbases: [{name: a, file: DEMO, schedule: '0 1 * * *', time_zone: Nowhere}]\n"},
		{"when without a schedule", "state: s\nbases: [{name: a, file: DEMO, when: {age: 1h}}]\n"},
		{"age", "state: s\nbases: [{name: a, file: DEMO, schedule: '0 1 * * *', when: {age: 30}}]\n"},
		{"drift", "state: s\nbases: [{name: a, file: DEMO, schedule: '0 1 * * *', when: {drift: 0}}]\n"},
		{"condition", "state: s\nbases: [{name: a, file: DEMO, schedule: '0 1 * * *', when: {moon: full}}]\n"},
		{"samples: no list", "state: s\n" + goodBases + "online: x\n"},
		{"samples: no folder", "state: s\n" + goodBases + "online: [{name: x}]\n"},
		{"samples: a word", "state: s\n" + goodBases + "online: [x]\n"},
		{"samples: a folder twice", "state: s\n" + goodBases + "online: [{name: x, folder: y}, {name: z, folder: y}]\n"},
		{"samples: an unknown base", "state: s\n" + goodBases + "online: [{name: x, folder: y, base: none}]\n"},
		{"samples: drift without a base", "state: s\n" + goodBases + "online: [{name: x, folder: y, drift: 0.2}]\n"},
		{"samples: a drift of 0", "state: s\n" + goodBases + "online: [{name: x, folder: y, base: a, drift: 0}]\n"},
		{"samples: an unknown release", "state: s\n" + goodBases + "online: [{name: x, folder: y, release: '9'}]\n"},
		{"samples: no duration", "state: s\n" + goodBases + "online: [{name: x, folder: y, every: soon}]\n"},
		{"samples: a bad algorithm", "state: s\n" + goodBases + "online: [{name: x, folder: y, exclude: ['a b(']}]\n"},
		{"samples: an unknown key", "state: s\n" + goodBases + "online: [{name: x, folder: y, xyzzy: z}]\n"},
		{"receiver without an address", "state: s\n" + goodBases + "notify: [{name: x}]\n"},
		{"receiver with two addresses", "state: s\n" + goodBases + "notify: [{name: x, url: 'http://a/', command: [/bin/true]}]\n"},
		{"receiver: no web address", "state: s\n" + goodBases + "notify: [{name: x, url: 'ftp://SECRET/'}]\n"},
		{"receiver: no header", "state: s\n" + goodBases + "notify: [{name: x, url: 'http://a/', headers: ['Bearer SECRET']}]\n"},
		{"receiver: relative command", "state: s\n" + goodBases + "notify: [{name: x, command: [notify]}]\n"},
		{"receiver: no such state", "state: s\n" + goodBases + "notify: [{name: x, command: [/bin/true], states: [over]}]\n"},
		{"receiver: twice", "state: s\n" + goodBases + "notify: [{name: x, command: [/bin/true]}, {name: x, command: [/bin/true]}]\n"},
	}
	for _, tc := range tests {
		_, err := config.LoadService(serviceFile(t, tc.text))
		golden(tc.name, err, config.ErrService)
		if err != nil && strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s: the error has the secret: %v", tc.name, err)
		}
	}
	for _, good := range []string{"127.0.0.1:0", "'[::1]:80'", "localhost:80", "unix:run/tutti.sock"} {
		s, err := config.LoadService(serviceFile(t, "state: s\nlisten: "+good+"\n"+goodBases))
		if err != nil || strings.HasPrefix(good, "unix:") && !filepath.IsAbs(strings.TrimPrefix(s.Listen, "unix:")) {
			t.Errorf("listen %s: %v", good, err)
		}
	}
	s, err := config.LoadService(serviceFile(t, "state: s\nlisten: 'unix:s'\ntokens: t\nsocket: {mode: '0660', group: 7}\n"+goodBases))
	if err != nil || s.SocketMode != 0o660 || s.SocketGroup != 7 {
		t.Errorf("socket of a group: %v, %v", s, err)
	}
	s, err = config.LoadService(serviceFile(t, "state: s\ntokens: t\npublic_address: https://Tutti.example.org:8443/\n"+goodBases))
	if err != nil || s.Public.Scheme != "https" || s.Public.Host != "Tutti.example.org:8443" || s.Public.Path != "" {
		t.Errorf("public address: %+v, %v", s, err)
	}
	if _, err := config.LoadService(serviceFile(t, "state: s\nlisten: 0.0.0.0:443\ntls: {cert: c, key: k}\ntokens: t\n"+goodBases)); err != nil {
		t.Errorf("with TLS and tokens: %v", err)
	}
}

// jobs writes a campaign file that runs Slurm jobs on up to 8 nodes, and returns its path.
// `more` contains further lines of the file.
func jobs(t *testing.T, more string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "jobs.yaml")
	text := "name: jobs\noutput: out\nlibraries: [{name: mpich, version: \"4.1.2\", benchmark: b, launcher: srun}]\ncollectives: [bcast]\n" +
		"grid: {nodes: [2, 8, 4], ppn: [1], sizes: [8]}\nrunner: {kind: slurm}\n" + more
	testutil.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestQuota(t *testing.T) {
	golden := testutil.GoldenErrors(t)
	bounded := jobs(t, "stop: {node_hours: 8}\n")
	tests := []struct {
		name, text string
		want       config.Quota // the zero Quota is an error
	}{
		{"defaults", goodBases, config.Quota{Campaign: 10, Day: 24}},
		{"own", "node_hours: {campaign: 100, day: 500.5}\n" + goodBases, config.Quota{Campaign: 100, Day: 500.5}},
		{"a day that suffices for one", "node_hours: {campaign: 10, day: 12}\n" + goodBases, config.Quota{Campaign: 10, Day: 12}},
		{"a day that does not", "node_hours: {campaign: 25}\n" + goodBases, config.Quota{}},
		{"nothing", "node_hours: {campaign: 0}\n" + goodBases, config.Quota{}},
		{"a base within", "bases: [{name: a, file: " + bounded + "}]\n", config.Quota{Campaign: 10, Day: 24}},
		{"a base above", "node_hours: {campaign: 5}\nbases: [{name: a, file: " + bounded + "}]\n", config.Quota{}},
	}
	for _, tc := range tests {
		s, err := config.LoadService(serviceFile(t, "state: s\n"+tc.text))
		if tc.want == (config.Quota{}) {
			golden(tc.name, err)
		} else if err != nil || s.Quota != tc.want {
			t.Errorf("%s: %+v, %v, want %+v", tc.name, s, err, tc.want)
		}
	}
}

// TestCheckSettingsOfJobs checks the Demand (machine time) of a campaign that runs benchmarks. A request to the
// service must not get more nodes or node-hours than the campaign file allows.
func TestCheckSettingsOfJobs(t *testing.T) {
	golden := testutil.GoldenErrors(t)
	tests := []struct {
		name, file string
		set        map[string]string
		want       config.Demand // the zero Demand is an error
	}{
		{"no budget", jobs(t, ""), nil, config.Demand{Measures: true}},
		{"budget of the file", jobs(t, "stop: {node_hours: 8}\n"), nil, config.Demand{Measures: true, NodeHours: 8}},
		{"less", jobs(t, "stop: {node_hours: 8}\n"), map[string]string{"stop.node_hours": "2.5"}, config.Demand{Measures: true, NodeHours: 2.5}},
		{"more", jobs(t, "stop: {node_hours: 8}\n"), map[string]string{"stop.node_hours": "9"}, config.Demand{}},
		{"fewer nodes", jobs(t, ""), map[string]string{"grid.nodes": "3,8"}, config.Demand{Measures: true}},
		{"more nodes", jobs(t, ""), map[string]string{"grid.nodes": "2,9"}, config.Demand{}},
	}
	for _, tc := range tests {
		got, err := config.CheckSettings(tc.file, tc.set)
		if tc.want != (config.Demand{}) {
			if err != nil || got != tc.want {
				t.Errorf("%s: %+v, %v, want %+v", tc.name, got, err, tc.want)
			}
			continue
		}
		golden(tc.name, err)
		if !errors.As(err, new(*config.FieldError)) {
			t.Errorf("%s: %v, want a FieldError", tc.name, err)
		}
	}
}

// demoWithBudget writes the demo campaign with a budget of one hour of machine time and returns
// its path.
func demoWithBudget(t *testing.T) string {
	t.Helper()
	content := testutil.Must(os.ReadFile("../../configs/demo.yaml"))(t)
	data := testutil.Must(filepath.Abs("../../data"))(t)
	path := filepath.Join(t.TempDir(), "base.yaml")
	text := strings.ReplaceAll(string(content), "../data", data) + "\nstop: {machine_time: 1h}\n"
	testutil.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestCheckSettings(t *testing.T) {
	path := demoWithBudget(t)
	tests := []struct {
		key, value string
		field      string // of the error; "" for none
		text       string
	}{
		{key: "seed", value: "7"},
		{key: "collectives", value: "bcast,reduce"},
		{key: "grid.nodes", value: "2,4"},
		{key: "grid.sizes", value: "8B, 1MiB"},
		{key: "stop.slowdown", value: "1.02"},
		{key: "stop.machine_time", value: "30m"},
		{key: "method", value: "fact"},
		{key: "hpo.trials", value: "0"},
		{key: "hpo.trials", value: "5", field: "set.hpo.trials", text: "at most 4"},
		{key: "stop.slowdown", value: "0.5", field: "set.stop.slowdown", text: "want a number from 1 to 1000"},
		{key: "collectives", value: "bcast,bogus", field: "set.collectives[1]", text: "bogus"},
		{key: "seed", value: "x", field: "set.seed", text: "want a whole number"},
		{key: "seed", value: " ", field: "set.seed", text: "is empty"},
		{key: "stop.machine_time", value: "2h", field: "set.stop.machine_time", text: "at most 1h0m0s"},
		{key: "stop.machine_time", value: "0s", field: "set.stop.machine_time", text: "more than 0"},
		{key: "grid.trace", value: "/etc/passwd", field: "set.grid.trace", text: "cannot be set"},
		{key: "output", value: "/tmp", field: "set.output", text: "cannot be set"},
		{key: "name", value: "x", field: "set.name", text: "cannot be set"},
		{key: "runner.setup", value: "rm -rf /", field: "set.runner.setup", text: "cannot be set: want one of seed, collectives"},
		{key: "runner.env", value: "LD_PRELOAD=x", field: "set.runner.env", text: "cannot be set"},
		{key: "slurm.directives", value: "--wrap=x", field: "set.slurm.directives", text: "cannot be set"},
		{key: "slurm.partition", value: "x", field: "set.slurm.partition", text: "cannot be set"},
		{key: "libraries", value: "x", field: "set.libraries", text: "cannot be set"},
		{key: "runner.data", value: "/etc/passwd", field: "set.runner.data", text: "cannot be set"},
		{key: "STOP.SLOWDOWN", value: "1.02", field: "set.STOP.SLOWDOWN", text: "cannot be set"},
		{key: "stop.", value: "1", field: "set.stop.", text: "cannot be set"},
		{key: "", value: "1", field: "set.", text: "cannot be set"},
		{key: "seed=1 --from", value: "x", field: "set.seed=1 --from", text: "cannot be set"},
	}
	for _, tc := range tests {
		_, err := config.CheckSettings(path, map[string]string{tc.key: tc.value})
		var field *config.FieldError
		switch {
		case tc.field == "" && err != nil:
			t.Errorf("%s=%s: %v", tc.key, tc.value, err)
		case tc.field != "" && (!errors.As(err, &field) || field.Field != tc.field || !strings.Contains(field.Text, tc.text)):
			t.Errorf("%s=%s: %v, want %s: %s", tc.key, tc.value, err, tc.field, tc.text)
		}
	}
	if a, err := config.CheckSettings(path, nil); err != nil || a != (config.Demand{}) {
		t.Errorf("without settings: %+v, %v, want nothing asked of a machine", a, err)
	}
}

// TestSettable checks that no request can change where, or with which programs, a campaign
// measures.
func TestSettable(t *testing.T) {
	for _, key := range config.Settable() {
		for _, part := range []string{"runner", "slurm", "libraries", "output", "name", "benchmark", "trace"} {
			if strings.Contains(key, part) {
				t.Errorf("%s may be set by a request", key)
			}
		}
	}
}

func TestLoadServiceOnline(t *testing.T) {
	path := serviceFile(t, "state: s\n"+goodBases+`online:
  - {name: app, folder: learned}
  - {name: other, folder: /scratch/learned, table: tables, base: a, release: 1+mpich-4.0.2, exclude: [ring, "pipeline(segsize=8192)"], every: 5m, drift: 0.25}
`)
	s := testutil.Must(config.LoadService(path))(t)
	want := []config.SampleFolder{
		{Name: "app", Folder: filepath.Join(filepath.Dir(path), "learned"), Every: time.Minute},
		{Name: "other", Folder: "/scratch/learned", Table: filepath.Join(filepath.Dir(path), "tables"), Base: "a", Release: "1+mpich-4.0.2", Exclude: []string{"ring", "pipeline(segsize=8192)"}, Every: 5 * time.Minute, Drift: 0.25},
	}
	if !reflect.DeepEqual(s.Online, want) {
		t.Errorf("%+v, want %+v", s.Online, want)
	}
}
