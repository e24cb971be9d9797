package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	_ "time/tzdata" // schedules have time zones, containers may have none

	"github.com/spf13/cobra"

	"tutti/campaign/export"
	"tutti/internal/config"
	"tutti/journal"
	"tutti/mpi/libraries"
	"tutti/service"
	"tutti/service/api"
)

func serveCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve -c FILE",
		Short: "Run campaigns unattended, with a page, an API and metrics",
		Long: `serve runs the campaigns that requests and the schedule of a service file create, one
at a time on each machine; the others wait. The page is at the address of the file,
the API below /api/v1, metrics at /metrics.

Each campaign is a process of its own. It continues when serve dies, and the next
serve adopts it. On SIGTERM serve asks the campaigns to stop and leaves their jobs
with the scheduler; the next serve resumes the campaigns.

serve asks nobody before a campaign begins. node_hours.campaign and node_hours.day of
the service file limit the node-hours of campaigns, by default to 10 and 24.

With --once serve runs the campaigns that are due or wait, and ends without listening:
for scrontab. A base with a schedule is due when its time has passed since the last
decision about it, or when there was none.

Logs go to standard error as JSON lines.`,
		Example: examples(
			"tutti serve -c configs/service-demo.yaml",
			"tutti serve -c service.yaml --once"),
		Args: noArgs,
	}
	var file string
	fileFlag(cmd, &file, "service `FILE` (required)")
	once := cmd.Flags().Bool("once", false, "run the campaigns that are due or wait, then end")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		c, err := config.LoadService(file)
		if err != nil {
			return withCode(codeInput, err)
		}
		return runService(cmd.Context(), a, c, *once)
	}
	return cmd
}

// runService runs a service until ctx is cancelled. If `once` is true, it ends as soon as no campaign waits
// or is due.
func runService(ctx context.Context, a *app, c *config.Service, once bool) error {
	log := slog.New(slog.NewJSONHandler(a.stderr, nil))
	options, err := serviceOptions(a, c, log)
	if err != nil {
		return err
	}
	options.Once = once
	s, err := service.New(options)
	switch {
	case errors.Is(err, journal.ErrLocked):
		return err // another service uses the folder
	case err != nil:
		return withOutputCode(err)
	}
	if once {
		return s.Run(ctx)
	}
	handler, listener, err := newFrontend(c, s, log)
	if err != nil {
		return errors.Join(err, s.Close())
	}
	log.Info("listening", "address", address(c, listener), "state", c.State)
	return runBoth(ctx, s, handler, listener, log)
}

// runBoth runs the service and its HTTP server until the campaigns have stopped. The service also
// stops if the server fails.
func runBoth(ctx context.Context, s *service.Service, handler *api.API, l net.Listener, log *slog.Logger) error {
	running, stop := context.WithCancel(ctx)
	serving, close := context.WithCancel(context.WithoutCancel(ctx))
	defer close()
	served := make(chan error, 1)
	go func() {
		defer stop()
		served <- handler.Serve(serving, l)
	}()
	err := s.Run(running)
	close()
	if failed := <-served; failed != nil && !errors.Is(failed, http.ErrServerClosed) {
		err = errors.Join(err, failed)
	}
	log.Info("ended", "error", err)
	return err
}

// newFrontend returns the HTTP server with the API and the page, and its listener.
func newFrontend(c *config.Service, s *service.Service, log *slog.Logger) (*api.API, net.Listener, error) {
	connections := api.MaxConnections(c.Limits.Connections)
	o := api.Options{
		Version: version, Log: log, Pprof: c.Pprof, PublicAddress: c.Public, Streams: c.Limits.Streams,
		AllStreams: connections / 2, // the other connections remain for requests
		Requests:   connections,
	}
	if c.Tokens != "" {
		var err error
		if o.Tokens, err = api.OpenTokens(c.Tokens); err != nil {
			return nil, nil, withCode(codeInput, err)
		}
		if known, err := o.Tokens.List(); err == nil && len(known) == 0 {
			log.Warn("no token exists: all requests are refused until tutti token create has made one", "file", c.Tokens)
		}
		if o.CookieKey, err = api.CookieKey(filepath.Join(c.State, "cookie.key"), log); err != nil {
			return nil, nil, withOutputCode(err)
		}
	}
	handler, err := api.New(s, o)
	if err != nil {
		return nil, nil, err
	}
	l, err := api.Listen(c.Listen, api.ListenOptions{
		CertFile: c.Cert, KeyFile: c.Key, Connections: c.Limits.Connections, Mode: c.SocketMode, Group: c.SocketGroup,
	})
	return handler, l, err
}

// address returns the URL at which the server listens, or the path of its socket.
func address(c *config.Service, l net.Listener) string {
	switch {
	case strings.HasPrefix(c.Listen, "unix:"):
		return c.Listen
	case c.Cert != "":
		return "https://" + l.Addr().String()
	}
	return "http://" + l.Addr().String()
}

// shownFiles returns the files of a campaign that users with the role "read" may download. Other files may
// contain secrets: reports quote the output of failed benchmarks, and the journal and the folders of jobs
// contain the campaign file.
func shownFiles() []string {
	out := []string{export.CurveCSV, export.SelectionCSV}
	for _, lib := range libraries.All() {
		out = append(out, lib.Facts().Files...)
	}
	return out
}

// serviceOptions returns the options of a service that runs this program for each campaign. The
// campaigns do not get the TUTTI_ variables of the service, which would override keys of their
// files.
func serviceOptions(a *app, c *config.Service, log *slog.Logger) (service.Options, error) {
	program, err := os.Executable()
	if err != nil {
		return service.Options{}, fmt.Errorf("path of this program: %w", err)
	}
	environ := []string{} // nil would mean the environment of this process
	for _, v := range a.environ {
		if !strings.HasPrefix(v, config.EnvPrefix) {
			environ = append(environ, v)
		}
	}
	return service.Options{
		Service: *c, Command: []string{program}, Environ: environ, Readable: shownFiles(), Log: log,
		Check: func(b config.Base, set map[string]string) (config.Demand, error) {
			return config.CheckSettings(b.File, set)
		},
	}, nil
}
