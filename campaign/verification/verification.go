package verification

import (
	"context"
	"errors"
	"fmt"
	"time"

	"tutti/campaign/assembly"
	"tutti/campaign/export"
	"tutti/internal/config"
	"tutti/journal"
	"tutti/mpi"
	"tutti/mpi/libraries"
	"tutti/report"
	"tutti/verify"
)

// Options say how the files of a campaign are verified.
type Options struct {
	Rules       verify.Rules  // Seed is the campaign's
	MachineTime time.Duration // of a library; 0: as much as its campaign took, minBudget at least
	WallTime    time.Duration
	Again       bool
	Compilers   map[string]string  // by library: the compiler of the forcing check; default the library's own
	Observe     func(verify.Event) // may be nil
	Warn        func(string)       // of checks that are left out
}

// Verifier verifies the libraries of a campaign, one after another.
type Verifier struct {
	campaign *assembly.Campaign
	log      log
	opt      Options
	models   *export.Models
}

// log writes the steps of verifications into a journal.
type log struct {
	journal *journal.Journal
	state   *journal.State // of the journal, growing
}

// Append implements verify.Log.
func (l log) Append(e verify.Entry) error {
	r, err := e.Record()
	if err == nil {
		err = l.journal.Append(r)
	}
	if err == nil {
		l.state.Add(r)
	}
	return err
}

// ErrRecordedOnly is matched when a library cannot be measured and therefore not verified.
var ErrRecordedOnly = errors.New("can be tuned from recorded measurements alone")

// ErrNoDefault is matched when recorded data have no time of the library's default.
var ErrNoDefault = errors.New("no time of the library's own default is recorded: nothing to compare with")

// New trains the models of a connected campaign. state is the state of its open journal; new
// records are added to it.
func New(ctx context.Context, c *assembly.Campaign, jnl *journal.Journal, state *journal.State, opt Options) (*Verifier, error) {
	results, err := c.Results(state)
	if err != nil {
		return nil, err
	}
	opt.Rules.Seed = c.Config.Seed
	v := &Verifier{campaign: c, log: log{jnl, state}, opt: opt}
	v.models, err = export.Train(ctx, c, results)
	return v, err
}

// Verify verifies the files of one library: as they are, then as each pass leaves them, until no
// selection is slower than the default. Errors match ErrRecordedOnly or assembly.ErrInput, or are
// those of verify.Session.Examine, each with the result so far.
func (v *Verifier) Verify(ctx context.Context, lib config.Library) (verify.Result, error) {
	s, session, err := v.open(lib)
	if err != nil {
		return verify.Result{}, err
	}
	for ended := false; !ended && err == nil; {
		var files verify.Files
		if files, err = s.write(ctx); err == nil {
			ended, err = session.RunPass(ctx, files)
		}
	}
	result, resultErr := session.Result()
	return result, errors.Join(err, resultErr)
}

// open returns a library and the state of its verification in the journal.
func (v *Verifier) open(lib config.Library) (*subject, *verify.Session, error) {
	port, cat, err := libraries.Release(lib.Name, lib.Version)
	if err != nil {
		return nil, nil, err
	}
	m, ok := port.(mpi.Measurable)
	if !ok {
		return nil, nil, fmt.Errorf("%s: %w", lib.Name, ErrRecordedOnly)
	}
	session, err := verify.Open(verify.Options{
		Library: lib.Name, Rules: v.opt.Rules, MachineTime: v.Budget(lib), WallTime: v.opt.WallTime,
		Again: v.opt.Again, Observe: v.opt.Observe,
	}, v.log.state.Verification(lib.Name), v.log)
	if err != nil {
		return nil, nil, fmt.Errorf("journal of %s: %w", v.campaign.Config.Output, err)
	}
	return &subject{Verifier: v, lib: lib, port: m, cat: cat}, session, nil
}

// Write writes every file of the campaign's folder and returns what the report shows.
func (v *Verifier) Write(by export.Program) (report.Facts, error) {
	done, err := v.models.Conclude(v.log.state)
	if err != nil {
		return report.Facts{}, err
	}
	return done.Write(v.campaign.Config.Output, by)
}
