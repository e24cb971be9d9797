package api_test

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"syscall"
	"testing"

	"tutti/internal/config"
	"tutti/internal/testutil"
	"tutti/service"
	"tutti/service/api"
)

// serve starts an HTTP server on the loopback interface that serves the API of a backend.
func serve(t *testing.T, b api.Backend, o api.Options) *httptest.Server {
	t.Helper()
	a := testutil.Must(api.New(b, o))(t)
	s := httptest.NewServer(a)
	t.Cleanup(func() { a.Close(); s.Close() })
	return s
}

type answer struct {
	status int
	header http.Header
	body   string
}

// ask sends one request. It does not follow redirects. Each header has the form "Name: value".
func ask(t *testing.T, s *httptest.Server, method, path, body string, headers ...string) answer {
	t.Helper()
	r := testutil.Must(http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(body)))(t)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if name == "Host" {
			r.Host = value
			continue
		}
		r.Header.Set(name, value)
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp := testutil.Must(client.Do(r))(t)
	defer resp.Body.Close()
	content := testutil.Must(io.ReadAll(resp.Body))(t)
	return answer{resp.StatusCode, resp.Header, string(content)}
}

// TestOpenAPI checks that docs/openapi.json equals the OpenAPI document of the API. go test -update writes
// the file.
func TestOpenAPI(t *testing.T) {
	a := testutil.Must(api.New(newFake(), api.Options{Version: "test"}))(t)
	content := testutil.Must(a.OpenAPI())(t)
	var document map[string]any
	testutil.NoError(t, json.Unmarshal(content, &document))
	if v := document["openapi"]; v != "3.1.0" {
		t.Errorf("openapi %v, want 3.1.0", v)
	}
	content = testutil.Must(json.MarshalIndent(document, "", "  "))(t)
	testutil.CheckGolden(t, "../../../docs/openapi.json", append(content, '\n'))
	served := ask(t, serve(t, newFake(), api.Options{Version: "test"}), "GET", "/api/v1/openapi.json", "")
	if served.status != http.StatusOK || !json.Valid([]byte(served.body)) {
		t.Errorf("GET openapi.json: %d %s", served.status, served.body)
	}
}

// TestAnswers sends many requests. It checks the status and a part of the body of each answer.
func TestAnswers(t *testing.T) {
	f := newFake()
	f.files["mpich/bcast.json"] = "{}"
	s := serve(t, f, api.Options{Version: "1.2.3"})
	tests := []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"GET", "/version", "", 200, `{"version":"1.2.3","api":"v1"}`},
		{"GET", "/me", "", 200, `{"name":"","role":"operate","login":false}`},
		{"GET", "/bases", "", 200, `{"bases":[{"name":"night"`},
		{"GET", "/schedule", "", 200, `{"schedule":[{"base":"night"`},
		{"GET", "/node-hours", "", 200, `{"campaign":40,"day":120,"spent":83.8,"reserved":26.2,"remaining":10,"until":"`},
		{"GET", "/campaigns", "", 200, `{"campaigns":[{"id":"c2"`},
		{"GET", "/campaigns?state=done", "", 200, `{"campaigns":[{"id":"c1"`},
		{"GET", "/campaigns?state=failed", "", 200, `{"campaigns":[],"seq":`},
		{"GET", "/campaigns?state=lost", "", 422, `"location":"query.state"`},
		{"GET", "/campaigns?limit=1", "", 200, `"next":"c2","seq":`},
		{"GET", "/campaigns?limit=1&after=c2", "", 200, `{"campaigns":[{"id":"c1"`},
		{"GET", "/campaigns?after=c9", "", 422, `"location":"query.after"`},
		{"GET", "/campaigns?limit=0", "", 422, `"location":"query.limit"`},
		{"GET", "/campaigns?limit=1001", "", 422, `"location":"query.limit"`},
		{"GET", "/campaigns?bogus=1", "", 422, `bogus`},
		{"GET", "/campaigns/c1", "", 200, `"state":"done"`},
		{"GET", "/campaigns/c9", "", 404, `no such campaign: \"c9\"`},
		{"GET", "/campaigns/c1/measurements", "", 200, `{"measurements":[]}`},
		{"GET", "/campaigns/c9/measurements", "", 404, `no such campaign`},
		{"GET", "/campaigns/c9/measurements?format=csv", "", 404, `no such campaign`},
		{"GET", "/campaigns/c1/selection", "", 200, `{"selections":[{"problem":{"library":"mpich"`},
		{"GET", "/campaigns/c2/selection", "", 404, `nothing to show yet`},
		{"GET", "/campaigns/c1/selection?collective=reduce", "", 404, `no such problem`},
		{"GET", "/campaigns/c1/predictions?library=mpich&collective=bcast", "", 200, `{"predictions":[{"collective":"bcast","nodes":2`},
		{"GET", "/campaigns/c1/predictions?library=mpich", "", 422, `"location":"query.collective"`},
		{"GET", "/campaigns/c1/files", "", 200, `{"name":"mpich/bcast.json"`},
		{"GET", "/campaigns/c1/files/mpich/bcast.json", "", 200, `{}`},
		{"GET", "/campaigns/c1/files/mpich%2Fbcast.json", "", 200, `{}`},
		{"POST", "/campaigns/c2/pause", "", 200, `"state":"paused"`},
		{"POST", "/campaigns/c2/pause", "", 409, `not possible in this state`},
		{"POST", "/campaigns/c2/resume", "", 200, `"state":"running"`},
		{"POST", "/campaigns/c2/cancel", "", 200, `"state":"cancelled"`},
		{"POST", "/campaigns/c9/cancel", "", 404, `no such campaign`},
		{"GET", "/campaigns/c2/cancel", "", 405, `GET is not possible here`},
		{"POST", "/version", "", 405, `POST is not possible here`},
		{"DELETE", "/campaigns/c1", "", 200, `"state":"deleted"`},
		{"DELETE", "/campaigns/c2", "", 409, `not possible in this state: campaign c2 is`},
		{"DELETE", "/campaigns", "", 405, `DELETE is not possible here`},
		{"GET", "/nothing", "", 404, `no such page`},
		{"POST", "/campaigns", `{"base":"night","name":"x"}`, 201, `"name":"x"`},
		{"POST", "/campaigns", `{"base":"other"}`, 422, `want one of night, demo","location":"body.base"`},
		{"POST", "/campaigns", `{}`, 422, `"location":"body"`},
		{"POST", "/campaigns", `{"base":"night","file":"/etc/passwd"}`, 422, `"location":"body.file"`},
		{"POST", "/campaigns", `{"base":"night","set":{"stop.slowdown":7}}`, 422, `"location":"body.set.stop.slowdown"`},
		{"POST", "/campaigns", `{"base":"night","name":"` + strings.Repeat("x", 201) + `"}`, 422, `"location":"body.name"`},
		{"POST", "/campaigns", `{"base":`, 400, `application/problem`},
		{"POST", "/campaigns", "", 400, `body`},
	}
	for _, tc := range tests {
		t.Run(tc.method+" "+tc.path+" "+tc.body[:min(len(tc.body), 40)], func(t *testing.T) {
			got := ask(t, s, tc.method, "/api/v1"+tc.path, tc.body)
			if got.status != tc.status {
				t.Fatalf("status %d, want %d: %s", got.status, tc.status, got.body)
			}
			kind := got.header.Get("Content-Type")
			if got.status >= 400 && kind != "application/problem+json" {
				t.Errorf("Content-Type %q, want application/problem+json", kind)
			}
			if tc.want != "application/problem" && !strings.Contains(got.body, tc.want) {
				t.Errorf("answer %s, want it to have %s", got.body, tc.want)
			}
			if strings.Contains(got.body, "/etc/secret") {
				t.Errorf("answer names a path of the machine: %s", got.body)
			}
		})
	}
}

func TestIdempotencyKey(t *testing.T) {
	s := serve(t, newFake(), api.Options{})
	post := func(body string) (answer, service.Campaign) {
		got := ask(t, s, "POST", "/api/v1/campaigns", body, "Idempotency-Key: k1")
		var c service.Campaign
		testutil.NoError(t, json.Unmarshal([]byte(got.body), &c))
		return got, c
	}
	first, made := post(`{"base":"night","name":"a"}`)
	if first.status != 201 || first.header.Get("Location") != "/api/v1/campaigns/"+made.ID {
		t.Errorf("first request: %d, Location %q", first.status, first.header.Get("Location"))
	}
	again, same := post(`{"name":"a","base":"night"}`)
	if again.status != 200 || same.ID != made.ID {
		t.Errorf("same request: %d with campaign %s, want 200 with %s", again.status, same.ID, made.ID)
	}
	if other, _ := post(`{"base":"night","name":"b"}`); other.status != 409 {
		t.Errorf("other request: %d, want 409", other.status)
	}
}

// TestErrors checks that each kind of backend error leads to the right HTTP status. No answer may contain the
// text of an internal error.
func TestErrors(t *testing.T) {
	tests := []struct {
		err    error
		status int
		retry  string
		want   string // part of the answer
	}{
		{service.ErrQueueFull, 429, "5", "too many"},
		{service.ErrDraining, 503, "5", "shutting down"},
		{service.ErrQuota, 409, "", "not enough node-hours"},
		{service.ErrKey, 409, "", "idempotency key"},
		{&config.FieldError{Field: "set.stop.slowdown", Text: "want more than 1"}, 422, "", `"message":"want more than 1","location":"body.set.stop.slowdown"`},
		{errors.New("open /home/anna/secret: input/output error"), 500, "", "internal error"},
		{&fs.PathError{Op: "write", Path: "/home/anna/state", Err: syscall.ENOSPC}, 507, "", "disk"},
	}
	for _, tc := range tests {
		f := newFake()
		f.err = tc.err
		got := ask(t, serve(t, f, api.Options{}), "POST", "/api/v1/campaigns", `{"base":"night"}`)
		if got.status != tc.status || got.header.Get("Retry-After") != tc.retry {
			t.Errorf("%v: %d, Retry-After %q, want %d, %q", tc.err, got.status, got.header.Get("Retry-After"), tc.status, tc.retry)
		}
		if strings.Contains(got.body, "anna") || !strings.Contains(got.body, tc.want) {
			t.Errorf("%v: %s, want no path and %s", tc.err, got.body, tc.want)
		}
	}
}

// TestVerifyBody checks that a request to verify needs no body, and that it hands on a limit.
func TestVerifyBody(t *testing.T) {
	for _, tc := range []struct {
		body, want string
		status     int
		give       []service.Verification
	}{
		{"", `"state":"queued"`, 200, []service.Verification{{}}},
		{"{}", `"state":"queued"`, 200, []service.Verification{{}}},
		{`{"machine_time":"2h"}`, `"state":"queued"`, 200, []service.Verification{{MachineTime: "2h"}}},
		{`{"machine_tim":"2h"}`, `"location":"body.machine_tim"`, 422, nil},
		{`{"machine_time":2}`, `"location":"body.machine_time"`, 422, nil},
	} {
		f := newFake()
		got := ask(t, serve(t, f, api.Options{}), "POST", "/api/v1/campaigns/c1/verify", tc.body)
		if got.status != tc.status || !strings.Contains(got.body, tc.want) || !slices.Equal(f.verified, tc.give) {
			t.Errorf("%q: %d %s, given %v; want %d %s, given %v", tc.body, got.status, got.body, f.verified, tc.status, tc.want, tc.give)
		}
	}
}
