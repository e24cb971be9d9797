package service

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"tutti/journal"
)

// learntKept is how many problems' views stay in memory; one of a large problem
// takes about 1 MB.
const learntKept = 64

// viewCache asks for one view at a time and keeps what was answered.
type viewCache struct {
	views Views
	turn  chan struct{} // holds one token

	mu    sync.Mutex
	kept  map[viewKey]*view
	order []viewKey // oldest first
}

type viewKey struct {
	id      string
	problem journal.Problem
}

// view is what was learnt after a round.
type view struct {
	round  int
	learnt Learnt
	busy   bool // a later one is being made
	ready  bool
}

func newViewCache(v Views) *viewCache {
	c := &viewCache{views: v, turn: make(chan struct{}, 1), kept: map[viewKey]*view{}}
	c.turn <- struct{}{}
	return c
}

// get returns what is known after a round. Where something older is known it
// returns that at once and has the newer made meanwhile; else it waits.
func (c *viewCache) get(ctx context.Context, key viewKey, dir string, round int) (Learnt, error) {
	c.mu.Lock()
	v, known := c.kept[key]
	if !known {
		v = &view{}
		c.keep(key, v)
	}
	if v.ready {
		defer c.mu.Unlock()
		if v.round < round && !v.busy {
			v.busy = true
			go func() { _, _ = c.make(context.WithoutCancel(ctx), key, v, dir, round) }()
		}
		return v.learnt, nil
	}
	c.mu.Unlock()
	return c.make(ctx, key, v, dir, round)
}

// keep needs the lock.
func (c *viewCache) keep(key viewKey, v *view) {
	c.kept[key] = v
	c.order = append(c.order, key)
	if len(c.order) > learntKept {
		delete(c.kept, c.order[0])
		c.order = c.order[1:]
	}
}

// make learns anew when nobody else has while it waited for its turn.
func (c *viewCache) make(ctx context.Context, key viewKey, v *view, dir string, round int) (Learnt, error) {
	select {
	case <-c.turn:
	case <-ctx.Done():
		return Learnt{}, ctx.Err()
	}
	defer func() { c.turn <- struct{}{} }()
	c.mu.Lock()
	if v.ready && v.round >= round {
		defer c.mu.Unlock()
		return v.learnt, nil
	}
	c.mu.Unlock()
	learnt, err := c.views.Learnt(ctx, dir, key.problem)
	c.mu.Lock()
	defer c.mu.Unlock()
	v.busy = false
	if err != nil {
		return Learnt{}, err
	}
	learnt.Selection.Problem, learnt.Selection.Round = key.problem, round
	v.learnt, v.round, v.ready = learnt, round, true
	return learnt, nil
}

// learnt returns what a campaign has learnt of a problem.
func (s *Service) learnt(ctx context.Context, id string, p journal.Problem) (Learnt, error) {
	t, err := s.tracked(id)
	if err != nil {
		return Learnt{}, err
	}
	if !slices.Contains(t.digest.Problems(), p) {
		return Learnt{}, fmt.Errorf("%w: %s in campaign %s", ErrNoProblem, p, id)
	}
	round := t.digest.evaluated(p)
	if round == 0 || s.views.views == nil {
		return Learnt{}, fmt.Errorf("%w: nothing learnt of %s yet", ErrNotYet, p)
	}
	s.mu.Lock()
	dir := s.campaigns[id].results()
	s.mu.Unlock()
	return s.views.get(ctx, viewKey{id, p}, dir, round)
}

// Selection returns what a campaign selects for a problem as of its last
// evaluation, or of the one before while the new one is being made. The first
// call trains models and may take seconds. Errors match ErrNoCampaign,
// ErrNoProblem or ErrNotYet.
func (s *Service) Selection(ctx context.Context, id string, p journal.Problem) (Selection, error) {
	l, err := s.learnt(ctx, id, p)
	return l.Selection, err
}

// Predictions returns what each algorithm is expected to take, as Selection does.
func (s *Service) Predictions(ctx context.Context, id string, p journal.Problem) ([]Prediction, error) {
	l, err := s.learnt(ctx, id, p)
	return l.Predictions, err
}

// Problems returns the problems of a campaign in the order of their names; none
// before it has begun.
func (s *Service) Problems(id string) ([]journal.Problem, error) {
	t, err := s.tracked(id)
	if err != nil {
		return nil, err
	}
	return t.digest.Problems(), nil
}
