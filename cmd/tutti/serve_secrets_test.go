package main

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tutti/service"
)

// TestServeSecrets runs a campaign whose file holds secrets wherever one may be, and has
// somebody who may only look ask for everything that the interface describes and for
// every file of the campaign.
func TestServeSecrets(t *testing.T) {
	const secret = "hunter2"
	dir := t.TempDir()
	smallService(t, dir, "tokens: tokens.json\n")
	file := filepath.Join(dir, "small.yaml")
	text := strings.NewReplacer(
		"    version: \"4.0.2\"\n", "    version: \"4.0.2\"\n    env: [\"LIBRARY_KEY="+secret+"\"]\n",
		"runner:\n", "runner:\n  env: [\"RUN_KEY="+secret+"\"]\n  setup: [\"export SITE_KEY="+secret+"\"]\n",
	).Replace(string(readFile(t, file)))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil || strings.Count(text, secret) != 3 {
		t.Fatalf("%v\n%s", err, text)
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
	paths := []string{"/", "/metrics", "/api/v1/openapi.json", "/debug/pprof/heap"}
	for path, methods := range about.Paths {
		if methods["get"] != nil && !strings.Contains(path, "{name}") {
			paths = append(paths, strings.Replace(path, "{id}", c.ID, 1)+"?library=mpich&collective=allreduce&a="+c.ID+"&b="+c.ID, strings.Replace(path, "{id}", c.ID, 1))
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
	for _, name := range []string{"mpich.json", "selection.csv", "curve.csv"} {
		path := "/api/v1/campaigns/" + c.ID + "/files/" + name
		if want := string(readFile(t, filepath.Join(dir, "state", "campaigns", c.ID, "results", name))); seen[path] != want || !slices.Contains(paths, path) {
			t.Errorf("a reader does not get %s", name)
		}
	}
	if all := string(s.ask("GET", events, "")); strings.Count(all, secret) != 3 {
		t.Errorf("an operator sees %d secrets in the events, want 3", strings.Count(all, secret))
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
