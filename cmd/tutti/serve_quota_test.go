package main

import (
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"tutti/activelearn"
	"tutti/internal/testutil"
	"tutti/journal"
	"tutti/service"
)

// TestServeQuota checks that a campaign stops at its budget, which is the whole quota. After a restart, the
// service must still count the cost of the campaign and refuse larger requests.
func TestServeQuota(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fakeService(t, dir, "node_hours: {campaign: 0.001, day: 0.0012}\n") // 3.6 and 4.32 node-seconds
	fakePace(t, dir, "0.2")
	first := serve(t, dir)
	c := first.campaign("POST", "/api/v1/campaigns", `{"base":"small"}`)
	first.await("the campaign ends", func() bool {
		c = first.campaign("GET", "/api/v1/campaigns/"+c.ID, "")
		return c.State.Over()
	})
	if c.NodeHours != 0.001 || c.Progress.NodeSeconds < 1 {
		t.Errorf("the campaign is %+v", c)
	}
	checkBudget(t, filepath.Join(dir, "state", "campaigns", c.ID, "results"), c.State)
	first.end(syscall.SIGTERM)
	second := serve(t, dir)
	var hours service.NodeHours
	testutil.NoError(t, json.Unmarshal(second.ask("GET", "/api/v1/node-hours", ""), &hours))
	if took := c.Progress.NodeSeconds / 3600; hours.Spent < took-1e-9 || hours.Spent > took+1e-9 {
		t.Errorf("%+v, want %g node-hours spent", hours, took)
	}
	for body, status := range map[string]int{ // the first two exceed the quota of a campaign
		`{"base":"small","set":{"stop.node_hours":"0.002"}}`:                 http.StatusUnprocessableEntity,
		`{"base":"small","set":{"grid.nodes":"1,1000"}}`:                     http.StatusUnprocessableEntity,
		`{"base":"small","set":{"stop.slowdown":"1.0001","grid.ppn":"2,3"}}`: http.StatusConflict,
	} {
		answer := testutil.Must(http.Post(second.address+"/api/v1/campaigns", "application/json", strings.NewReader(body)))(t)
		text, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil || answer.StatusCode != status {
			t.Errorf("%s: %s %s %v, want %d", body, answer.Status, text, err, status)
		}
	}
	second.end(syscall.SIGTERM)
}

// checkBudget checks in the journal that a campaign had a budget of 0.001 node-hours and stopped because of
// it.
func checkBudget(t *testing.T, results string, state service.State) {
	t.Helper()
	contents := testutil.Must(journal.Read(results))(t)
	var spec struct {
		Stop struct {
			NodeHours float64 `json:"node_hours"`
		}
	}
	if err := json.Unmarshal(contents.Header.Spec, &spec); err != nil || spec.Stop.NodeHours != 0.001 {
		t.Errorf("the journal begins with a budget of %g, %v, want 0.001", spec.Stop.NodeHours, err)
	}
	stopped := slices.ContainsFunc(recordsOf(t, results), func(r journal.Record) bool { return r.Stop == string(activelearn.Budget) })
	if state != service.Failed && !stopped {
		t.Errorf("the campaign is %s, and no problem was stopped by the budget", state)
	}
}
