// Command tutti-load puts a tutti serve under load and says whether it bears it:
// many clients watch events, others read, while replayed campaigns run. It ends
// with 1 when a target is missed.
//
//	go run ./cmd/tutti-load --tutti bin/tutti --campaign configs/demo.yaml
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

// load is what is put on the service and what it must bear.
type load struct {
	tutti    string        // program
	campaign string        // file that is replayed, with other seeds again and again
	dir      string        // of the service's state
	machines int           // campaigns at a time
	clients  int           // that watch
	rate     float64       // reads a second
	time     time.Duration // of the load
	drop     time.Duration // mean time until a client drops its connection
	p99      time.Duration // of reads, at most
	growth   float64       // of live memory, at most, MiB
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, out, errs io.Writer) int {
	p, keep, err := parse(args, errs)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		fmt.Fprintln(errs, "tutti-load:", err)
		return 2
	}
	if !keep {
		defer os.RemoveAll(p.dir)
	}
	f, err := p.measure(ctx)
	if err != nil {
		fmt.Fprintln(errs, "tutti-load:", err)
		return 1
	}
	f.print(out, p)
	missed := f.missed(p)
	for _, m := range missed {
		fmt.Fprintln(out, "MISSED:", m)
	}
	if len(missed) > 0 {
		return 1
	}
	fmt.Fprintln(out, "all targets met")
	return 0
}

func parse(args []string, errs io.Writer) (p load, keep bool, err error) {
	flags := flag.NewFlagSet("tutti-load", flag.ContinueOnError)
	flags.SetOutput(errs)
	flags.StringVar(&p.tutti, "tutti", "bin/tutti", "the program")
	flags.StringVar(&p.campaign, "campaign", "configs/demo.yaml", "campaign file that is replayed")
	flags.StringVar(&p.dir, "dir", "", "folder of the service, kept afterwards; default a temporary one")
	flags.IntVar(&p.machines, "campaigns", 2, "campaigns at a time")
	flags.IntVar(&p.clients, "clients", 200, "clients that watch events")
	flags.Float64Var(&p.rate, "rate", 50, "reads a second")
	flags.DurationVar(&p.time, "time", time.Minute, "how long")
	flags.DurationVar(&p.drop, "drop", 10*time.Second, "mean time until a client drops its connection and comes back")
	flags.DurationVar(&p.p99, "p99", 50*time.Millisecond, "target: latency of 99 of 100 reads")
	flags.Float64Var(&p.growth, "growth", 2, "target: growth of live memory from the second to the last quarter, MiB; what is kept of the journals included")
	if err := flags.Parse(args); err != nil {
		return p, false, err
	}
	switch {
	case flags.NArg() > 0:
		return p, false, fmt.Errorf("unknown argument %q", flags.Arg(0))
	case p.machines < 1 || p.clients < 1 || p.rate <= 0 || p.time < time.Second || p.drop <= 0:
		return p, false, errors.New("want at least one campaign, one client, some reads and a second")
	}
	for _, path := range []*string{&p.tutti, &p.campaign} {
		if *path, err = filepath.Abs(*path); err != nil {
			return p, false, err
		}
	}
	keep = p.dir != ""
	if keep {
		err = os.MkdirAll(p.dir, 0o700)
	} else {
		p.dir, err = os.MkdirTemp("", "tutti-load-")
	}
	if err == nil {
		p.dir, err = filepath.Abs(p.dir)
	}
	return p, keep, err
}

// measure runs the load and returns what was seen.
func (p load) measure(ctx context.Context) (*figures, error) {
	s, err := start(ctx, p)
	if err != nil {
		return nil, err
	}
	defer s.stop()
	c, err := s.client()
	if err != nil {
		return nil, err
	}
	if _, err := c.Version(ctx); err != nil { // waits until it answers
		return nil, fmt.Errorf("%w; its log is %s", err, s.log)
	}
	f := &figures{cores: runtime.NumCPU(), before: loadAverage()}
	deadline := time.Now().Add(p.time)
	k := newKeeper(c, p.machines, deadline)
	reads, memory := newReader(s.url, k), s.weigh(ctx, deadline)
	watchers := newWatchers(s, p, k)
	go k.run(ctx)
	go reads.run(ctx, p.rate, deadline)
	watchers.run(ctx) // until all campaigns have ended and everybody has seen it
	f.reads, f.learnt = reads.wait()
	f.memory = <-memory
	if err := k.wait(); err != nil {
		return nil, err
	}
	f.campaigns = k.all()
	f.watched = watchers.check()
	return f, ctx.Err()
}
