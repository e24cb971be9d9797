package proof

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

// Options say how the files of a campaign are proved.
type Options struct {
	Rules       verify.Rules  // Seed is the campaign's
	MachineTime time.Duration // of a library; 0: as much as its campaign took, leastBudget at least
	WallTime    time.Duration
	Again       bool
	Compilers   map[string]string  // by library: what compiles the probe of obedience; the library's own where none is given
	Observe     func(verify.Event) // may be nil
	Warn        func(string)       // of what is left out
}

// Proof proves the libraries of a campaign, one after another.
type Proof struct {
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

// ErrRecordedOnly is matched when a library cannot be measured, and so not verified.
var ErrRecordedOnly = errors.New("can be tuned from recorded measurements alone")

// ErrNoDefault is matched when recorded data have no time of the library's default.
var ErrNoDefault = errors.New("no time of the library's own default is recorded: nothing to compare with")

// New trains the models of a connected campaign. state is what its open journal knows,
// and grows with it.
func New(ctx context.Context, c *assembly.Campaign, jnl *journal.Journal, state *journal.State, opt Options) (*Proof, error) {
	results, err := c.Results(state)
	if err != nil {
		return nil, err
	}
	opt.Rules.Seed = c.Config.Seed
	p := &Proof{campaign: c, log: log{jnl, state}, opt: opt}
	p.models, err = export.Train(ctx, c, results)
	return p, err
}

// Library verifies one library of the campaign: the files as they are, then as each
// pass leaves them, until nothing is condemned. Errors match ErrRecordedOnly,
// assembly.ErrInput, or are those of verify.Session.Examine, each with the result so
// far.
func (p *Proof) Library(ctx context.Context, lib config.Library) (verify.Result, error) {
	s, session, err := p.open(lib)
	if err != nil {
		return verify.Result{}, err
	}
	for ended := false; !ended && err == nil; {
		var files verify.Files
		if files, err = s.write(ctx); err == nil {
			ended, err = session.Examine(ctx, files)
		}
	}
	result, recallErr := session.Result()
	return result, errors.Join(err, recallErr)
}

// open returns a library as what is proved, and its verification as the journal has it.
func (p *Proof) open(lib config.Library) (*subject, *verify.Session, error) {
	port, cat, err := libraries.Release(lib.Name, lib.Version)
	if err != nil {
		return nil, nil, err
	}
	m, ok := port.(mpi.Measurable)
	if !ok {
		return nil, nil, fmt.Errorf("%s: %w", lib.Name, ErrRecordedOnly)
	}
	session, err := verify.Open(verify.Options{
		Library: lib.Name, Rules: p.opt.Rules, MachineTime: p.Budget(lib), WallTime: p.opt.WallTime,
		Again: p.opt.Again, Observe: p.opt.Observe,
	}, p.log.state.Verification(lib.Name), p.log)
	if err != nil {
		return nil, nil, fmt.Errorf("journal of %s: %w", p.campaign.Config.Output, err)
	}
	return &subject{Proof: p, lib: lib, port: m, cat: cat}, session, nil
}

// Write writes every file of the campaign's folder and returns what the report shows.
func (p *Proof) Write(by export.Program) (report.Facts, error) {
	done, err := p.models.Conclude(p.log.state)
	if err != nil {
		return report.Facts{}, err
	}
	return done.Write(p.campaign.Config.Output, by)
}
