package service

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// Probe is what tutti drift found: a small batch of a campaign measured again.
type Probe struct {
	Candidates int     `json:"candidates"` // measured again
	Failed     int     `json:"failed"`
	Change     float64 `json:"change"` // median of |new time over old - 1|
	Ratio      float64 `json:"ratio"`  // geometric mean of new time over old

	NodeSeconds float64 `json:"node_seconds"` // what it took of the machine
}

// drifted has a small batch of the last campaign measured again, when the machine
// is free.
func (s *Service) drifted(ctx context.Context, b Base, last *entry) (bool, string) {
	dir := filepath.Join(s.opt.State, probesDir, b.Name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return false, err.Error()
	}
	s.mu.Lock()
	if holder := s.machines[b.Machine]; holder != "" {
		s.mu.Unlock()
		return false, "drift was not looked at: the machine is busy with " + holder
	}
	if b.Ask.Measures && s.nodeHours().Left == 0 {
		s.mu.Unlock()
		return false, "drift was not looked at: the node-hours of today are spent or promised"
	}
	s.machines[b.Machine] = "a probe of " + b.Name
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.machines, b.Machine)
		s.dispatch()
		s.mu.Unlock()
	}()
	output := filepath.Join(dir, probeFileName)
	err := s.once(ctx, filepath.Join(dir, logName), output, "verify", last.results(), "--drift", "16", "--format", "json")
	var p Probe
	if err == nil {
		p, err = readProbe(output)
	}
	if err != nil {
		s.log.Warn("drift not seen", "base", b.Name, "error", err)
		return false, "drift was not seen: the service's log says why"
	}
	if b.Ask.Measures {
		s.probed(b, p)
	}
	return p.Change >= b.When.Drift, fmt.Sprintf("%d measurements made again differ by %.1f %%, times are %.3f of what they were",
		p.Candidates, 100*p.Change, p.Ratio)
}

func readProbe(path string) (Probe, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return Probe{}, err
	}
	var p Probe
	if err := json.Unmarshal(content, &p); err != nil {
		return Probe{}, fmt.Errorf("%s: %w", path, err)
	}
	if p.Candidates == 0 {
		return Probe{}, fmt.Errorf("nothing was measured, %d failed", p.Failed)
	}
	return p, nil
}
