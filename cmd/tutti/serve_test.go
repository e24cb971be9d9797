package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"tutti/campaign/verification"
	"tutti/internal/testutil"
	"tutti/internal/testutil/campaigntest"
	"tutti/service"
)

// smallService writes a service file into a folder. The campaigns of the service extend small.yaml.
func smallService(t *testing.T, dir, more string) {
	t.Helper()
	campaigntest.Small(t, dir)
	serviceFile(t, dir, more)
}

// fakeService writes a service file into a folder. The campaigns of the service run fake benchmarks.
func fakeService(t *testing.T, dir, more string) {
	t.Helper()
	campaigntest.Fake(t, dir, "local")
	serviceFile(t, dir, more)
}

func serviceFile(t *testing.T, dir, more string) {
	t.Helper()
	text := "state: state\nlisten: 127.0.0.1:0\nbases:\n  - name: small\n    file: small.yaml\n" + more
	testutil.NoError(t, os.WriteFile(filepath.Join(dir, "service.yaml"), []byte(text), 0o600))
}

// served is a running process of tutti serve.
type served struct {
	*testing.T
	cmd     *exec.Cmd
	log     lockedBuffer
	address string
	token   string // of requests, "" for none
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// serve starts a service and waits until it listens.
func serve(t *testing.T, dir string) *served {
	t.Helper()
	s := &served{T: t, cmd: exec.Command("tutti", "serve", "-c", "service.yaml")}
	s.cmd.Dir, s.cmd.Stderr = dir, &s.log
	testutil.NoError(t, s.cmd.Start())
	t.Cleanup(func() { _ = s.cmd.Process.Kill(); _ = s.cmd.Wait() })
	s.await("it listens", func() bool {
		for line := range strings.Lines(s.log.String()) {
			var entry struct{ Msg, Address string }
			if json.Unmarshal([]byte(line), &entry) == nil && entry.Msg == "listening" {
				s.address = entry.Address
			}
		}
		return s.address != ""
	})
	return s
}

func (s *served) await(what string, holds func() bool) {
	s.Helper()
	for deadline := time.Now().Add(testutil.HangTimeout); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.Fatalf("waited too long until %s\n%s", what, s.log.String())
		}
	}
}

// ask sends a request and returns the answer. An HTTP status of 300 or more fails the test.
func (s *served) ask(method, path, body string) []byte {
	s.Helper()
	r := testutil.Must(http.NewRequestWithContext(s.Context(), method, s.address+path, strings.NewReader(body)))(s)
	r.Header.Set("Content-Type", "application/json")
	if s.token != "" {
		r.Header.Set("Authorization", "Bearer "+s.token)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		s.Fatalf("%v\n%s", err, s.log.String())
	}
	defer answer.Body.Close()
	content, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode >= 300 {
		s.Fatalf("%s %s: %s %s %v", method, path, answer.Status, content, err)
	}
	return content
}

func (s *served) campaign(method, path, body string) service.Campaign {
	s.Helper()
	var c service.Campaign
	testutil.NoError(s, json.Unmarshal(s.ask(method, path, body), &c))
	return c
}

// end sends a signal to the service and returns its exit code.
func (s *served) end(signal os.Signal) exitCode {
	s.Helper()
	testutil.NoError(s, s.cmd.Process.Signal(signal))
	return codeOfProcess(s, s.cmd.Wait())
}

// TestServeKilled kills the service, with and without the process of its campaign. It checks that the
// next service completes the campaign with the same files as an undisturbed campaign.
func TestServeKilled(t *testing.T) {
	t.Parallel()
	want := reference(t)
	lines := journalLines(t, want)
	for _, both := range []bool{false, true} {
		t.Run(fmt.Sprintf("both %t", both), func(t *testing.T) {
			dir := t.TempDir()
			smallService(t, dir, "")
			first := serve(t, dir)
			c := first.campaign("POST", "/api/v1/campaigns", `{"base":"small","name":"night"}`)
			folder := filepath.Join(dir, "state", "campaigns", c.ID)
			results := filepath.Join(folder, "results")
			first.await("the campaign is half done", func() bool { return journalLines(t, results) > lines/2 })
			if code := first.end(syscall.SIGKILL); code != -1 {
				t.Fatalf("the killed service ended with %d\n%s", code, first.log.String())
			}
			if both {
				killCampaign(t, folder)
			}
			second := serve(t, dir)
			second.await("the campaign ends", func() bool {
				c = second.campaign("GET", "/api/v1/campaigns/"+c.ID, "")
				return c.State.Over()
			})
			if c.State != service.Done || !c.Converged {
				t.Fatalf("the campaign ended as %+v\n%s", c, second.log.String())
			}
			compareFinal(t, want, results)
			if got := second.ask("GET", "/api/v1/campaigns/"+c.ID+"/files/mpich.json", ""); !bytes.Equal(got, readFile(t, filepath.Join(want, "mpich.json"))) {
				t.Error("the file that is downloaded differs")
			}
			checkAnswer(t, second, c.ID)
			if code := second.end(syscall.SIGTERM); code != codeDone {
				t.Errorf("exit code %d after SIGTERM, want 0\n%s", code, second.log.String())
			}
		})
	}
}

// TestServeCommands pauses, resumes and cancels a long campaign. It also checks that the service has all
// metrics that the dashboard shows.
func TestServeCommands(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	smallService(t, dir, "")
	s := serve(t, dir)
	c := s.campaign("POST", "/api/v1/campaigns", `{"base":"small","set":{"stop.slowdown":"1","stop.patience":"1000","strategy.batch":"1","strategy.growth":"0"}}`)
	path := "/api/v1/campaigns/" + c.ID
	until := func(what string, holds func() bool) {
		t.Helper()
		s.await(what, func() bool {
			c = s.campaign("GET", path, "")
			if c.State == service.Done || c.State == service.Failed {
				t.Fatalf("the campaign is %+v", c)
			}
			return holds()
		})
	}
	until("it is judged", func() bool { return c.Progress.Slowdown > 0 })
	metrics := string(s.ask("GET", "/metrics", ""))
	s.ask("POST", path+"/pause", "")
	until("it is paused", func() bool { return c.State == service.Paused })
	trials := c.Progress.Trials
	if c.Exit != codeCancelled || trials == 0 {
		t.Errorf("the paused campaign is %+v", c)
	}
	s.ask("POST", path+"/resume", "")
	until("it goes on", func() bool { return c.Progress.Trials > trials })
	s.ask("POST", path+"/cancel", "")
	until("it is cancelled", func() bool { return c.State == service.Cancelled })
	if c.Error != "" {
		t.Errorf("the cancelled campaign says %q", c.Error)
	}
	checkDashboard(t, metrics+string(s.ask("GET", "/metrics", "")))
	if code := s.end(syscall.SIGTERM); code != codeDone {
		t.Errorf("exit code %d after SIGTERM, want 0", code)
	}
}

// checkDashboard checks that the metrics of the service include each metric that the dashboard shows.
func checkDashboard(t *testing.T, metrics string) {
	t.Helper()
	asked := regexp.MustCompile(`\b(tutti|go|process)_[a-z_]+\b`).FindAllString(string(readFile(t, "../../contrib/grafana/tutti.json")), -1)
	if len(asked) < 10 {
		t.Fatalf("the dashboard asks for %v", asked)
	}
	for _, name := range asked {
		if !strings.Contains(metrics, "\n"+name+"{") && !strings.Contains(metrics, "\n"+name+" ") {
			t.Errorf("the dashboard asks for %s, which the service does not have", name)
		}
	}
}

// killCampaign kills the process of a campaign.
func killCampaign(t *testing.T, folder string) {
	t.Helper()
	var kept struct{ Process struct{ PID int } }
	if err := json.Unmarshal(readFile(t, filepath.Join(folder, "campaign.json")), &kept); err != nil || kept.Process.PID <= 1 {
		t.Fatalf("process %d: %v", kept.Process.PID, err)
	}
	if err := syscall.Kill(kept.Process.PID, syscall.SIGKILL); err != nil && err != syscall.ESRCH {
		t.Fatal(err)
	}
}

// checkAnswer compares the selection that the API returns with the file selection.csv.
func checkAnswer(t *testing.T, s *served, id string) {
	t.Helper()
	var answer struct{ Selections []service.Selection }
	testutil.NoError(t, json.Unmarshal(s.ask("GET", "/api/v1/campaigns/"+id+"/selection", ""), &answer))
	answers := map[string]string{}
	for _, selection := range answer.Selections {
		for _, c := range selection.Cells {
			answers[fmt.Sprintf("%s,%s,%d,%d,%d", selection.Problem.Library, selection.Problem.Collective, c.Nodes, c.PPN, c.MsgBytes)] = c.Algorithm
		}
	}
	file := string(s.ask("GET", "/api/v1/campaigns/"+id+"/files/selection.csv", ""))
	rows := 0
	for line := range strings.Lines(file) {
		cells := strings.Split(strings.TrimSpace(line), ",")
		if cells[0] == "library" {
			continue
		}
		rows++
		if got := answers[strings.Join(cells[:5], ",")]; got != cells[5] && !strings.Contains(line, `"`) {
			t.Errorf("selection at %v: the API has %q, the file has %q", cells[:5], got, cells[5])
		}
	}
	if rows == 0 || rows != len(answers) {
		t.Errorf("the API has %d choices, the file has %d", len(answers), rows)
	}
}

func TestDrift(t *testing.T) {
	dir := reference(t)
	var d verification.Drift
	stdout, _ := mustTutti(t, codeDone, "verify", dir, "--drift", "40", "--format", "json")
	if err := json.Unmarshal([]byte(stdout), &d); err != nil || d.Candidates != 40 || d.Failed != 0 {
		t.Fatalf("drift: %s, %v", stdout, err)
	}
	// The configured noise in small.yaml is 2 %.
	if d.Change <= 0.002 || d.Change > 0.06 || d.Ratio < 0.95 || d.Ratio > 1.05 {
		t.Errorf("drift of the same machine is %+v", d)
	}
	mustTutti(t, codeUsage, "verify", dir, "--drift", "0")
	mustTutti(t, codeInput, "verify", t.TempDir(), "--drift", "16")
}
