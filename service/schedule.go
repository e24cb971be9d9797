package service

import (
	"context"
	"time"
)

// planned is what the schedule knows of one base.
type planned struct {
	Scheduled
}

// Seen is what a machine was like when a campaign began.
type Seen struct {
	Libraries []SeenLibrary `json:"libraries,omitempty"`
	Nodes     []string      `json:"nodes,omitempty"` // none where nobody lists them
}

// SeenLibrary is one build of an MPI library.
type SeenLibrary struct {
	Name     string `json:"name"`
	Path     string `json:"path,omitempty"`
	Version  string `json:"version,omitempty"`  // as the file says
	Checksum string `json:"checksum,omitempty"` // SHA-256 of the file
}

// Site tells what the machine of a base is like now.
type Site interface {
	// See looks at the libraries and nodes of a base.
	See(ctx context.Context, b Base) (Seen, error)
}

func (s *Service) loadSchedule() error { return nil }

func (s *Service) startSchedule(context.Context) error { return nil }

func (s *Service) stopSchedule() {}

// Schedule returns what is planned of each base that has a schedule.
func (s *Service) Schedule() []Scheduled {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := []Scheduled{}
	for _, b := range s.opt.Bases {
		if b.Schedule != "" {
			out = append(out, Scheduled{Base: b.Name, Schedule: b.Schedule, TimeZone: b.TimeZone})
		}
	}
	return out
}

var _ time.Time
