// Command tutti tunes MPI collectives. With few measurements it learns which algorithm is fastest
// at each number of nodes, processes per node and message size. It writes the selection files that
// MPICH and Open MPI load.
package main

import (
	"context"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

func main() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	received := make(chan os.Signal, 1)
	signal.Notify(received, endSignals()...)
	go endAtSignal(received, outputClosed, cancel, func() { signal.Reset(os.Interrupt, syscall.SIGTERM, syscall.SIGQUIT) })
	os.Exit(Main(ctx, os.Args[1:], os.Environ(), os.Stdout, os.Stderr))
}

// endAtSignal calls `cancel` at the first signal that ends a campaign, and `release` a second later, after which a second
// Ctrl-C ends the process at once. timeout(1) sends each signal to the process and to its group, so the second may
// follow within a millisecond. A client of serve that closes its connection causes SIGPIPE, too: it counts only if
// `closed` reports that nobody reads the output. SIGHUP and SIGPIPE are never released, because a terminal that hangs up
// may send SIGHUP twice, and each line for a pipe that nobody reads causes another SIGPIPE.
func endAtSignal(received <-chan os.Signal, closed func() bool, cancel, release func()) {
	for s := range received {
		if s != syscall.SIGPIPE || closed() {
			break
		}
	}
	cancel()
	time.Sleep(time.Second)
	release()
}

// outputClosed reports whether nobody reads standard output or standard error any more.
func outputClosed() bool {
	files := []unix.PollFd{{Fd: int32(syscall.Stdout)}, {Fd: int32(syscall.Stderr)}}
	n, err := unix.Poll(files, 0)
	return err == nil && n > 0
}

// endSignals returns the signals that end a Go program by default. Those that the parent ignores are left out, such
// as SIGHUP under nohup(1).
func endSignals() []os.Signal {
	all := []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGPIPE}
	caught := slices.DeleteFunc(all, signal.Ignored)
	if len(caught) == 0 {
		return []os.Signal{syscall.SIGTERM} // Notify without a signal means all signals
	}
	return caught
}
