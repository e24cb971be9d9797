package proof

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"tutti/campaign/assembly"
	"tutti/campaign/export"
	"tutti/campaign/report"
	"tutti/internal/config"
	"tutti/mpi"
	"tutti/mpi/libraries"
	"tutti/store"
	"tutti/verify"
)

// Options say how the files of a campaign are proved.
type Options struct {
	Rules       verify.Rules // Seed is the campaign's
	MachineTime time.Duration
	WallTime    time.Duration
	Again       bool
	Compilers   map[string]string  // by library: what compiles the probe of obedience; the library's own where none is given
	Observe     func(verify.Event) // may be nil
	Warn        func(string)       // of what is left out
}

// Proof proves the libraries of a campaign, one after another. It writes the log of
// its verifications.
type Proof struct {
	campaign *assembly.Campaign
	journal  *store.Journal
	state    *store.State // of the journal, growing
	opt      Options
	models   *export.Models
	written  []report.LibraryFacts // by the last pass over each library
}

// ErrRecordedOnly is matched when a library cannot be measured, and so not verified.
var ErrRecordedOnly = errors.New("can be tuned from recorded measurements alone")

// ErrNoDefault is matched when recorded data have no time of the library's default.
var ErrNoDefault = errors.New("no time of the library's own default is recorded: nothing to compare with")

// New trains the models of a connected campaign. state is what its open journal knows,
// and grows with it.
func New(ctx context.Context, c *assembly.Campaign, journal *store.Journal, state *store.State, opt Options) (*Proof, error) {
	results, err := c.Results(state)
	if err != nil {
		return nil, err
	}
	opt.Rules.Seed = c.Config.Seed
	p := &Proof{campaign: c, journal: journal, state: state, opt: opt}
	p.models, err = export.Train(ctx, c, results)
	return p, err
}

// Library verifies one library of the campaign: the files as they are, then as each
// pass leaves them, until nothing is condemned. Errors match ErrRecordedOnly,
// assembly.ErrInput, or are those of verify.Session.Examine, each with the result so
// far.
func (p *Proof) Library(ctx context.Context, lib config.Library) (verify.Result, error) {
	port, cat, err := libraries.Release(lib.Name, lib.Version)
	if err != nil {
		return verify.Result{}, err
	}
	m, ok := port.(mpi.Measurable)
	if !ok {
		return verify.Result{}, fmt.Errorf("%s: %w", lib.Name, ErrRecordedOnly)
	}
	session, err := verify.Open(verify.Options{
		Library: lib.Name, Rules: p.opt.Rules, MachineTime: p.opt.MachineTime, WallTime: p.opt.WallTime,
		Again: p.opt.Again, Observe: p.opt.Observe,
	}, p.state.Verification(lib.Name), p)
	if err != nil {
		return verify.Result{}, fmt.Errorf("journal of %s: %w", p.campaign.Config.Output, err)
	}
	s := &subject{Proof: p, lib: lib, port: m, cat: cat}
	for ended := false; !ended && err == nil; {
		var files verify.Files
		if files, err = s.write(ctx); err == nil {
			ended, err = session.Examine(ctx, files)
		}
	}
	result, recallErr := session.Result()
	return result, errors.Join(err, recallErr)
}

// Append writes an entry of a verification to the journal.
func (p *Proof) Append(e verify.Entry) error {
	r, err := e.Record()
	if err == nil {
		err = p.journal.Append(r)
	}
	if err == nil {
		p.state.Add(r)
	}
	return err
}

// wrote remembers what the report says of a library's files.
func (p *Proof) wrote(f report.LibraryFacts) {
	p.written = append(slices.DeleteFunc(p.written, func(o report.LibraryFacts) bool { return o.Library == f.Library }), f)
}

// Write writes the report and every other file of the campaign's folder, but the
// selection files that the verifications have written.
func (p *Proof) Write(by export.Program) (report.Facts, error) {
	done, err := p.models.Conclude(p.state)
	if err != nil {
		return report.Facts{}, err
	}
	return done.Write(p.campaign.Config.Output, by, p.written...)
}
