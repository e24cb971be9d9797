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
		Schedule: "* * * * *", TimeZone: "UTC", When: config.When{AgeSeconds: 24 * 3600}, FromLast: true,
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
	tests := []struct {
		name, text, fault string
	}{
		{"empty", "", "state: is missing"},
		{"no bases", "state: s\n", "bases: is missing"},
		{"unknown key", "state: s\nlimit: {waiting: 1}\n" + goodBases, "service.yaml:2: limit.waiting: unknown key: did you mean limits.waiting?"},
		{"open to all", "state: s\nlisten: :80\n" + goodBases, "service.yaml:2: listen: :80 can be reached by others"},
		{"open to all with TLS alone", "state: s\nlisten: 10.0.0.1:80\ntls: {cert: c, key: k}\n" + goodBases, "want tls.cert, tls.key and tokens"},
		{"key without a certificate", "state: s\ntls: {key: k}\n" + goodBases, "belong together"},
		{"no port", "state: s\nlisten: localhost\n" + goodBases, "want host:port"},
		{"such a port", "state: s\nlisten: localhost:99999\n" + goodBases, "service.yaml:2: listen: \"localhost:99999\": port 99999: want a number from 0 to 65535"},
		{"public address without a scheme", "state: s\ntokens: t\npublic_address: tutti.example.org\n" + goodBases, "service.yaml:3: public_address: \"tutti.example.org\": want a URL without a path"},
		{"public address with a path", "state: s\ntokens: t\npublic_address: https://example.org/tutti\n" + goodBases, "want a URL without a path"},
		{"public address with a name and a password", "state: s\ntokens: t\npublic_address: https://a:b@example.org\n" + goodBases, "want a URL without a path"},
		{"proxy without tokens", "state: s\npublic_address: https://example.org\n" + goodBases, "public_address: everyone who reaches the proxy could operate the service: want tokens"},
		{"no socket", "state: s\nlisten: 'unix:'\n" + goodBases, "without a path"},
		{"small log", "state: s\nlimits: {log: 1KiB}\n" + goodBases, "want at least 4KiB"},
		{"twice", "state: s\nbases:\n  - {name: a, file: DEMO}\n  - {name: a, file: DEMO}\n", "service.yaml:4: bases[1]: a is given twice"},
		{"no file", "state: s\nbases: [{name: a}]\n", "bases[0]: file is missing"},
		{"name", "state: s\nbases: [{name: a/b, file: DEMO}]\n", "bases[0]: name: \"a/b\""},
		{"name of the folder above", "state: s\nbases: [{name: .., file: DEMO}]\n", "bases[0]: name: \"..\": want letters"},
		{"key of a base", "state: s\nbases: [{name: a, path: DEMO}]\n", "bases[0]: path: unknown key: want one of name, file, machine"},
		{"bad campaign file", "state: s\nbases: [{name: a, file: service.yaml}]\n", "libraries: is missing"},
		{"schedule", "state: s\nbases: [{name: a, file: DEMO, schedule: hourly}]\n", "want minute, hour"},
		{"minute of a schedule", "state: s\nbases: [{name: a, file: DEMO, schedule: '61 2 * * *'}]\n", "as in 30 2 * * 0: end of range (61) above maximum (59): 61"},
		{"schedule that is never due", "state: s\nbases: [{name: a, file: DEMO, schedule: '0 0 31 2 *'}]\n", "want minute, hour"},
		{"zone without a schedule", "state: s\nbases: [{name: a, file: DEMO, time_zone: UTC}]\n", "a time zone without a schedule"},
		{"zone", "state: s\nbases: [{name: a, file: DEMO, schedule: '0 1 * * *', time_zone: Nowhere}]\n", "time zone \"Nowhere\""},
		{"when without a schedule", "state: s\nbases: [{name: a, file: DEMO, when: {age: 1h}}]\n", "when: needs a schedule"},
		{"age", "state: s\nbases: [{name: a, file: DEMO, schedule: '0 1 * * *', when: {age: 30}}]\n", "when: age: 30: want a duration"},
		{"drift", "state: s\nbases: [{name: a, file: DEMO, schedule: '0 1 * * *', when: {drift: 0}}]\n", "want a number from 0.001 to 10"},
		{"condition", "state: s\nbases: [{name: a, file: DEMO, schedule: '0 1 * * *', when: {moon: full}}]\n", "unknown key: want one of age, library, nodes, drift"},
		{"folder of samples", "state: s\n" + goodBases + "online: x\n", "online: want a list, each item with name and folder"},
		{"folder of samples", "state: s\n" + goodBases + "online: [{name: x}]\n", "online[0]: folder is missing"},
		{"folder of samples", "state: s\n" + goodBases + "online: [x]\n", "online[0]: want name and folder"},
		{"folder of samples", "state: s\n" + goodBases + "online: [{name: x, folder: y}, {name: z, folder: y}]\n", "online[1]: z or its folder is given twice"},
		{"folder of samples", "state: s\n" + goodBases + "online: [{name: x, folder: y, base: none}]\n", "online[0].base: none is none of bases"},
		{"folder of samples", "state: s\n" + goodBases + "online: [{name: x, folder: y, drift: 0.2}]\n", "online[0]: drift: compares with the last campaign of a base"},
		{"folder of samples", "state: s\n" + goodBases + "online: [{name: x, folder: y, base: a, drift: 0}]\n", "drift: 0: want a number"},
		{"folder of samples", "state: s\n" + goodBases + "online: [{name: x, folder: y, release: '9'}]\n", "libtutti 9"},
		{"folder of samples", "state: s\n" + goodBases + "online: [{name: x, folder: y, every: soon}]\n", "every"},
		{"folder of samples", "state: s\n" + goodBases + "online: [{name: x, folder: y, exclude: ['a b(']}]\n", "exclude"},
		{"folder of samples", "state: s\n" + goodBases + "online: [{name: x, folder: y, xyzzy: z}]\n", "unknown key: want one of name, folder, table, base"},
	}
	for _, tc := range tests {
		_, err := config.LoadService(serviceFile(t, tc.text))
		if !errors.Is(err, config.ErrService) || !strings.Contains(err.Error(), tc.fault) {
			t.Errorf("%s: %v, want %q", tc.name, err, tc.fault)
		}
	}
	for _, good := range []string{"127.0.0.1:0", "'[::1]:80'", "localhost:80", "unix:run/tutti.sock"} {
		s, err := config.LoadService(serviceFile(t, "state: s\nlisten: "+good+"\n"+goodBases))
		if err != nil || strings.HasPrefix(good, "unix:") && !filepath.IsAbs(strings.TrimPrefix(s.Listen, "unix:")) {
			t.Errorf("listen %s: %v", good, err)
		}
	}
	s, err := config.LoadService(serviceFile(t, "state: s\ntokens: t\npublic_address: https://Tutti.example.org:8443/\n"+goodBases))
	if err != nil || s.Public.Scheme != "https" || s.Public.Host != "Tutti.example.org:8443" || s.Public.Path != "" {
		t.Errorf("public address: %+v, %v", s, err)
	}
	if _, err := config.LoadService(serviceFile(t, "state: s\nlisten: 0.0.0.0:443\ntls: {cert: c, key: k}\ntokens: t\n"+goodBases)); err != nil {
		t.Errorf("with TLS and tokens: %v", err)
	}
}

// jobs writes a campaign file that runs Slurm jobs on up to 8 nodes, and returns its path. The parameter
// more contains further lines of the file.
func jobs(t *testing.T, more string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "jobs.yaml")
	text := "name: jobs\noutput: out\nlibraries: [{name: mpich, version: \"4.1.2\", benchmark: b, launcher: srun}]\ncollectives: [bcast]\n" +
		"grid: {nodes: [2, 8, 4], ppn: [1], sizes: [8]}\nrunner: {kind: slurm}\n" + more
	testutil.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestQuota(t *testing.T) {
	bounded := jobs(t, "stop: {node_hours: 8}\n")
	tests := []struct {
		name, text string
		want       config.Quota
		fault      string
	}{
		{"defaults", goodBases, config.Quota{Campaign: 10, Day: 24}, ""},
		{"own", "node_hours: {campaign: 100, day: 500.5}\n" + goodBases, config.Quota{Campaign: 100, Day: 500.5}, ""},
		{"a day that suffices for one", "node_hours: {campaign: 10, day: 12}\n" + goodBases, config.Quota{Campaign: 10, Day: 12}, ""},
		{"a day that does not", "node_hours: {campaign: 25}\n" + goodBases, config.Quota{}, "node_hours.day: 24 node-hours a day: want at least 30"},
		{"nothing", "node_hours: {campaign: 0}\n" + goodBases, config.Quota{}, "service.yaml:2: node_hours.campaign: 0: want a number from 0.001"},
		{"a base within", "bases: [{name: a, file: " + bounded + "}]\n", config.Quota{Campaign: 10, Day: 24}, ""},
		{"a base above", "node_hours: {campaign: 5}\nbases: [{name: a, file: " + bounded + "}]\n", config.Quota{}, "bases[0]: stop.node_hours of " + bounded + " is 8: node_hours.campaign allows 5"},
	}
	for _, tc := range tests {
		s, err := config.LoadService(serviceFile(t, "state: s\n"+tc.text))
		switch {
		case tc.fault == "" && (err != nil || s.Quota != tc.want):
			t.Errorf("%s: %+v, %v, want %+v", tc.name, s, err, tc.want)
		case tc.fault != "" && (err == nil || !strings.Contains(err.Error(), tc.fault)):
			t.Errorf("%s: %v, want %q", tc.name, err, tc.fault)
		}
	}
}

// TestCheckSettingsOfJobs checks the Demand (machine time) of a campaign that runs benchmarks. A request to the
// service must not get more nodes or node-hours than the campaign file allows.
func TestCheckSettingsOfJobs(t *testing.T) {
	tests := []struct {
		name, file string
		set        map[string]string
		want       config.Demand
		fault      string
	}{
		{"no budget", jobs(t, ""), nil, config.Demand{Measures: true}, ""},
		{"budget of the file", jobs(t, "stop: {node_hours: 8}\n"), nil, config.Demand{Measures: true, NodeHours: 8}, ""},
		{"less", jobs(t, "stop: {node_hours: 8}\n"), map[string]string{"stop.node_hours": "2.5"}, config.Demand{Measures: true, NodeHours: 2.5}, ""},
		{"more", jobs(t, "stop: {node_hours: 8}\n"), map[string]string{"stop.node_hours": "9"}, config.Demand{}, "set.stop.node_hours: the campaign file allows"},
		{"fewer nodes", jobs(t, ""), map[string]string{"grid.nodes": "3,8"}, config.Demand{Measures: true}, ""},
		{"more nodes", jobs(t, ""), map[string]string{"grid.nodes": "2,9"}, config.Demand{}, "set.grid.nodes[1]: 9: the campaign file has at most 8 nodes"},
	}
	for _, tc := range tests {
		got, err := config.CheckSettings(tc.file, tc.set)
		switch {
		case tc.fault == "" && (err != nil || got != tc.want):
			t.Errorf("%s: %+v, %v, want %+v", tc.name, got, err, tc.want)
		case tc.fault != "" && (!errors.As(err, new(*config.FieldError)) || !strings.Contains(err.Error(), tc.fault)):
			t.Errorf("%s: %v, want %q", tc.name, err, tc.fault)
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
		{key: "hpo.trials", value: "1", field: "set.hpo.trials", text: "at most 0"},
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
