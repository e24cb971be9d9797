package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"tutti/service"
	"tutti/service/client"
)

// keeper keeps one campaign running on every machine until the deadline, then
// cancels them.
type keeper struct {
	c        *client.Client
	deadline time.Time
	done     chan struct{}

	mu      sync.Mutex
	made    [][]string // IDs by machine
	over    bool
	changed chan struct{}
	err     error
}

func newKeeper(c *client.Client, machines int, deadline time.Time) *keeper {
	return &keeper{c: c, deadline: deadline, done: make(chan struct{}), made: make([][]string, machines), changed: make(chan struct{})}
}

func (k *keeper) run(ctx context.Context) {
	defer close(k.done)
	var wg sync.WaitGroup
	for machine := range k.made {
		wg.Go(func() {
			for seed := 1; time.Now().Before(k.deadline) && ctx.Err() == nil; seed++ {
				if err := k.one(ctx, machine, seed); err != nil {
					k.note(func() { k.err = errors.Join(k.err, err) })
					return
				}
			}
		})
	}
	wg.Wait()
	k.note(func() { k.over = true })
}

// note changes what is known and tells those who wait.
func (k *keeper) note(change func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	change()
	close(k.changed)
	k.changed = make(chan struct{})
}

// one makes a campaign and stays until it is over.
func (k *keeper) one(ctx context.Context, machine, seed int) error {
	made, err := k.c.Create(ctx, service.Request{
		Base: baseName(machine), Name: fmt.Sprintf("load %d", seed), Set: map[string]string{"seed": strconv.Itoa(100*machine + seed)},
	}, "")
	if err != nil {
		return err
	}
	k.note(func() { k.made[machine] = append(k.made[machine], made.ID) })
	cancelled := false
	for {
		c, err := k.c.Campaign(ctx, made.ID)
		switch {
		case err != nil:
			return err
		case c.State == service.Failed:
			return fmt.Errorf("campaign %s failed: %s", c.ID, c.Error)
		case c.State.Over():
			return nil
		}
		if !cancelled && time.Now().After(k.deadline) {
			_, err := k.c.Cancel(ctx, made.ID)
			var refused *client.Error
			if err != nil && !errors.As(err, &refused) { // refused: it has just ended
				return err
			}
			cancelled = true
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// after returns the campaign made on a machine after the first n, or "" when there
// will be none; it waits for it.
func (k *keeper) after(ctx context.Context, machine, n int) string {
	for {
		k.mu.Lock()
		made, over, changed := k.made[machine], k.over, k.changed
		k.mu.Unlock()
		switch {
		case len(made) > n:
			return made[n]
		case over:
			return ""
		}
		select {
		case <-ctx.Done():
			return ""
		case <-changed:
		}
	}
}

// latest returns a campaign that runs, or "" before there is one.
func (k *keeper) latest(n int) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	made := k.made[n%len(k.made)]
	if len(made) == 0 {
		return ""
	}
	return made[len(made)-1]
}

func (k *keeper) all() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	var out []string
	for _, ids := range k.made {
		out = append(out, ids...)
	}
	return out
}

// watched is how many streams there are when each of so many clients sees all
// campaigns of its machine.
func (k *keeper) watched(clients int) int {
	k.mu.Lock()
	defer k.mu.Unlock()
	n := 0
	for i := range clients {
		n += len(k.made[i%len(k.made)])
	}
	return n
}

func (k *keeper) wait() error {
	<-k.done
	return k.err
}
