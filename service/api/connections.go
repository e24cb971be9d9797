package api

import (
	"context"
	"crypto/tls"
	"net"
	"sync"
	"time"
)

// connections is a listener that limits the number of open connections. If there are too many, it closes one on which no
// request is being answered: the oldest that has shown no valid token, or else the one that was idle longest. If
// requests are being answered on all of them, further connections wait. A silent connection therefore keeps nobody out.
type connections struct {
	net.Listener
	most int

	mu    sync.Mutex
	open  map[*connection]struct{}
	freed chan struct{} // closed and replaced when a connection is closed or becomes idle
}

// connection is an accepted connection. The lock of its listener guards its fields.
type connection struct {
	net.Conn
	all     *connections
	closing sync.Once
	known   bool      // a request has had a valid token
	busy    int       // requests that are being answered
	since   time.Time // when it was opened, or the last request was answered
}

func limitConnections(l net.Listener, most int) *connections {
	return &connections{Listener: l, most: most, open: map[*connection]struct{}{}, freed: make(chan struct{})}
}

// Accept waits for the next connection and for a place for it.
func (l *connections) Accept() (net.Conn, error) {
	inner, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &connection{Conn: inner, all: l, since: time.Now()}
	for {
		l.mu.Lock()
		victim, full, freed := l.victimLocked(), len(l.open) >= l.most, l.freed
		if !full {
			l.open[c] = struct{}{}
			l.mu.Unlock()
			return c, nil
		}
		l.mu.Unlock()
		if victim != nil {
			victim.Close()
			continue
		}
		<-freed
	}
}

// victimLocked returns the connection that is closed first if there are too many, or nil if all are busy.
func (l *connections) victimLocked() (victim *connection) {
	for c := range l.open {
		if c.busy == 0 && (victim == nil || !c.known && victim.known || c.known == victim.known && c.since.Before(victim.since)) {
			victim = c
		}
	}
	return victim
}

func (l *connections) wakeLocked() {
	close(l.freed)
	l.freed = make(chan struct{})
}

// Close closes the connection and frees its place.
func (c *connection) Close() error {
	c.closing.Do(func() {
		c.all.mu.Lock()
		defer c.all.mu.Unlock()
		delete(c.all.open, c)
		c.all.wakeLocked()
	})
	return c.Conn.Close()
}

// begin notes that a request is being answered. The caller must call the function `end` afterwards.
func (c *connection) begin(known bool) (end func()) {
	c.all.mu.Lock()
	defer c.all.mu.Unlock()
	c.busy++
	c.known = c.known || known
	return func() {
		c.all.mu.Lock()
		defer c.all.mu.Unlock()
		if c.busy--; c.busy == 0 {
			c.since = time.Now()
			c.all.wakeLocked()
		}
	}
}

type connectionKey struct{}

// withConnection stores the connection of a request in the request's context.
func withConnection(ctx context.Context, c net.Conn) context.Context {
	if secure, ok := c.(*tls.Conn); ok {
		c = secure.NetConn()
	}
	if own, ok := c.(*connection); ok {
		return context.WithValue(ctx, connectionKey{}, own)
	}
	return ctx
}

// connectionOf returns the connection of a request, or nil if their number is not limited.
func connectionOf(ctx context.Context) *connection {
	c, _ := ctx.Value(connectionKey{}).(*connection)
	return c
}
