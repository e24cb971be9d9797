package api

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Limits bound what clients can take from the service: the holder of a token, or else
// an address. Zeros mean the defaults.
type Limits struct {
	Rate             float64       // requests a second of one client on average, default 100
	Burst            int           // and at once, default 500
	Clients          int           // remembered at a time, default 10000
	Streams          int           // open event streams, default 1000
	StreamsPerClient int           // default half of them
	Heartbeat        time.Duration // between comments on an idle stream, default 15 s
}

func (l Limits) withDefaults() Limits {
	set := func(v *int, d int) {
		if *v <= 0 {
			*v = d
		}
	}
	if l.Rate <= 0 {
		l.Rate = 100
	}
	set(&l.Burst, 500)
	set(&l.Clients, 10_000)
	set(&l.Streams, 1000)
	set(&l.StreamsPerClient, max(1, l.Streams/2))
	if l.Heartbeat <= 0 {
		l.Heartbeat = 15 * time.Second
	}
	return l
}

// limiter gives every client a bucket of its own. It remembers a bounded number of
// them: when all places are taken, those whose bucket is full again are forgotten,
// which changes nothing for them, and new clients share one bucket while there
// are none of those.
type limiter struct {
	limits Limits
	now    func() time.Time

	mu     sync.Mutex
	of     map[string]*rate.Limiter
	shared *rate.Limiter
	swept  time.Time
}

func newLimiter(l Limits) *limiter {
	return &limiter{limits: l, now: time.Now, of: map[string]*rate.Limiter{}, shared: rate.NewLimiter(rate.Limit(l.Rate), l.Burst)}
}

func (l *limiter) allow(client string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	bucket, known := l.of[client]
	if !known {
		if len(l.of) >= l.limits.Clients && now.Sub(l.swept) >= time.Second {
			l.sweep(now)
		}
		if len(l.of) >= l.limits.Clients {
			return l.shared.AllowN(now, 1)
		}
		bucket = rate.NewLimiter(rate.Limit(l.limits.Rate), l.limits.Burst)
		l.of[client] = bucket
	}
	return bucket.AllowN(now, 1)
}

func (l *limiter) sweep(now time.Time) {
	l.swept = now
	for client, bucket := range l.of {
		if bucket.TokensAt(now) >= float64(l.limits.Burst) {
			delete(l.of, client)
		}
	}
}
