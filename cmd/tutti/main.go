// Command tutti tunes MPI collectives. With few measurements it learns which algorithm is fastest
// at each number of nodes, processes per node and message size. It writes the selection files that
// MPICH and Open MPI load.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the process at once
	os.Exit(Main(ctx, os.Args[1:], os.Environ(), os.Stdout, os.Stderr))
}
