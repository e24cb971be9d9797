package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"tutti/internal/config"
	"tutti/service/api"
)

func tokenCommand(a *app) *cobra.Command {
	return verbs(&cobra.Command{
		Use:   "token",
		Short: "Create, list and revoke the tokens of a service",
		Long: `token changes the file of tokens that a service file names. The file keeps hashes:
a token is printed only when it is created. Changes apply to a running service at
once.`,
		Example: examples("tutti token create -c service.yaml grafana --role read --out grafana.token"),
	}, tokenCreateCommand(a), tokenListCommand(a), tokenRevokeCommand(a))
}

// serviceFlag adds the flag -c for a service file. It returns a function that opens the token file that the
// service file names.
func serviceFlag(cmd *cobra.Command) func() (*api.TokenStore, error) {
	var file string
	fileFlag(cmd, &file, "service `FILE` (required)")
	return func() (*api.TokenStore, error) {
		c, err := config.LoadService(file)
		if err != nil {
			return nil, withCode(codeInput, err)
		}
		if c.Tokens == "" {
			return nil, withCode(codeInput, fmt.Errorf("%s: tokens: is not set: want the path of a file for them", file))
		}
		s, err := api.OpenTokens(c.Tokens)
		return s, withCode(codeInput, err)
	}
}

func tokenCreateCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "create NAME",
		Short: "Create a token",
		Long: `create prints the token, or writes it to a new file that only its user can read (--out).
The role read sees the measurements and results of campaigns. The role operate may do
everything: create and stop campaigns, and see all their files, variables and errors.`,
		Example: examples("tutti token create -c service.yaml anna --role operate --out anna.token"),
		Args:    arguments(1, 1, "the name of one token"),
	}
	store := serviceFlag(cmd)
	var role string
	choiceFlag(cmd, "role", &role, "", []string{string(api.Read), string(api.Operate)}, "`ROLE` (required)")
	out := cmd.Flags().StringP("out", "o", "", "`FILE` to create with mode 0600; default: standard output")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if role == "" {
			return usageError(cmd, errors.New("want --role"))
		}
		s, err := store()
		if err != nil {
			return err
		}
		if *out == "" {
			return createToken(cmd, s, args[0], role, a.stdout)
		}
		f, err := os.OpenFile(*out, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return withCode(codeOutput, err)
		}
		if err := createToken(cmd, s, args[0], role, f); err != nil {
			return errors.Join(err, f.Close(), os.Remove(*out))
		}
		return withCode(codeOutput, f.Close())
	}
	return cmd
}

// createToken creates a token and writes its secret to w.
func createToken(cmd *cobra.Command, s *api.TokenStore, name, role string, w io.Writer) error {
	secret, err := s.Create(name, api.Role(role))
	switch {
	case errors.Is(err, api.ErrTokenName), errors.Is(err, api.ErrTokenRole):
		return usageError(cmd, err)
	case errors.Is(err, api.ErrTokenExists):
		return withCode(codeInput, err)
	case err != nil:
		return withOutputCode(err)
	}
	_, err = fmt.Fprintln(w, secret)
	return withCode(codeOutput, err)
}

func tokenListCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the tokens",
		Example: examples("tutti token list -c service.yaml", "tutti token list -c service.yaml --format json"),
		Args:    noArgs,
	}
	store := serviceFlag(cmd)
	a.formatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		s, err := store()
		if err != nil {
			return err
		}
		tokens, err := s.List()
		if err != nil {
			return withCode(codeInput, err)
		}
		return a.show(tokens, func() {
			rows := make([]table.Row, len(tokens))
			for i, t := range tokens {
				rows[i] = table.Row{t.Name, string(t.Role), t.Created.Format(time.RFC3339), t.Fingerprint()}
			}
			a.printTable(table.Row{"name", "role", "created", "sha256"}, rows)
		})
	}
	return cmd
}

func tokenRevokeCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "revoke NAME",
		Short:   "Revoke a token",
		Long:    `revoke removes a token. A running service refuses the token and its logins at once.`,
		Example: examples("tutti token revoke -c service.yaml anna"),
		Args:    arguments(1, 1, "the name of one token"),
	}
	store := serviceFlag(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		s, err := store()
		if err != nil {
			return err
		}
		if err := s.Revoke(args[0]); errors.Is(err, api.ErrNoToken) {
			return withCode(codeInput, err)
		} else if err != nil {
			return withOutputCode(err)
		}
		fmt.Fprintf(a.stdout, "%s is revoked\n", args[0])
		return nil
	}
	return cmd
}
