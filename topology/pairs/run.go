package pairs

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"tutti/benchrunner"
	"tutti/coll"
	"tutti/journal"
	"tutti/topology/discover"
)

// ErrNothing is matched by errors of a discovery without any measurement.
var ErrNothing = errors.New("nothing was measured")

// problem returns the library and the collective that the journal's records of a discovery name: the measured
// library, and barrier.
func (d *Discovery) problem() journal.Problem {
	return journal.Problem{Library: d.lib.Name, Collective: coll.Barrier}
}

func (d *Discovery) append(r journal.Record) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	r.Problem = d.problem()
	return d.journal.AppendTo(d.state, r)
}

// log writes the jobs and trials of one launch to the journal.
type log struct {
	d     *Discovery
	round int
}

var _ benchrunner.Log = log{}

func (l log) Job(j coll.Job) error {
	return l.d.append(journal.Record{Kind: journal.KindJob, Round: l.round, Job: &j})
}

func (l log) Trial(t coll.Trial) error {
	return l.d.append(journal.Record{Kind: journal.KindTrial, Round: l.round, Trial: &t})
}

// run runs launches until `wanted` of them are complete. Complete launches of earlier processes count, too. If run
// returns earlier, the jobs that it submitted continue, and the next call waits for them. The error matches
// ErrNothing if no launch is complete.
func (d *Discovery) run(ctx context.Context, what string, plan discover.Plan, wanted int) error {
	machine, err := d.campaign.Machine(d.lib, program{d.opt.Program, plan}, unforced)
	if err != nil {
		return err
	}
	open, done, err := d.launches(what, wanted)
	if err != nil {
		return err
	}
	group, inner := errgroup.WithContext(ctx)
	for _, r := range open {
		group.Go(func() error {
			batch, err := r.Batch()
			if err != nil {
				return err
			}
			return machine.Run(inner, d.batch(r.Number, batch[0], r.Jobs()), log{d, r.Number})
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	said := ""
	for _, r := range open {
		done += r.Done
		for t, err := range r.Trials() {
			if err != nil {
				return err
			}
			said = t.Error
		}
	}
	if done == 0 {
		return fmt.Errorf("%w: %s", ErrNothing, said)
	}
	return nil
}

// launches returns the launches that must still run and the number of complete ones. It replaces each failed launch
// by a new one.
func (d *Discovery) launches(what string, wanted int) (open []*journal.Round, done int, err error) {
	number := 0
	known := d.state.Problem(d.problem())
	for known != nil && number < len(known.Rounds) {
		r := known.Rounds[number]
		number++
		batch, err := r.Batch()
		switch {
		case err != nil:
			return nil, 0, err
		case len(batch) != 1 || batch[0].Algorithm.Name != what:
		case r.Done > 0:
			done++
		case r.Failed == 0:
			open = append(open, r)
		}
	}
	for len(open)+done < wanted {
		number++
		r := journal.Record{Kind: journal.KindBatch, Round: number, Batch: []coll.Candidate{candidate(what, d.layout)}}
		if err := d.append(r); err != nil {
			return nil, 0, err
		}
		added, _ := d.state.Problem(d.problem()).Round(number)
		open = append(open, added)
	}
	return open, done, nil
}
