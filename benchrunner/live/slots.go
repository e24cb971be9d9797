package live

import (
	"context"
	"sync"
)

// slots count the jobs at the scheduler. The zero value has no limit.
type slots struct {
	mu    sync.Mutex
	limit int // zero: none
	used  int
	freed chan struct{} // closed when a slot may have become free
}

func (s *slots) setLimit(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limit = n
	s.wake()
}

// wake is called with the lock held.
func (s *slots) wake() {
	if s.freed != nil {
		close(s.freed)
		s.freed = nil
	}
}

// acquire waits for a free slot. After an error none was taken.
func (s *slots) acquire(ctx context.Context) error {
	for ctx.Err() == nil {
		s.mu.Lock()
		if s.limit == 0 || s.used < s.limit {
			s.used++
			s.mu.Unlock()
			return nil
		}
		if s.freed == nil {
			s.freed = make(chan struct{})
		}
		freed := s.freed
		s.mu.Unlock()
		select {
		case <-freed:
		case <-ctx.Done():
		}
	}
	return ctx.Err()
}

// take is for a job that is there already.
func (s *slots) take() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used++
}

func (s *slots) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used--
	s.wake()
}
