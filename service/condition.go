package service

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Seen is what a machine was like when a campaign began.
type Seen struct {
	Libraries []SeenLibrary `json:"libraries,omitempty"`
	Nodes     []string      `json:"nodes,omitempty"` // by name; none where nobody lists them
}

// SeenLibrary is one build of an MPI library.
type SeenLibrary struct {
	Name     string `json:"name"`
	Path     string `json:"path,omitempty"`
	Version  string `json:"version,omitempty"`  // as the file says, or else the campaign file
	Checksum string `json:"checksum,omitempty"` // SHA-256 of the file
}

// Site tells what the machine of a base is like now.
type Site interface {
	See(ctx context.Context, b Base) (Seen, error)
}

// seeTime is what looking at a machine may take.
const seeTime = 30 * time.Second

// see looks at a machine; what it cannot see is an error.
func (s *Service) see(ctx context.Context, b Base) (Seen, error) {
	if s.opt.Site == nil {
		return Seen{}, fmt.Errorf("nobody looks at the machine")
	}
	ctx, stop := context.WithTimeout(ctx, seeTime)
	defer stop()
	return s.opt.Site.See(ctx, b)
}

// decision says whether a scheduled campaign runs, from which campaign it starts,
// and why. The cheapest condition that holds is enough.
func (s *Service) decision(ctx context.Context, b Base) (run bool, from, reason string) {
	s.mu.Lock()
	last, open := s.lastOf(b)
	s.mu.Unlock()
	switch {
	case open != nil:
		return false, "", fmt.Sprintf("campaign %s is %s", open.ID, open.State)
	case last == nil:
		return true, "", "there is no earlier one"
	}
	if b.FromLast {
		from = last.ID
	}
	if b.When == (When{}) {
		return true, from, "no condition is asked for"
	}
	run, reason = s.conditions(ctx, b, last)
	return run, from, reason
}

// lastOf returns the last campaign of a base that is done, and one that is on its
// way; nil for none. It needs the lock.
func (s *Service) lastOf(b Base) (last, open *entry) {
	for _, e := range s.order {
		switch {
		case e.Base != b.Name:
		case e.State == Done && (last == nil || e.Ended.After(last.Ended)):
			last = e
		case !e.State.Over():
			open = e
		}
	}
	return last, open
}

// conditions reports the first that holds, else what each of them found. The last
// campaign is done: nothing of it changes any more.
func (s *Service) conditions(ctx context.Context, b Base, last *entry) (bool, string) {
	var found []string
	if b.When.AgeSeconds > 0 {
		age := s.clock.Now().Sub(last.Ended)
		text := fmt.Sprintf("campaign %s ended %s ago", last.ID, roughly(age))
		if age.Seconds() >= b.When.AgeSeconds {
			return true, text
		}
		found = append(found, text)
	}
	if b.When.Library || b.When.Nodes {
		changed, text := s.changedSince(ctx, b, last)
		if changed {
			return true, text
		}
		found = append(found, text)
	}
	if b.When.Drift > 0 {
		drifted, text := s.drifted(ctx, b, last)
		if drifted {
			return true, text
		}
		found = append(found, text)
	}
	return false, strings.Join(found, "; ")
}

// roughly is a duration for people.
func roughly(d time.Duration) string {
	if d >= 48*time.Hour {
		return fmt.Sprintf("%.0f days", d.Hours()/24)
	}
	return d.Round(time.Second).String()
}

// changedSince compares the machine with what the last campaign saw of it.
func (s *Service) changedSince(ctx context.Context, b Base, last *entry) (bool, string) {
	if last.Seen == nil {
		return false, "what the machine was like then is not known"
	}
	now, err := s.see(ctx, b)
	if err != nil {
		s.log.Warn("machine not seen", "base", b.Name, "error", err)
		return false, "what the machine is like is not known: the service's log says why"
	}
	if b.When.Library {
		if text := libraryChange(last.Seen.Libraries, now.Libraries); text != "" {
			return true, text
		}
	}
	if b.When.Nodes {
		if text := nodeChange(last.Seen.Nodes, now.Nodes); text != "" {
			return true, text
		}
	}
	return false, "the machine is as it was"
}

// libraryChange names the first library that is not what it was, "" for none.
func libraryChange(then, now []SeenLibrary) string {
	for _, n := range now {
		i := slices.IndexFunc(then, func(t SeenLibrary) bool { return t.Name == n.Name })
		if i < 0 {
			return n.Name + " is new"
		}
		switch t := then[i]; {
		case t.Version != n.Version:
			return fmt.Sprintf("%s was version %s and is %s", n.Name, cmp.Or(t.Version, "nothing"), cmp.Or(n.Version, "nothing"))
		case t.Path != n.Path:
			return fmt.Sprintf("%s was %s and is %s", n.Name, cmp.Or(t.Path, "nothing"), cmp.Or(n.Path, "nothing"))
		case t.Checksum != n.Checksum:
			return fmt.Sprintf("%s: the file %s has changed", n.Name, n.Path)
		}
	}
	return ""
}

// nodeChange counts the nodes that came and went, "" for none.
func nodeChange(then, now []string) string {
	missing := func(from, in []string) (n int) {
		for _, name := range from {
			if !slices.Contains(in, name) {
				n++
			}
		}
		return n
	}
	added, gone := missing(now, then), missing(then, now)
	if added == 0 && gone == 0 {
		return ""
	}
	return fmt.Sprintf("of %d nodes %d are gone, %d are new", len(then), gone, added)
}
