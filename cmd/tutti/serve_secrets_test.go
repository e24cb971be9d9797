package main

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tutti/service"
)

// TestServeSecrets runs a campaign whose file holds secrets wherever one may be, whose
// jobs have them in their scripts and whose benchmarks print one when they crash; somebody
// who may only look asks for everything that the interface describes and for every file
// of the campaign.
func TestServeSecrets(t *testing.T) {
	const secret = "hunter2"
	dir := t.TempDir()
	fakeService(t, dir, "tokens: tokens.json\n")
	file := filepath.Join(dir, "small.yaml")
	text := strings.NewReplacer(
		"launcher_path: mpirun}", "launcher_path: mpirun, env: [LIBRARY_KEY="+secret+"]}",
		"runner: {", "runner: {env: [RUN_KEY="+secret+"], setup: [export SITE_KEY="+secret+"], ",
	).Replace(string(readFile(t, file)))
	crash := "#!/bin/sh\necho no licence for $RUN_KEY >&2\nexit 3\n"
	if err := errors.Join(os.WriteFile(file, []byte(text), 0o600), os.WriteFile(filepath.Join(dir, "osu", "osu_alltoall"), []byte(crash), 0o700)); err != nil {
		t.Fatal(err)
	}
	token := func(role string) string {
		stdout, _ := mustTutti(t, codeDone, "token", "create", "-c", filepath.Join(dir, "service.yaml"), "--role", role, "--name", role)
		return strings.TrimSpace(stdout)
	}
	reader, operator := token("read"), token("operate")
	s := serve(t, dir)
	s.token = operator
	c := s.campaign("POST", "/api/v1/campaigns", `{"base":"small"}`)
	s.await("the campaign ends", func() bool {
		c = s.campaign("GET", "/api/v1/campaigns/"+c.ID, "")
		return c.State.Over()
	})
	var about struct{ Paths map[string]map[string]any }
	if err := json.Unmarshal(s.ask("GET", "/api/v1/openapi.json", ""), &about); err != nil || len(about.Paths) < 10 {
		t.Fatalf("%d paths, %v", len(about.Paths), err)
	}
	var files struct{ Files []service.File }
	if err := json.Unmarshal(s.ask("GET", "/api/v1/campaigns/"+c.ID+"/files", ""), &files); err != nil {
		t.Fatal(err)
	}
	where := map[string]bool{} // files that hold the secret
	for _, f := range files.Files {
		where[filepath.Base(f.Name)] = where[filepath.Base(f.Name)] || strings.Contains(string(s.ask("GET", "/api/v1/campaigns/"+c.ID+"/files/"+f.Name, "")), secret)
	}
	if !where["journal.jsonl"] || !where["setup.sh"] || !where["report.json"] {
		t.Fatalf("files with a secret: %v, want the journal, the setup of jobs and the report among them", where)
	}
	paths := []string{"/", "/metrics", "/api/v1/openapi.json", "/debug/pprof/heap"}
	for path, methods := range about.Paths {
		if methods["get"] != nil && !strings.Contains(path, "{name}") {
			paths = append(paths, strings.Replace(path, "{id}", c.ID, 1)+"?library=openmpi&collective=allreduce&a="+c.ID+"&b="+c.ID, strings.Replace(path, "{id}", c.ID, 1))
		}
	}
	for _, f := range files.Files {
		paths = append(paths, "/api/v1/campaigns/"+c.ID+"/files/"+f.Name)
	}
	seen := map[string]string{}
	for _, path := range paths {
		seen[path] = s.look(path, reader)
		if strings.Contains(seen[path], secret) {
			t.Errorf("%s shows a secret: %.300s", path, seen[path])
		}
	}
	events := "/api/v1/campaigns/" + c.ID + "/events"
	for _, name := range []string{`"LIBRARY_KEY=[hidden]"`, `"RUN_KEY=[hidden]"`, `"setup":["[hidden]"]`} {
		if !strings.Contains(seen[events], name) {
			t.Errorf("the header does not say %s", name)
		}
	}
	for _, name := range []string{"openmpi.rules", "selection.csv", "curve.csv"} {
		path := "/api/v1/campaigns/" + c.ID + "/files/" + name
		if want := string(readFile(t, filepath.Join(dir, "state", "campaigns", c.ID, "results", name))); seen[path] != want || !slices.Contains(paths, path) {
			t.Errorf("a reader does not get %s", name)
		}
	}
	for _, name := range []string{"LIBRARY_KEY=", "RUN_KEY=", "SITE_KEY=", "no licence for "} {
		if all := string(s.ask("GET", events, "")); !strings.Contains(all, name+secret) {
			t.Errorf("an operator does not see %s%s in the events", name, secret)
		}
	}
}

// look returns what somebody with a token gets, whatever the status; of a stream that
// does not end what comes first.
func (s *served) look(path, token string) string {
	s.Helper()
	r, err := http.NewRequestWithContext(s.Context(), "GET", s.address+path, nil)
	if err != nil {
		s.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		s.Fatalf("%s: %v", path, err)
	}
	defer answer.Body.Close()
	if strings.HasPrefix(path, "/api/v1/events") {
		first := make([]byte, 64<<10)
		n, _ := answer.Body.Read(first)
		return string(first[:n])
	}
	content, err := io.ReadAll(answer.Body)
	if err != nil {
		s.Fatalf("%s: %v", path, err)
	}
	return string(content)
}
