// Package service runs campaigns unattended: one at a time on each machine, the
// others queue, some by a schedule.
//
// Each campaign is a process of its own, tutti tune or tutti resume in a folder of
// its own, and its journal is what is known of it. The service holds nothing that
// is not in its state folder: it can die at any moment, and the next one finds its
// campaigns again.
//
// A Base is a campaign file that campaigns are made from, by a Request (Create) or
// by its schedule. Pause, Resume and Cancel turn a campaign. A Feed is a numbered
// row of events that grows: of a campaign (Feed), the lines of its journal, or of
// all (Events). Rounds, Measurements, Curve and Jobs say what a journal amounts to,
// Selection, Predictions and Compare what has been learnt from it.
//
// A Watched folder is one in which jobs leave samples; Online is what was made of it by
// tutti online update, a process of its own, too.
//
// Ceilings bound the node-hours that campaigns take of machines. Redacted shows a
// campaign or a feed as those see it who may only look.
//
//	s, err := service.New(service.Options{
//		State:   "results/service",
//		Bases:   []service.Base{{Name: "night", Machine: "cluster", File: "night.yaml"}},
//		Command: []string{"tutti"},
//	})
//	if err != nil {
//		return err // errors.Is(err, journal.ErrLocked): another service has the folder
//	}
//	go serve(s) // as package api does
//	return s.Run(ctx)
package service
