// Package service runs campaigns without an operator. Each machine runs one campaign at a time; other
// campaigns wait in a queue. A schedule can create campaigns.
//
// Each campaign is a process, tutti tune or tutti resume, with its own folder. All knowledge of a
// campaign comes from its journal. All state of the service is in its state folder. A service may
// be killed at any moment, because the next service adopts its campaigns.
//
// Campaigns are created from a config.Base, a campaign file, by Create or by the schedule of
// the base. Pause, Resume and Cancel change their state. A Feed is a numbered sequence of
// events: Feed returns the lines of a campaign's journal, Events those of the service. Rounds,
// Measurements, Curve and Jobs sum up a journal. Selection, Predictions and Compare train
// models on it.
//
// The service also watches folders in which applications leave samples, and makes tables of
// them with tutti online update. A config.Quota limits the node-hours of campaigns. Redacted
// returns what the role read sees of a campaign or a feed.
//
//	s, err := service.New(service.Options{
//		State:   "results/service",
//		Bases:   []config.Base{{Name: "night", Machine: "cluster", File: "night.yaml"}},
//		Command: []string{"tutti"},
//	})
//	if err != nil {
//		return err // errors.Is(err, journal.ErrLocked): another service has the folder
//	}
//	go serve(s) // with package api
//	return s.Run(ctx)
package service
