package main

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tutti/internal/testutil"
	"tutti/service"
)

// secret is the value of every secret in the campaign files of these tests.
const secret = "hunter2"

// secretService writes a service file and a campaign file with secrets. Job scripts contain them,
// and a failing benchmark prints one.
func secretService(t *testing.T, dir string) {
	t.Helper()
	fakeService(t, dir, "tokens: tokens.json\n")
	file := filepath.Join(dir, "small.yaml")
	text := strings.NewReplacer(
		"launcher_path: mpirun}", "launcher_path: mpirun, env: [LIBRARY_KEY="+secret+"]}",
		"runner: {", "runner: {env: [RUN_KEY="+secret+"], setup: [export SITE_KEY="+secret+"], ",
	).Replace(string(readFile(t, file)))
	crash := "#!/bin/sh\necho no licence for $RUN_KEY >&2\nexit 3\n"
	testutil.NoError(t, errors.Join(os.WriteFile(file, []byte(text), 0o600), os.WriteFile(filepath.Join(dir, "osu", "osu_alltoall"), []byte(crash), 0o700)))
}

// newToken creates a token with a role.
func newToken(t *testing.T, dir, role string) string {
	t.Helper()
	stdout, _ := mustTutti(t, codeDone, "token", "create", "-c", filepath.Join(dir, "service.yaml"), role, "--role", role)
	return strings.TrimSpace(stdout)
}

// readSecrets runs the campaign of secretService. It checks that a user with the role "read" finds no secret in
// any answer of the API or file of the campaign. It returns the service, the campaign and this user's token.
func readSecrets(t *testing.T, dir string) (s *served, c service.Campaign, reader string) {
	t.Helper()
	reader = newToken(t, dir, "read")
	s = serve(t, dir)
	s.token = newToken(t, dir, "operate")
	c = s.campaign("POST", "/api/v1/campaigns", `{"base":"small"}`)
	s.await("the campaign ends", func() bool {
		c = s.campaign("GET", "/api/v1/campaigns/"+c.ID, "")
		return c.State.Over()
	})
	for _, path := range append(s.paths(c.ID), s.filesOf(c.ID)...) {
		if seen := s.look(path, reader); strings.Contains(seen, secret) {
			t.Errorf("%s shows a secret: %.300s", path, seen)
		}
	}
	return s, c, reader
}

func TestServeSecrets(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	secretService(t, dir)
	s, c, reader := readSecrets(t, dir)
	s.checkOperatorSeesSecrets(c.ID, s.filesOf(c.ID))
	header, _, _ := strings.Cut(s.look("/api/v1/campaigns/"+c.ID+"/events", reader), "\n\nid: 2")
	for _, name := range []string{`"LIBRARY_KEY=[hidden]"`, `"RUN_KEY=[hidden]"`, `"setup":["[hidden]"]`} {
		if !strings.Contains(header, name) {
			t.Errorf("the header does not say %s: %s", name, header)
		}
	}
	for _, name := range []string{"openmpi.rules", "selection.csv", "curve.csv"} {
		want := string(readFile(t, filepath.Join(dir, "state", "campaigns", c.ID, "results", name)))
		if s.look("/api/v1/campaigns/"+c.ID+"/files/"+name, reader) != want {
			t.Errorf("a reader does not get %s", name)
		}
	}
}

// TestServeSecretsWithoutStart checks that users with the role "read" do not see the output of a launcher that
// starts no program.
func TestServeSecretsWithoutStart(t *testing.T) {
	testutil.NeedAllCases(t)
	dir := t.TempDir()
	secretService(t, dir)
	broken := "#!/bin/sh\necho \"no licence for $RUN_KEY\" >&2\nexit 127\n"
	testutil.NoError(t, os.WriteFile(filepath.Join(dir, "mpirun"), []byte(broken), 0o700))
	s, c, _ := readSecrets(t, dir)
	if events := string(s.ask("GET", "/api/v1/campaigns/"+c.ID+"/events", "")); !strings.Contains(events, "no licence for "+secret) {
		t.Errorf("an operator sees %s, want the output of the launcher", events)
	}
}

// filesOf returns the paths of all files of a campaign.
func (s *served) filesOf(id string) (paths []string) {
	s.Helper()
	var files struct{ Files []service.File }
	testutil.NoError(s, json.Unmarshal(s.ask("GET", "/api/v1/campaigns/"+id+"/files", ""), &files))
	for _, f := range files.Files {
		paths = append(paths, "/api/v1/campaigns/"+id+"/files/"+f.Name)
	}
	return paths
}

// checkOperatorSeesSecrets checks that users with the role "operate" see secrets in files and events.
func (s *served) checkOperatorSeesSecrets(id string, files []string) {
	s.Helper()
	holds := map[string]bool{}
	for _, path := range files {
		name := filepath.Base(path)
		holds[name] = holds[name] || strings.Contains(string(s.ask("GET", path, "")), secret)
	}
	if !holds["journal.jsonl"] || !holds["setup.sh"] || !holds["report.json"] {
		s.Fatalf("files with a secret: %v, want the journal, the setup of jobs and the report among them", holds)
	}
	events := string(s.ask("GET", "/api/v1/campaigns/"+id+"/events", ""))
	for _, name := range []string{"LIBRARY_KEY=", "RUN_KEY=", "SITE_KEY=", "no licence for "} {
		if !strings.Contains(events, name+secret) {
			s.Errorf("an operator does not see %s%s in the events", name, secret)
		}
	}
}

// paths returns all paths of the API except files, with and without queries.
func (s *served) paths(id string) []string {
	s.Helper()
	var about struct{ Paths map[string]map[string]any }
	if err := json.Unmarshal(s.ask("GET", "/api/v1/openapi.json", ""), &about); err != nil || len(about.Paths) < 10 {
		s.Fatalf("%d paths, %v", len(about.Paths), err)
	}
	out := []string{"/", "/metrics", "/api/v1/openapi.json", "/debug/pprof/heap"}
	for path, methods := range about.Paths {
		if methods["get"] != nil && !strings.Contains(path, "{name}") {
			path = strings.Replace(path, "{id}", id, 1)
			out = append(out, path, path+"?library=openmpi&collective=allreduce", path+"?a="+id+"&b="+id)
		}
	}
	return out
}

// look sends a request with a token and returns the response, whatever its status is. The event stream of
// the service never ends, so look returns only the first part.
func (s *served) look(path, token string) string {
	s.Helper()
	r := testutil.Must(http.NewRequestWithContext(s.Context(), "GET", s.address+path, nil))(s)
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
