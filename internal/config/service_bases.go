package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-co-op/gocron/v2"
)

// Base is a campaign file from which a service creates campaigns. A request names a base of the service
// file, so clients need no access to files.
type Base struct {
	Name        string         `json:"name"`
	Machine     string         `json:"machine"`
	Runner      string         `json:"runner"`
	Libraries   []string       `json:"libraries"`
	Collectives []string       `json:"collectives"`
	File        string         `json:"-"`
	Demand      Demand         `json:"-"`                  // demand of a campaign without settings
	Schedule    string         `json:"schedule,omitempty"` // in cron syntax
	TimeZone    string         `json:"time_zone,omitempty"`
	When        StartCondition `json:"when,omitzero"`
	FromLast    bool           `json:"from_last,omitempty"` // start with the measurements of the last finished campaign
	Verify      bool           `json:"verify,omitempty"`    // verify the files of each campaign when it is done
}

// StartCondition contains the conditions under which a scheduled campaign starts. The campaign starts if at least one
// of them holds, if there are no conditions, or if there is no earlier campaign.
type StartCondition struct {
	AgeSeconds float64 `json:"age_seconds,omitzero"` // minimum age of the last finished campaign
	Library    bool    `json:"library,omitzero"`     // path, version or checksum of a library changed
	Nodes      bool    `json:"nodes,omitzero"`       // the list of nodes changed
	Drift      float64 `json:"drift,omitzero"`       // minimum median relative change of a few repeated measurements
}

// CronEntry returns the schedule in the syntax of gocron. If the base has no time zone, the time zone of the
// machine applies.
func (b Base) CronEntry() string { return "CRON_TZ=" + cmp.Or(b.TimeZone, "Local") + " " + b.Schedule }

// checkSchedule returns an error if the schedule does not consist of the five fields of cron, or if the
// time zone is unknown.
func (b Base) checkSchedule() error {
	if b.Schedule == "" && b.TimeZone == "" {
		return nil
	}
	if _, err := time.LoadLocation(b.TimeZone); err != nil {
		return fmt.Errorf("time zone %q: %w", b.TimeZone, err)
	}
	if b.Schedule == "" {
		return errors.New("a time zone without a schedule")
	}
	if err := gocron.NewDefaultCron(false).IsValid(b.CronEntry(), time.Local, time.Now()); err != nil {
		lines := strings.Split(err.Error(), "\n") // the reason is on the last line
		return fmt.Errorf("%q: want minute, hour, day of month, month, day of week, as in 30 2 * * 0: %s", b.Schedule, lines[len(lines)-1])
	}
	return nil
}

func baseFields(b *Base) []field {
	return []field{
		{"name", "the name of the base", nil, text(&b.Name, isName)},
		{"file", "a campaign file", nil, text(&b.File, notEmpty)},
		{"machine", "machine on which its campaigns run one at a time", optional, text(&b.Machine, notEmpty)},
		{"schedule", "when campaigns start, in cron syntax, as 30 2 * * 0", optional, text(&b.Schedule, notEmpty)},
		{"time_zone", "time zone of the schedule", optional, text(&b.TimeZone, notEmpty)},
		{"from_last", "start with the measurements of the last finished campaign", optional, boolean(&b.FromLast)},
		{"verify", "verify the files of each campaign when it is done", optional, boolean(&b.Verify)},
		{"when", "conditions of which one must hold for a scheduled campaign", optional, object([]field{
			{"age", "minimum age of the last finished campaign", optional, seconds(&b.When.AgeSeconds)},
			{"library", "path, version or checksum of a library changed", optional, boolean(&b.When.Library)},
			{"nodes", "the list of nodes changed", optional, boolean(&b.When.Nodes)},
			{"drift", "minimum median relative change of a few repeated measurements", optional, number(&b.When.Drift, 0.001, 10)},
		})},
	}
}

// seconds returns the type of a key whose value is a duration. It stores the duration in *at, in seconds.
func seconds(at *float64) value {
	var d time.Duration
	v := duration(&d)
	read := v.read
	v.read = func(given any) error {
		err := read(given)
		*at = d.Seconds()
		return err
	}
	return v
}

// complete reads and checks the campaign file of a base. `dir` is the folder of the service
// file.
func (b *Base) complete(dir string, before []Base) error {
	if b.When != (StartCondition{}) && b.Schedule == "" {
		return errors.New("when: needs a schedule")
	}
	if err := b.checkSchedule(); err != nil {
		return fmt.Errorf("schedule: %w", err)
	}
	if slices.ContainsFunc(before, func(o Base) bool { return o.Name == b.Name }) {
		return fmt.Errorf("%s is given twice", b.Name)
	}
	b.File = absolute(b.File, dir)
	c, err := Load(b.File, Layers{})
	if err != nil {
		return err
	}
	b.Machine = cmp.Or(b.Machine, c.Machine, b.Name)
	b.Runner, b.Collectives, b.Demand = c.Runner.Kind, c.Collectives, demand(c)
	b.Libraries = c.LibraryNames()
	return nil
}
