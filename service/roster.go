package service

import (
	"fmt"
	"slices"
	"time"
)

// roster is the set of all campaigns of a service. The lock of the queue guards it.
type roster struct {
	byID  map[string]*entry
	byKey map[string]*entry // by idempotency key
	order []*entry          // by creation
}

// find returns a campaign that was not deleted. The error matches ErrNoCampaign.
func (r *roster) find(id string) (*entry, error) {
	e, ok := r.byID[id]
	if !ok || e.State == Deleted {
		return nil, fmt.Errorf("%w: %q", ErrNoCampaign, id)
	}
	return e, nil
}

func (r *roster) add(e *entry) {
	r.byID[e.ID] = e
	r.order = append(r.order, e)
	if e.Key != "" {
		r.byKey[e.Key] = e
	}
}

// remove removes a deleted campaign that no worker owns.
func (r *roster) remove(e *entry) {
	delete(r.byID, e.ID)
	r.order = slices.DeleteFunc(r.order, func(other *entry) bool { return other == e })
	if r.byKey[e.Key] == e {
		delete(r.byKey, e.Key)
	}
}

// finished describes the newest completed campaign that was created from a base (a campaign file of the
// service).
type finished struct {
	id      string
	ended   time.Time
	results string        // folder
	machine *MachineState // nil when unknown
}

// last returns the newest completed campaign that was created from a base (a campaign file), and one that
// has not ended. Each result is nil if there is no such campaign.
func (r *roster) last(base string) (last *finished, open *Campaign) {
	for _, e := range r.order {
		switch {
		case e.Base != base || e.State == Deleted:
		case e.State == Done && (last == nil || e.Ended.After(last.ended)):
			last = &finished{e.ID, e.Ended, e.results(), e.MachineState}
		case !e.State.Over():
			c := e.Campaign
			open = &c
		}
	}
	return last, open
}
