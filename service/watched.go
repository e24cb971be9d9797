package service

import (
	"path/filepath"
	"slices"
	"time"
	"tutti/online"
)

// Watched is a folder in which jobs leave samples of their collectives. A table is made of
// them when new ones have come.
type Watched struct {
	Name    string        `json:"name"`
	Folder  string        `json:"folder,omitempty"`
	Base    string        `json:"base,omitempty"` // its last campaign is a source of the table; drift starts the next
	Release string        `json:"release,omitempty"`
	Exclude []string      `json:"exclude,omitempty"` // algorithms
	Every   time.Duration `json:"-"`                 // how often it is looked at
	Drift   float64       `json:"drift,omitzero"`    // a campaign of the base begins when applications differ from its last one by this part, in the median
}

// Online is a watched folder and what was made of it.
type Online struct {
	Watched
	Looked   time.Time      `json:"looked,omitzero"`    // when the service looked last
	Error    string         `json:"error,omitempty"`    // why there is no newer table
	Decision string         `json:"decision,omitempty"` // about a campaign
	Report   *online.Report `json:"report,omitempty"`   // of the last update, nil before any
}

// Redacted is the folder as those see it who may only look: without paths and names of nodes.
func (o Online) Redacted() Online {
	o.Folder = ""
	if o.Error != "" {
		o.Error = "the reason is shown to those who may operate"
	}
	if o.Report == nil {
		return o
	}
	r := *o.Report
	r.Jobs, r.TimeChanges, r.Drift = slices.Clone(r.Jobs), slices.Clone(r.TimeChanges), slices.Clone(r.Drift)
	for i := range r.Jobs {
		r.Jobs[i].File = ""
	}
	for i := range r.TimeChanges {
		r.TimeChanges[i].Job = ""
	}
	for i := range r.Drift {
		r.Drift[i].Source = ""
	}
	o.Report = &r
	return o
}

// Online returns the watched folders in the order of the configuration.
func (s *Service) Online() []Online {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := []Online{}
	for _, w := range s.opt.Online {
		k := s.online[w.Name]
		out = append(out, Online{Watched: w, Looked: k.Looked, Error: k.Error, Decision: k.Decision, Report: k.Report})
	}
	return out
}

// keptOnline is what online.json of a watched folder holds.
type keptOnline struct {
	Looked   time.Time      `json:"looked"`
	Seen     string         `json:"seen"` // digest of what the last update was made of
	Error    string         `json:"error,omitempty"`
	Decision string         `json:"decision,omitempty"`
	Report   *online.Report `json:"report,omitempty"`
}

func (s *Service) onlineFolder(w Watched) string {
	return filepath.Join(s.opt.State, onlineDir, w.Name)
}
