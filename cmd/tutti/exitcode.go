package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"tutti/benchrunner"
	"tutti/campaign"
	"tutti/campaign/assembly"
	"tutti/campaign/proof"
	"tutti/internal/config"
	"tutti/store"
	"tutti/verify"
)

// exitCode is what the process tells its caller. Each has one meaning.
type exitCode int

const (
	codeDone         exitCode = 0
	codeFailed       exitCode = 1
	codeUsage        exitCode = 2
	codeInput        exitCode = 3
	codeNotConverged exitCode = 4
	codeCancelled    exitCode = 5
	codeBusy         exitCode = 6
	codeOutput       exitCode = 7
	codeNotReady     exitCode = 8
	codeNotProved    exitCode = 9
)

var codeMeanings = []struct {
	code    exitCode
	meaning string
}{
	{codeDone, "done; after tune and resume: every problem converged"},
	{codeFailed, "failed in a way that has no code of its own"},
	{codeUsage, "wrong flags or arguments"},
	{codeInput, "a campaign file, recorded data or a journal was refused, or the machine takes no job of the campaign"},
	{codeNotConverged, "finished and written, but a problem stopped before its criteria held"},
	{codeCancelled, "cancelled; tutti resume goes on"},
	{codeBusy, "another tutti is at work on the campaign, or the folder holds one already"},
	{codeOutput, "results could not be written: full disk, read-only folder"},
	{codeNotReady, "doctor: something is missing without which no campaign can run"},
	{codeNotProved, "verify: not proved: something slower than the default is left, a library did not obey, or the budget ended first"},
}

func codeTable() string {
	var b strings.Builder
	for _, c := range codeMeanings {
		fmt.Fprintf(&b, "  %d  %s\n", c.code, c.meaning)
	}
	return b.String()
}

// codedError carries an exit code through the layers.
type codedError struct {
	code exitCode
	err  error
}

func (e *codedError) Error() string { return e.err.Error() }
func (e *codedError) Unwrap() error { return e.err }

func withCode(code exitCode, err error) error {
	if err == nil {
		return nil
	}
	return &codedError{code, err}
}

// These, and errNotProved, end tune, resume, hpo and verify after everything has been told; there is nothing
// left to say.
var (
	errNotConverged = errors.New("not converged")
	errCancelled    = errors.New("cancelled")
)

func errorIsShown(err error) bool {
	return errors.Is(err, errNotConverged) || errors.Is(err, errCancelled) || errors.Is(err, errNotReady)
}

// codeOf is the one place where errors become exit codes.
func codeOf(err error) exitCode {
	var coded *codedError
	switch {
	case err == nil:
		return codeDone
	case errors.As(err, &coded):
		return coded.code
	case errors.Is(err, errNotConverged):
		return codeNotConverged
	case errors.Is(err, errNotReady):
		return codeNotReady
	case errors.Is(err, errNotProved):
		return codeNotProved
	case errors.Is(err, errCancelled), errors.Is(err, context.Canceled):
		return codeCancelled
	case errors.Is(err, store.ErrLocked), errors.Is(err, store.ErrExists):
		return codeBusy
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EDQUOT):
		return codeOutput
	case errors.Is(err, assembly.ErrInput), errors.Is(err, verify.ErrEntry), errors.Is(err, proof.ErrNoDefault),
		errors.Is(err, config.ErrConfig), errors.Is(err, benchrunner.ErrRejected), errors.Is(err, store.ErrCorrupt), errors.Is(err, store.ErrSchema),
		errors.Is(err, campaign.ErrLog), errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.EISDIR):
		return codeInput
	}
	return codeFailed
}

// withOutputCode is for errors of writing: whatever the system refuses there
// leaves results unwritten.
func withOutputCode(err error) error {
	if errors.As(err, new(syscall.Errno)) && !errors.Is(err, store.ErrLocked) && !errors.Is(err, store.ErrExists) {
		return withCode(codeOutput, err)
	}
	return err
}
