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
	"tutti/campaign/verification"
	"tutti/internal/config"
	"tutti/internal/infile"
	"tutti/journal"
	"tutti/mpi"
	"tutti/service"
	"tutti/verify"
)

// exitCode is an exit code of tutti. Package service defines it, because it also interprets these codes.
type exitCode = service.ExitCode

const (
	codeDone         = service.ExitDone
	codeFailed       = service.ExitFailed
	codeUsage        = service.ExitUsage
	codeInput        = service.ExitInput
	codeNotConverged = service.ExitNotConverged
	codeCancelled    = service.ExitCancelled
	codeBusy         = service.ExitBusy
	codeOutput       = service.ExitOutput
	codeNotReady     = service.ExitNotReady
	codeNotProved    = service.ExitNotProved
	codeInterrupted  = service.ExitInterrupted
)

func codeTable() string {
	var b strings.Builder
	for _, m := range service.ExitMeanings() {
		fmt.Fprintf(&b, "  %2d  %s\n", m.Code, m.Text)
	}
	return b.String()
}

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

// For these errors and errNotReady the command prints no message, because its output already explains the failure.
var (
	errNotConverged = errors.New("not converged")
	errCancelled    = errors.New("cancelled")
	errProgram      = errors.New("the program failed") // tutti run; tutti ends with its exit code
	errBadRules     = errors.New("a selection file has errors or harms programs")
)

func errorIsPrinted(err error) bool {
	return errors.Is(err, errNotConverged) || errors.Is(err, errCancelled) || errors.Is(err, errNotReady) ||
		errors.Is(err, errProgram) || errors.Is(err, errBadRules)
}

// codeOf returns the exit code of an error. If the error is a codedError, it contains the code. Otherwise the
// code depends on which known error it matches, and is codeFailed if it matches none.
func codeOf(err error) exitCode {
	var coded *codedError
	switch {
	case err == nil:
		return codeDone
	case errors.As(err, &coded):
		return coded.code
	case errors.Is(err, errNotConverged):
		return codeNotConverged
	case errors.Is(err, errNotReady), errors.Is(err, benchrunner.ErrNoStart), errors.Is(err, mpi.ErrSite):
		return codeNotReady
	case errors.Is(err, benchrunner.ErrUnavailable), errors.Is(err, benchrunner.ErrLeft):
		return codeInterrupted
	case errors.Is(err, errNotProved):
		return codeNotProved
	case errors.Is(err, errCancelled), errors.Is(err, context.Canceled):
		return codeCancelled
	case errors.Is(err, journal.ErrLocked), errors.Is(err, journal.ErrExists):
		return codeBusy
	case errors.Is(err, journal.ErrUnreadable):
		return codeInput
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EDQUOT):
		return codeOutput
	case errors.Is(err, assembly.ErrInput), errors.Is(err, verify.ErrEntry), errors.Is(err, verification.ErrNoDefault),
		errors.Is(err, config.ErrConfig), errors.Is(err, benchrunner.ErrRejected), errors.Is(err, journal.ErrCorrupt), errors.Is(err, journal.ErrSchema),
		errors.Is(err, campaign.ErrLog), errors.Is(err, infile.ErrKind), errors.Is(err, infile.ErrSize), errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.EISDIR):
		return codeInput
	}
	return codeFailed
}

// withOutputCode gives an error of the operating system the exit code of output errors. It is for errors that
// occur while results are written.
func withOutputCode(err error) error {
	if errors.As(err, new(syscall.Errno)) && !errors.Is(err, journal.ErrLocked) && !errors.Is(err, journal.ErrExists) {
		return withCode(codeOutput, err)
	}
	return err
}
