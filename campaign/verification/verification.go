// Package verification verifies the selection files of a campaign on its machine. In a pass it writes the
// files of a library, compares them with the library's defaults by package verify, and reverts slower
// selections to the default. Passes repeat until no selection is slower. The package also measures how much
// the machine's times have drifted since the campaign.
//
//	v, err := verification.New(ctx, c, jnl, state, options)
//	if err != nil {
//		return err
//	}
//	result, err := v.Verify(ctx, c.Config.Libraries[0])
//	if err != nil {
//		return err
//	}
//	facts, err := v.Write(ctx, program) // all files, after the last pass
package verification

import (
	"context"
	"errors"
	"fmt"
	"time"

	"tutti/campaign"
	"tutti/campaign/assembly"
	"tutti/campaign/export"
	"tutti/internal/config"
	"tutti/journal"
	"tutti/mpi"
	"tutti/preprocess"
	"tutti/report"
	"tutti/verify"
)

// Options of a verification.
type Options struct {
	Rules       verify.Rules  // New sets Seed to that of the campaign
	MachineTime time.Duration // limit of all libraries together; 0 means the machine time of the campaign, at least MinBudget
	WallTime    time.Duration
	Again       bool               // verify again after a complete verification
	Compilers   map[string]string  // compiler of the probe by library; default: the library's own
	Observe     func(verify.Event) // may be nil
	Warn        func(string)       // receives warnings about checks that are left out
}

// Verifier verifies the libraries of a campaign, one after another.
type Verifier struct {
	campaign *assembly.Campaign
	results  []campaign.Result // of the campaign's problems
	journal  *journal.Journal
	state    *journal.State // of the journal, with the records of this process
	opt      Options
	models   *export.FinalModels
	external *externalFile // the selection file of NewOfFile; then models is nil
}

// ErrRecordedOnly is matched by the error for a library that tutti cannot run. Such a library can be neither
// measured nor verified.
var ErrRecordedOnly = errors.New("can be tuned from recorded measurements alone")

// ErrNoDefault is matched by the error for recorded data without times of the library's default.
var ErrNoDefault = errors.New("no time of the library's own default is recorded: nothing to compare with")

// New returns a Verifier for a connected campaign. It trains the campaign's models. `state` is
// the state of the open journal jnl. The Verifier adds its records to both.
func New(ctx context.Context, c *assembly.Campaign, jnl *journal.Journal, state *journal.State, opt Options) (*Verifier, error) {
	results, err := c.Results(state)
	if err != nil {
		return nil, err
	}
	opt.Rules.Seed = c.Config.Seed
	v := &Verifier{campaign: c, results: results, journal: jnl, state: state, opt: opt}
	v.models, err = export.Train(ctx, c, results)
	return v, err
}

// Verify verifies the files of one library. It reverts slower selections to the default and repeats until
// none is slower. If it returns an error, it also returns the result so far. Errors match ErrRecordedOnly or
// assembly.ErrInput, or come from verify.Session.RunPass.
func (v *Verifier) Verify(ctx context.Context, lib config.Library) (verify.Result, error) {
	s, err := v.subject(lib)
	if err != nil {
		return verify.Result{}, err
	}
	files, err := s.write(ctx)
	if err != nil {
		return verify.Result{}, err
	}
	session, err := v.open(s, files.Problems)
	if err != nil {
		return verify.Result{}, err
	}
	for ended := false; !ended && err == nil; {
		if ended, err = session.RunPass(ctx, files); err == nil && !ended {
			files, err = s.write(ctx)
		}
	}
	result, resultErr := session.Result()
	return result, errors.Join(err, resultErr)
}

// record writes a record to the journal and adds it to the state.
func (v *Verifier) record(r journal.Record) error { return v.journal.AppendTo(v.state, r) }

// subject returns the library to verify. The error matches ErrRecordedOnly if tutti cannot run the library.
func (v *Verifier) subject(lib config.Library) (*libraryUnderTest, error) {
	port, cat, err := lib.Release()
	if err != nil {
		return nil, err
	}
	if b, err := port.Open(cat, lib.Path); err == nil {
		cat = b.Catalogue()
	}
	m, ok := port.(mpi.Measurable)
	if !ok {
		return nil, fmt.Errorf("%s: %w", lib.Name, ErrRecordedOnly)
	}
	return &libraryUnderTest{Verifier: v, lib: lib, port: m, cat: cat}, nil
}

// open returns the session that verifies a library, in the state that the journal records.
// `problems` contains the selections in the current files.
func (v *Verifier) open(s *libraryUnderTest, problems []verify.Problem) (*verify.Session, error) {
	prices, err := v.prices(s.lib)
	if err != nil {
		return nil, err
	}
	block := prices.block
	if !prices.known() {
		block = nil
	}
	rules := v.opt.Rules
	rules.Timed = preprocess.Timed(v.campaign.Config.Grid.Calls)
	session, err := verify.Open(verify.Options{
		Library: s.lib.Name, Rules: rules, MachineTime: v.Budget(s.lib), BlockSeconds: block, WallTime: v.opt.WallTime,
		Again: v.opt.Again, Fixed: v.external != nil, Observe: v.opt.Observe,
	}, v.state.Verification(s.lib.Name), problems, v.record)
	if err != nil {
		return nil, fmt.Errorf("journal of %s: %w", v.campaign.Config.Output, err)
	}
	return session, nil
}

// Write writes all files of the campaign's folder except the journal. It returns the facts of the report.
func (v *Verifier) Write(ctx context.Context, by export.Program) (report.Facts, error) {
	if v.external != nil {
		return export.WriteVerification(v.campaign, v.state, v.external.facts(), by)
	}
	conclusions, err := v.models.Conclude(v.state)
	if err != nil {
		return report.Facts{}, err
	}
	return conclusions.Write(ctx, v.campaign.Config.Output, by)
}
