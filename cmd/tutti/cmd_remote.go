package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"tutti/internal/config"
	"tutti/service/client"
)

// remote is what all verbs of tutti remote share.
type remote struct {
	*app
	server, tokenFile, output string
}

func (a *app) remoteCommand() *cobra.Command {
	r := &remote{app: a}
	cmd := &cobra.Command{
		Use:   "remote",
		Short: "Speak to a tutti serve: list, create, watch and fetch campaigns",
		Long: `remote speaks to a service over its API. The address is that of --server or of the
variable TUTTI_SERVER, the token that of --token-file or of the variable TUTTI_TOKEN.
Requests are tried again for half a minute while the service cannot be reached.

The exit code is 3 when the service refuses what was asked or who asks, 6 when it
has no place now or the campaign's state does not allow it, 7 when its disk is full.`,
		Example: indent("tutti remote list", "tutti remote create demo --name night --watch", "tutti remote get 3k9f2m7q mpich.json"),
	}
	flags := cmd.PersistentFlags()
	flags.StringVar(&r.server, "server", "", "http://host:port, https://host:port or unix:PATH; default http://127.0.0.1:8372")
	flags.StringVar(&r.tokenFile, "token-file", "", "`FILE` that holds the token")
	flags.StringVar(&r.output, "output", "text", "text or json")
	return verbs(cmd,
		r.listCommand(), r.showCommand(), r.createCommand(), r.pauseCommand(), r.resumeCommand(), r.cancelCommand(),
		r.watchCommand(), r.filesCommand(), r.getCommand(),
	)
}

// connect makes the client that the flags and variables ask for.
func (r *remote) connect(cmd *cobra.Command) (*client.Client, error) {
	if err := checkOutput(cmd, r.output); err != nil {
		return nil, err
	}
	server := cmp.Or(r.server, r.variable(config.EnvServer), "http://127.0.0.1:8372")
	secret := r.variable(config.EnvToken)
	if r.tokenFile != "" {
		content, err := os.ReadFile(r.tokenFile)
		if err != nil {
			return nil, withCode(codeInput, fmt.Errorf("token: %w", err))
		}
		if secret = strings.TrimSpace(string(content)); secret == "" {
			return nil, withCode(codeInput, fmt.Errorf("token: %s is empty", r.tokenFile))
		}
	}
	if strings.ContainsAny(secret, " \t\r\n") {
		return nil, withCode(codeInput, errors.New("token: want one word"))
	}
	c, err := client.New(server, client.Options{Token: secret})
	if err != nil {
		return nil, usageError(cmd, err)
	}
	return c, nil
}

func (r *remote) variable(name string) string {
	for _, v := range r.environ {
		if value, ok := strings.CutPrefix(v, name+"="); ok {
			return value
		}
	}
	return ""
}

// print writes v as JSON, or calls text.
func (r *remote) print(v any, text func()) error {
	if r.output == "json" {
		return r.printJSON(v)
	}
	text()
	return nil
}

// withRemoteCode tells what the service refused from what went wrong.
func withRemoteCode(err error) error {
	if errors.As(err, new(*client.Unreachable)) {
		return withCode(codeFailed, err) // not the code of the files that it may name
	}
	var refused *client.Error
	if !errors.As(err, &refused) {
		return err
	}
	switch refused.Status {
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusUnprocessableEntity, http.StatusRequestEntityTooLarge:
		return withCode(codeInput, err)
	case http.StatusConflict, http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return withCode(codeBusy, err)
	case http.StatusInsufficientStorage:
		return withCode(codeOutput, err)
	}
	return err
}

// saveTo opens where a download goes: - is standard output.
func (r *remote) saveTo(path string) (io.WriteCloser, error) {
	if path == "-" {
		return nopCloser{r.stdout}, nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	return f, withOutputCode(err)
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }
