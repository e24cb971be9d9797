package main

import (
	"bufio"
	"bytes"
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

	"tutti/service/client"
)

// served is a tutti serve that runs as a process of its own.
type served struct {
	cmd *exec.Cmd
	url string
	dir string
	log string // file
}

const serviceFile = `state: state
listen: 127.0.0.1:0
pprof: true
limits:
  rate: 10000
  burst: 10000
  streams: 10000
bases:
`

// start runs a service with one base for each machine.
func start(ctx context.Context, p load) (*served, error) {
	var file bytes.Buffer
	file.WriteString(serviceFile)
	for i := range p.machines {
		fmt.Fprintf(&file, "  - name: %s\n    file: %s\n    machine: %s\n", baseName(i), strconv.Quote(p.campaign), baseName(i))
	}
	config := filepath.Join(p.dir, "service.yaml")
	if err := os.WriteFile(config, file.Bytes(), 0o600); err != nil {
		return nil, err
	}
	s := &served{cmd: exec.Command(p.tutti, "serve", "-c", config), dir: p.dir, log: filepath.Join(p.dir, "serve.log")}
	log, err := os.Create(s.log)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	s.cmd.Stderr = log
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	if s.url, err = address(ctx, s.log); err != nil {
		s.stop()
		return nil, err
	}
	return s, nil
}

func baseName(i int) string { return "m" + strconv.Itoa(i+1) }

// address waits for the line of the log that says where the service listens.
func address(ctx context.Context, log string) (string, error) {
	for range 300 {
		f, err := os.Open(log)
		if err != nil {
			return "", err
		}
		lines := bufio.NewScanner(f)
		for lines.Scan() {
			var line struct{ Msg, Address string }
			if json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == "listening" {
				f.Close()
				return line.Address, nil
			}
		}
		f.Close()
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
	content, _ := os.ReadFile(log)
	return "", fmt.Errorf("the service does not listen: %s", bytes.TrimSpace(content))
}

// client returns one whose connections nobody else uses.
func (s *served) client() (*client.Client, error) {
	return client.New(s.url, client.Options{HTTP: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}}})
}

func (s *served) stop() {
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	timer := time.AfterFunc(time.Minute, func() { _ = s.cmd.Process.Kill() })
	defer timer.Stop()
	_ = s.cmd.Wait()
}

// journal is the file that a campaign's events are the lines of.
func (s *served) journal(id string) string {
	return filepath.Join(s.dir, "state", "campaigns", id, "results", "journal.jsonl")
}

// weight is the memory of the service at one time, bytes.
type weight struct {
	resident int64 // of the process
	live     int64 // what a collection found in use
}

// weigh looks at the memory of the service once a second, until the deadline.
func (s *served) weigh(ctx context.Context, deadline time.Time) <-chan []weight {
	out := make(chan []weight, 1)
	go func() {
		var seen []weight
		for time.Now().Before(deadline) && ctx.Err() == nil {
			live, err := s.live(ctx)
			if n, ok := resident(s.cmd.Process.Pid); ok && err == nil {
				seen = append(seen, weight{n, live})
			}
			time.Sleep(time.Second)
		}
		out <- seen
	}()
	return out
}

// live has the service collect its garbage and asks what was in use.
func (s *served) live(ctx context.Context) (int64, error) {
	if _, err := s.text(ctx, "/debug/pprof/heap?gc=1"); err != nil {
		return 0, err
	}
	metrics, err := s.text(ctx, "/metrics")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(metrics) {
		if rest, ok := strings.CutPrefix(line, "go_gc_heap_live_bytes "); ok {
			v, err := strconv.ParseFloat(strings.TrimSpace(rest), 64)
			return int64(v), err
		}
	}
	return 0, errors.New("/metrics lacks go_gc_heap_live_bytes")
}

func (s *served) text(ctx context.Context, path string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+path, nil)
	if err != nil {
		return "", err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	content, err := io.ReadAll(resp.Body)
	return string(content), err
}

// resident reads how much memory a process holds.
func resident(pid int) (int64, bool) {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(content)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			n, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
			return n << 10, err == nil
		}
	}
	return 0, false
}
