// Package service runs campaigns without an operator. Each machine runs one campaign at a time; other campaigns
// wait in a queue. A schedule can create campaigns.
//
// Each campaign is a process, tutti tune or tutti resume, with its own folder. The service learns about a
// campaign only from the campaign's journal. All state of the service is in its state folder. A service may be
// killed at any moment: the next service takes over its campaigns.
//
// A campaign is created from a config.Base, which is a campaign file that the service file lists. Create does
// this on request; a base can also have a schedule. Pause, Resume and Cancel change the state of a campaign. A
// Feed is a numbered sequence of events: the method Feed returns the lines of a campaign's journal, and Events
// returns the events of the service. Measurements reads a journal. Selection and Predictions train models on it.
//
// The service also watches folders in which applications leave samples. It makes tables from them with tutti
// online update. A config.Quota limits the node-hours of campaigns. The methods Redacted
// return what users with the role "read" may see.
//
//	s, err := service.New(service.Options{
//		Service: config.Service{State: "results/service", Bases: []config.Base{{Name: "night", Machine: "cluster", File: "night.yaml"}}},
//		Command: []string{"tutti"},
//	})
//	if err != nil {
//		return err // errors.Is(err, journal.ErrLocked): another service has the folder
//	}
//	go serve(s) // with package api
//	return s.Run(ctx)
package service
