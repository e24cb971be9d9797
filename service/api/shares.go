package api

import (
	"context"
	"sync"
	"time"
)

// shares divides a limited number of places among tokens.
type shares struct {
	mu    sync.Mutex
	count map[string]int // places in use by name of the token
	most  int            // of one token, 0: no limit
	all   int            // of all tokens, 0: no limit
	sum   int
	freed chan struct{} // closed and replaced when a place becomes free
}

func newShares(most, all int) *shares {
	return &shares{count: map[string]int{}, most: most, all: all, freed: make(chan struct{})}
}

// enter takes a place for a token and reports whether the token may have it. The caller must call the function `leave`
// when it needs the place no longer. A token may not have more places than are still free for all tokens, so a few
// tokens cannot take all of them.
//
// Source: Choudhury and Hahne, Dynamic queue length thresholds for shared-memory packet switches (IEEE/ACM
// Transactions on Networking 6, 1998), with the factor 1.
func (s *shares) enter(token string) (leave func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.most > 0 && s.count[token] >= s.most || s.all > 0 && s.count[token] >= s.all-s.sum {
		return nil, false
	}
	s.count[token]++
	s.sum++
	return func() { s.leave(token) }, true
}

func (s *shares) leave(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sum--
	if s.count[token]--; s.count[token] == 0 {
		delete(s.count, token)
	}
	close(s.freed)
	s.freed = make(chan struct{})
}

// await is enter, but waits for a place until ctx is cancelled or the time `patience` has passed.
func (s *shares) await(ctx context.Context, token string, patience time.Duration) (leave func(), ok bool) {
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	for {
		s.mu.Lock()
		freed := s.freed
		s.mu.Unlock()
		if leave, ok := s.enter(token); ok {
			return leave, true
		}
		select {
		case <-freed:
		case <-timeout.C:
			return nil, false
		case <-ctx.Done():
			return nil, false
		}
	}
}

// inUse returns the number of places that are in use.
func (s *shares) inUse() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sum
}
