package service

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"unicode"

	"tutti/internal/exitcode"
	"tutti/journal"
)

// maxSet and maxValue bound what a request may carry.
const (
	maxSet   = 32
	maxValue = 1000
	maxKey   = 200
)

// Create makes a campaign that waits for its machine. A key that is not empty
// makes asking again harmless: the same request with the same key gives the
// campaign that it gave before, and made says false.
//
// The error is a *FieldError, or matches ErrNoBase, ErrNoCampaign (of From),
// ErrKey, ErrFull, ErrSpent or ErrDraining.
func (s *Service) Create(_ context.Context, r Request, key string) (c Campaign, made bool, err error) {
	if len(key) > maxKey || !isText(key) {
		return Campaign{}, false, &FieldError{"Idempotency-Key", fmt.Sprintf("want at most %d characters that can be printed", maxKey)}
	}
	return s.create(r, key, "asked for")
}

func (s *Service) create(r Request, key, reason string) (c Campaign, made bool, err error) {
	base, budget, err := s.check(r)
	if err != nil {
		return Campaign{}, false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if e, known := s.keys[key]; known && key != "" {
		if e.Asked != digestOf(r) {
			return Campaign{}, false, fmt.Errorf("%w: campaign %s", ErrKey, e.ID)
		}
		return e.show(), false, nil
	}
	if s.draining {
		return Campaign{}, false, ErrDraining
	}
	if r.From != "" {
		if err := s.checkFrom(r.From); err != nil {
			return Campaign{}, false, err
		}
	}
	if n := s.waiting(); n >= s.opt.Waiting {
		return Campaign{}, false, fmt.Errorf("%w: %d", ErrFull, n)
	}
	if err := s.refuse(budget); err != nil {
		return Campaign{}, false, err
	}
	e := &entry{kept: kept{Campaign: Campaign{
		ID: s.newID(), Name: r.Name, Base: base.Name, Machine: base.Machine, State: Queued, Exit: exitcode.Unknown, Reason: reason,
		Set: r.Set, From: r.From, Created: s.clock.Now().UTC(), NodeHours: budget,
	}, Key: key}}
	if key != "" {
		e.Asked = digestOf(r)
	}
	if err := s.enrol(e); err != nil {
		return Campaign{}, false, err
	}
	s.dispatch()
	return e.show(), true, nil
}

// enrol gives a new campaign its folder and tells of it. It needs the lock.
func (s *Service) enrol(e *entry) error {
	e.dir = filepath.Join(s.opt.State, campaignsDir, e.ID)
	if err := os.Mkdir(e.dir, 0o700); err != nil {
		return err
	}
	if err := e.save(); err != nil {
		return errors.Join(err, os.RemoveAll(e.dir))
	}
	s.add(e)
	s.tell(e)
	return nil
}

// check looks at the request alone. It returns the base and the budget of node-hours.
func (s *Service) check(r Request) (Base, float64, error) {
	if len(r.Name) > 200 || !isText(r.Name) {
		return Base{}, 0, &FieldError{"name", "want at most 200 characters that can be printed"}
	}
	base, err := s.base(r.Base)
	if err != nil {
		return Base{}, 0, err
	}
	if len(r.Set) > maxSet {
		return Base{}, 0, &FieldError{"set", fmt.Sprintf("%d keys: want at most %d", len(r.Set), maxSet)}
	}
	for key, value := range r.Set {
		if len(key)+len(value) > maxValue || !isText(key) || !isText(value) {
			return Base{}, 0, &FieldError{"set", fmt.Sprintf("want keys and values of at most %d characters that can be printed", maxValue)}
		}
	}
	budget, err := s.budget(base, r.Set)
	return base, budget, err
}

// checkFrom needs the lock.
func (s *Service) checkFrom(id string) error {
	e, err := s.entry(id)
	if err != nil {
		return &FieldError{"from", err.Error()}
	}
	if e.State != Done {
		return &FieldError{"from", fmt.Sprintf("campaign %s is %s: want one that is done", id, e.State)}
	}
	return nil
}

func isText(s string) bool {
	return !slices.ContainsFunc([]rune(s), func(r rune) bool { return r == unicode.ReplacementChar || !unicode.IsPrint(r) })
}

// waiting needs the lock.
func (s *Service) waiting() int {
	n := 0
	for _, e := range s.order {
		if e.State == Queued {
			n++
		}
	}
	return n
}

// newID needs the lock.
func (s *Service) newID() string {
	for {
		id := journal.NewID()
		if _, taken := s.campaigns[id]; !taken {
			return id
		}
	}
}

// args are those of tutti for the next process of a campaign. It needs the lock.
func (s *Service) args(e *entry) ([]string, error) {
	if e.begun() {
		return []string{"resume", e.results()}, nil
	}
	base, err := s.base(e.Base)
	if err != nil {
		return nil, err
	}
	if e.NodeHours, err = s.budget(base, e.Set); err != nil { // the file may have changed since
		return nil, err
	}
	set := map[string]string{}
	maps.Copy(set, e.Set)
	if e.limited() {
		set["stop.node_hours"] = strconv.FormatFloat(e.NodeHours, 'g', -1, 64)
	}
	args := []string{"tune", "-c", base.File, "--out", e.results(), "--yes"}
	for _, key := range slices.Sorted(maps.Keys(set)) {
		args = append(args, "--set", key+"="+set[key])
	}
	if e.From != "" {
		from, err := s.entry(e.From)
		if err != nil {
			return nil, err
		}
		args = append(args, "--from", from.results())
	}
	return args, nil
}
