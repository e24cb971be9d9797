package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/prometheus/procfs"
)

// loadService is a running process of tutti serve.
type loadService struct {
	cmd *exec.Cmd
	url string
	dir string
}

// startService starts a service and waits until it listens. The service has one campaign file for each machine.
func startService(ctx context.Context, o loadOptions) (*loadService, error) {
	var file bytes.Buffer
	file.WriteString("state: state\nlisten: 127.0.0.1:0\npprof: true\nlimits: {connections: 100000, streams: 100000}\nbases:\n")
	for i := range o.Campaigns {
		fmt.Fprintf(&file, "  - {name: %s, machine: %s, file: %q}\n", baseName(i), baseName(i), o.Campaign)
	}
	config := filepath.Join(o.Dir, "service.yaml")
	if err := os.WriteFile(config, file.Bytes(), 0o600); err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(o.Dir, "serve.log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	s := &loadService{cmd: exec.Command(o.Program, "serve", "-c", config), dir: o.Dir}
	s.cmd.Stderr = log
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	if s.url, err = listenAddress(ctx, log.Name()); err != nil {
		s.stop()
		return nil, err
	}
	return s, nil
}

// baseName returns the name of campaign file i of the service. The machine of this file has the same name.
func baseName(i int) string { return "m" + strconv.Itoa(i+1) }

// listenAddress waits until the log contains the address of the service.
func listenAddress(ctx context.Context, log string) (string, error) {
	var content []byte
	for range 300 {
		var err error
		if content, err = os.ReadFile(log); err != nil {
			return "", err
		}
		for line := range bytes.Lines(content) {
			var entry struct{ Msg, Address string }
			if json.Unmarshal(line, &entry) == nil && entry.Msg == "listening" {
				return entry.Address, nil
			}
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
	return "", fmt.Errorf("the service does not listen: %s", bytes.TrimSpace(content))
}

// stop sends SIGTERM to the service. If the service still runs after a minute, stop kills it.
func (s *loadService) stop() {
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	timer := time.AfterFunc(time.Minute, func() { _ = s.cmd.Process.Kill() })
	defer timer.Stop()
	_ = s.cmd.Wait()
}

// journal returns the path of a campaign's journal, which has a line for each event.
func (s *loadService) journal(id string) string {
	return filepath.Join(s.dir, "state", "campaigns", id, "results", "journal.jsonl")
}

// memory is the memory that the service uses at one time, in bytes.
type memory struct {
	resident int64 // resident set size of the process
	live     int64 // in use after a garbage collection
}

// sampleMemory measures the memory of the service once a second until the deadline.
func (s *loadService) sampleMemory(ctx context.Context, deadline time.Time) (samples []memory) {
	c := s.client()
	for time.Now().Before(deadline) && ctx.Err() == nil {
		if m, err := s.memory(ctx, c); err == nil {
			samples = append(samples, m)
		}
		time.Sleep(time.Second)
	}
	return samples
}

// memory measures the memory of the service after a garbage collection.
func (s *loadService) memory(ctx context.Context, c *client) (memory, error) {
	var metrics bytes.Buffer
	_, err := c.get(ctx, "/debug/pprof/heap?gc=1", io.Discard)
	if err == nil {
		_, err = c.get(ctx, "/metrics", &metrics)
	}
	if err != nil {
		return memory{}, err
	}
	process, err := procfs.NewProc(s.cmd.Process.Pid)
	if err != nil {
		return memory{}, err
	}
	stat, err := process.Stat()
	if err != nil {
		return memory{}, err
	}
	for line := range strings.Lines(metrics.String()) {
		if value, ok := strings.CutPrefix(line, "go_gc_heap_live_bytes "); ok {
			v, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			return memory{resident: int64(stat.ResidentMemory()), live: int64(v)}, err
		}
	}
	return memory{}, errors.New("/metrics contains no go_gc_heap_live_bytes")
}

// client sends requests to the service. Different clients do not share connections.
type client struct {
	http *http.Client
	url  string
}

func (s *loadService) client() *client {
	return &client{url: s.url, http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
}

// get copies the body of a response to out and returns the status.
func (c *client) get(ctx context.Context, path string, out io.Writer) (status int, err error) {
	return c.do(ctx, http.MethodGet, path, nil, out)
}

func (c *client) do(ctx context.Context, method, path string, body []byte, out io.Writer) (status int, err error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, c.url+path, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	r.Header.Set("Content-Type", "application/json")
	answer, err := c.http.Do(r)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	_, err = io.Copy(out, answer.Body)
	return answer.StatusCode, err
}

// campaign has the fields of a campaign in the service's responses.
type campaign struct{ ID, State, Error string }

// call sends a request whose response is a campaign.
func (c *client) call(ctx context.Context, method, path string, body []byte) (campaign, int, error) {
	var answer bytes.Buffer
	status, err := c.do(ctx, method, "/api/v1/campaigns"+path, body, &answer)
	if err != nil {
		return campaign{}, 0, err
	}
	if status >= 300 {
		return campaign{}, status, fmt.Errorf("%s %s: status %d: %s", method, path, status, answer.Bytes())
	}
	var got campaign
	return got, status, json.Unmarshal(answer.Bytes(), &got)
}

// maxLine is the longest line of a stream, in bytes.
const maxLine = 64 << 20

// watch calls the function each for every event of a campaign whose number is greater than after. It returns
// nil after the last event, and an error if the connection ends earlier.
func (c *client) watch(ctx context.Context, id string, after int64, each func(number int64, data []byte)) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("%s/api/v1/campaigns/%s/events?after=%d", c.url, id, after), nil)
	if err != nil {
		return err
	}
	answer, err := c.http.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("events: %s", answer.Status)
	}
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, maxLine)
	var number int64
	var kind string
	var data []byte
	for lines.Scan() {
		name, value, _ := bytes.Cut(lines.Bytes(), []byte(": "))
		switch string(name) {
		case "id":
			if number, err = strconv.ParseInt(string(value), 10, 64); err != nil {
				return err
			}
		case "event":
			kind = string(value)
		case "data":
			data = append(data[:0], value...)
		case "": // an empty line, which ends an event, or a comment
			if kind == "end" {
				return nil
			}
			if kind != "" && len(lines.Bytes()) == 0 {
				each(number, data)
				kind = ""
			}
		}
	}
	return cmp.Or(lines.Err(), io.ErrUnexpectedEOF)
}
