package service

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"tutti/coll"
	"tutti/journal"
)

// track follows the journal of one campaign: its lines as events, and what they
// amount to.
type track struct {
	row    *row
	digest *digest

	mu   sync.Mutex
	err  error // why it cannot be read any further
	told bool  // that it cannot
}

func newTrack(path string) *track {
	return &track{row: newRow(path, rowBytes), digest: newDigest()}
}

// advance takes in what the journal has got since the last time.
func (t *track) advance() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err != nil {
		return t.err
	}
	var broken error
	err := t.row.advance(func(e Event) {
		if err := t.digest.add(e); err != nil && broken == nil {
			broken = err
		}
	})
	if err == nil && broken != nil {
		err = fmt.Errorf("%s: %w", t.row.path, broken)
	}
	t.err = err
	return err
}

// tellOnce reports whether nobody was told yet that the journal cannot be read.
func (t *track) tellOnce() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	told := t.told
	t.told = true
	return !told
}

// tracked returns the track of a campaign, up to date as of the last look when it
// runs, as of now otherwise.
func (s *Service) tracked(id string) (*track, error) {
	s.mu.Lock()
	e, err := s.entry(id)
	if err != nil {
		s.mu.Unlock()
		return nil, err
	}
	t := s.trackOf(e)
	running := e.process != nil
	s.mu.Unlock()
	if running && t.row.count() > 0 {
		return t, nil
	}
	return t, t.advance()
}

// idleTracks is how many campaigns that are over stay in memory.
const idleTracks = 8

// trackOf needs the lock. The track of a campaign that is over may be forgotten: it
// does not grow, and the next one is the same.
func (s *Service) trackOf(e *entry) *track {
	if e.track == nil {
		e.track = newTrack(e.journal())
		e.track.row.end(e.State.Over())
	}
	if i := slices.Index(s.idle, e); i >= 0 {
		s.idle = slices.Delete(s.idle, i, i+1)
	}
	if e.State.Over() {
		s.idle = append(s.idle, e)
	}
	if len(s.idle) > idleTracks {
		s.idle[0].forget()
		s.idle = slices.Delete(s.idle, 0, 1)
	}
	return e.track
}

// Feed returns the events of a campaign, the lines of its journal.
func (s *Service) Feed(id string) (Feed, error) {
	t, err := s.tracked(id)
	if err != nil {
		return nil, err
	}
	return t.row, nil
}

// Rounds returns the rounds of all problems in the order they began.
func (s *Service) Rounds(id string) ([]Round, error) {
	t, err := s.tracked(id)
	if err != nil {
		return nil, err
	}
	return t.digest.Rounds(), nil
}

// Measurements returns what was measured, in the order of the journal: at most
// limit of those whose Seq is above after, all of them for a limit of zero. They are
// read from the journal each time, O(lines) where few of them are wanted behind many.
func (s *Service) Measurements(id string, after int64, limit int) ([]Measurement, error) {
	t, err := s.tracked(id)
	if err != nil {
		return nil, err
	}
	page := rowPage
	if limit > 0 {
		page = min(page, 2*limit)
	}
	out := []Measurement{}
	for last := t.row.Last(); after < last; {
		events, _ := t.row.After(after, page)
		if len(events) == 0 {
			return nil, fmt.Errorf("%s: line %d cannot be read", t.row.path, after+1)
		}
		for _, e := range events {
			m, ok, err := measurementOf(e)
			if err != nil {
				return nil, fmt.Errorf("%s:%d: %w", t.row.path, e.Seq, err)
			}
			if ok {
				out = append(out, m)
			}
			if len(out) == limit && limit > 0 {
				return out, nil
			}
		}
		after = events[len(events)-1].Seq
	}
	return out, nil
}

// measurementOf returns what was measured by a line of a journal, if anything was.
func measurementOf(e Event) (m Measurement, ok bool, err error) {
	if e.Type != string(journal.KindTrial) {
		return Measurement{}, false, nil
	}
	var r journal.Record
	if err := json.Unmarshal(e.Data, &r); err != nil {
		return Measurement{}, false, err
	}
	if r.Trial == nil || r.Trial.State != coll.TrialDone {
		return Measurement{}, false, nil
	}
	return Measurement{Seq: e.Seq, Library: r.Problem.Library, Round: r.Round, Measurement: r.Trial.Measurement}, true, nil
}

// Curve returns the evaluations of all problems in the order they were made.
func (s *Service) Curve(id string) ([]CurvePoint, error) {
	t, err := s.tracked(id)
	if err != nil {
		return nil, err
	}
	return t.digest.Curve(), nil
}

// Jobs returns the jobs of a campaign in the order they began; none of one that
// is not measured by jobs.
func (s *Service) Jobs(id string) ([]Job, error) {
	t, err := s.tracked(id)
	if err != nil {
		return nil, err
	}
	return t.digest.Jobs(), nil
}
