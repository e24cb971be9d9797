package api_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"tutti/service"
	"tutti/service/api"
)

func TestMetrics(t *testing.T) {
	f := newFake()
	f.addCounted("c3", service.Failed, 0).Exit = 3
	s := serve(t, f, api.Options{Version: "1.2.3"})
	ask(t, s, "GET", "/api/v1/campaigns/c1", "")
	ask(t, s, "GET", "/api/v1/campaigns/c9", "")
	ask(t, s, "GET", "/api/v1/campaigns/c1/files/none", "")
	for _, path := range []string{"/made-up-1", "/made-up-2", "/api/v1/made-up"} {
		ask(t, s, "GET", path, "")
	}
	open(t, s, fmt.Sprintf("/api/v1/events?after=%d", f.events.Last()))
	lines := strings.Split(ask(t, s, "GET", "/metrics", "").body, "\n")
	for _, want := range []string{
		`tutti_campaigns{state="done"} 1`, `tutti_campaigns{state="running"} 1`, `tutti_campaigns{state="failed"} 1`, `tutti_campaigns{state="queued"} 0`,
		`tutti_campaign_exits_total{code="0"} 1`, `tutti_campaign_exits_total{code="3"} 1`,
		`tutti_rounds_total{machine="recorded"} 9`, `tutti_measurements_total{machine="recorded"} 27`,
		`tutti_failures_total{cause="launch",machine="recorded"} 6`, `tutti_failures_total{cause="other",machine="recorded"} 3`,
		`tutti_failures_total{cause="run",machine="recorded"} 0`,
		`tutti_machine_seconds_total{machine="recorded"} 120`, `tutti_node_seconds_total{machine="recorded"} 480`, `tutti_jobs{machine="recorded"} 3`,
		`tutti_predicted_slowdown{campaign="c2",machine="recorded",name="night c2"} 1.04`,
		`tutti_node_hours_quota{per="campaign"} 40`, `tutti_node_hours_quota{per="day"} 120`,
		`tutti_node_hours_today{what="spent"} 83.8`, `tutti_node_hours_today{what="reserved"} 26.2`, `tutti_node_hours_today{what="remaining"} 10`,
		`tutti_online_calls{folder="production"} 120`, `tutti_online_jobs{folder="production"} 2`, `tutti_online_stuck{folder="production"} 1`,
		`tutti_online_exploring_ratio{folder="production"} 0.02`, `tutti_online_over_default_ratio{folder="production"} 0.75`,
		`tutti_online_updated_timestamp_seconds{folder="production"} 1.7723232e+09`,
		`tutti_queue_wait_seconds_bucket{le="10"} 0`, `tutti_queue_wait_seconds_bucket{le="60"} 3`, `tutti_queue_wait_seconds_sum 60`, `tutti_queue_wait_seconds_count 3`,
		`tutti_http_request_duration_seconds_count{code="2xx",method="GET",route="/api/v1/campaigns/{id}"} 1`,
		`tutti_http_request_duration_seconds_count{code="4xx",method="GET",route="/api/v1/campaigns/{id}"} 1`,
		`tutti_http_request_duration_seconds_count{code="4xx",method="GET",route="/api/v1/campaigns/{id}/files/{name}"} 1`,
		`tutti_http_request_duration_seconds_count{code="4xx",method="GET",route="other"} 3`,
		`tutti_http_requests_refused_total{cause="auth"} 0`, `tutti_sse_clients 1`, `tutti_sse_events_total 0`,
	} {
		if !slices.Contains(lines, want) {
			t.Errorf("metrics do not contain %s", want)
		}
	}
	for _, line := range lines {
		if strings.Contains(line, "made-up") {
			t.Errorf("a client makes up series: %s", line)
		}
		if strings.HasPrefix(line, "tutti_predicted_slowdown") && !strings.Contains(line, `"c2"`) {
			t.Errorf("slowdown of a campaign that is over: %s", line)
		}
	}
}

func TestReady(t *testing.T) {
	f := newFake()
	s := serve(t, f, api.Options{})
	if got := ask(t, s, "GET", "/readyz", ""); got.status != 200 {
		t.Errorf("readyz: %d", got.status)
	}
	f.ready = errors.New("the service is shutting down")
	if got := ask(t, s, "GET", "/readyz", ""); got.status != 503 || !strings.Contains(got.body, "shutting down") {
		t.Errorf("readyz while it is not: %d %s", got.status, got.body)
	}
	if got := ask(t, s, "GET", "/healthz", ""); got.status != 200 {
		t.Errorf("healthz while it is not ready: %d, want 200", got.status)
	}
}
