package service

import (
	"context"
	"fmt"
	"sync"

	"tutti/journal"
)

// maxLearned is the number of problems whose results are kept in memory. The result of a large problem
// takes about 1 MB.
const maxLearned = 64

// learnedCache keeps the selections and predictions of trained models, so that requests need not train them
// again. It trains the models of only one problem at a time, and only while somebody waits for them. It is safe for
// concurrent use.
type learnedCache struct {
	turn chan struct{} // has one value while models are being trained

	mu       sync.Mutex
	results  map[learnedKey]Learned
	order    []learnedKey // oldest first
	training map[learnedKey]*training
}

type learnedKey struct {
	campaign string // ID
	problem  journal.Problem
}

// training is the training of the models of one problem.
type training struct {
	cancel  context.CancelFunc
	waiting int // callers
	done    chan struct{}
	learned Learned // valid when done is closed
	err     error
}

func newLearnedCache() *learnedCache {
	return &learnedCache{turn: make(chan struct{}, 1), results: map[learnedKey]Learned{}, training: map[learnedKey]*training{}}
}

// get returns the selection and predictions for a problem after the given round. If only an older result is
// stored, get returns the older one and, if no models are being trained, trains models in the background. If there is
// none, it waits until the models are trained.
func (c *learnedCache) get(ctx context.Context, key learnedKey, dir string, round int) (Learned, error) {
	c.mu.Lock()
	old, known := c.results[key]
	if known && old.Selection.Round >= round {
		c.mu.Unlock()
		return old, nil
	}
	if known {
		if len(c.training) == 0 {
			c.startLocked(ctx, key, dir, round).waiting++ // it goes on although nobody waits
		}
		c.mu.Unlock()
		return old, nil
	}
	t := c.training[key]
	if t == nil {
		t = c.startLocked(ctx, key, dir, round)
	}
	t.waiting++
	c.mu.Unlock()
	select {
	case <-t.done:
		return t.learned, t.err
	case <-ctx.Done():
		c.leave(key, t)
		return Learned{}, ctx.Err()
	}
}

// leave ends the training if no other caller waits for it.
func (c *learnedCache) leave(key learnedKey, t *training) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t.waiting--; t.waiting > 0 {
		return
	}
	t.cancel()
	if c.training[key] == t {
		delete(c.training, key)
	}
}

func (c *learnedCache) startLocked(ctx context.Context, key learnedKey, dir string, round int) *training {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	t := &training{cancel: cancel, done: make(chan struct{})}
	c.training[key] = t
	go func() {
		defer close(t.done)
		defer cancel()
		t.learned, t.err = c.train(ctx, key, dir, round)
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.training[key] == t {
			delete(c.training, key)
		}
		if t.err == nil {
			c.storeLocked(key, t.learned)
		}
	}()
	return t
}

// train waits until no other models are being trained, then trains those of a problem. A
// panic becomes an error.
func (c *learnedCache) train(ctx context.Context, key learnedKey, dir string, round int) (learned Learned, err error) {
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return Learned{}, ctx.Err()
	}
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("models of %s: fault in the service: %v", key.problem, fault)
		}
	}()
	learned, err = Learn(ctx, dir, key.problem)
	learned.Selection.Problem, learned.Selection.Round = key.problem, round
	return learned, err
}

// storeLocked keeps a result and forgets the oldest one if there are too many.
func (c *learnedCache) storeLocked(key learnedKey, l Learned) {
	if _, known := c.results[key]; !known {
		c.order = append(c.order, key)
	}
	c.results[key] = l
	if len(c.order) > maxLearned {
		delete(c.results, c.order[0])
		c.order = c.order[1:]
	}
}
