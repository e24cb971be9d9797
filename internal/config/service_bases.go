package config

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-co-op/gocron/v2"
)

// Base is a campaign file from which a service creates campaigns. A request names a base of the service
// file, so clients need no access to files.
type Base struct {
	Name        string   `json:"name"`
	Machine     string   `json:"machine"`
	Runner      string   `json:"runner"`
	Libraries   []string `json:"libraries"`
	Collectives []string `json:"collectives"`
	File        string   `json:"-"`
	Demand      Demand   `json:"-"`                  // demand of a campaign without settings
	Schedule    string   `json:"schedule,omitempty"` // in cron syntax
	TimeZone    string   `json:"time_zone,omitempty"`
	When        When     `json:"when,omitzero"`
	FromLast    bool     `json:"from_last,omitempty"` // start with the measurements of the last finished campaign
}

// When has the conditions under which a scheduled campaign starts. It starts if one of the conditions
// holds. It also starts if no earlier campaign exists, or if there are no conditions.
type When struct {
	AgeSeconds float64 `json:"age_seconds,omitzero"` // minimum age of the last finished campaign
	Library    bool    `json:"library,omitzero"`     // path, version or checksum of a library changed
	Nodes      bool    `json:"nodes,omitzero"`       // the list of nodes changed
	Drift      float64 `json:"drift,omitzero"`       // minimum median relative change of a few repeated measurements
}

// CronEntry returns the schedule in the syntax of gocron. Without a time zone in the base, the machine's
// time zone applies.
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

// baseList returns the type of the key bases.
func baseList(s *Service, dir string) value {
	word := schema{"type": "string"}
	when := objectSchema(nil, map[string]schema{"age": word, "library": {"type": "boolean"}, "nodes": {"type": "boolean"}, "drift": {"type": "number"}})
	item := objectSchema([]string{"name", "file"}, map[string]schema{
		"name": word, "file": word, "machine": word, "schedule": word, "time_zone": word, "from_last": {"type": "boolean"}, "when": when,
	})
	read := func(_ *Campaign, v any) error { return readBases(s, dir, v) }
	return value{read: read, schema: schema{"type": "array", "items": item, "minItems": 1}}
}

// readBases reads the value of the configuration key "bases".
func readBases(s *Service, dir string, v any) error {
	given, ok := v.([]any)
	if !ok || len(given) == 0 {
		return errors.New("want a list of campaign files, each with name and file")
	}
	var faults faultList
	for i, item := range given {
		b, err := toBase(item, dir)
		if err == nil && slices.ContainsFunc(s.Bases, func(o Base) bool { return o.Name == b.Name }) {
			err = fmt.Errorf("%s is given twice", b.Name)
		}
		if err != nil {
			faults.add(fmt.Sprintf("[%d]", i), err)
		}
		s.Bases = append(s.Bases, b)
	}
	return faults.err()
}

// toBase converts one item of the list bases, and reads the campaign file that the item names.
func toBase(item any, dir string) (Base, error) {
	m, ok := item.(map[string]any)
	if !ok {
		return Base{}, errors.New("want name and file")
	}
	var b Base
	if err := eachKey(m, func(key string, v any) error { return setBase(&b, key, v) }); err != nil {
		return b, err
	}
	if b.Name == "" || b.File == "" {
		return b, errors.New("want name and file")
	}
	if b.When != (When{}) && b.Schedule == "" {
		return b, errors.New("when: needs a schedule")
	}
	if err := b.checkSchedule(); err != nil {
		return b, fmt.Errorf("schedule: %w", err)
	}
	if !filepath.IsAbs(b.File) {
		b.File = filepath.Join(dir, b.File)
	}
	c, err := Load(b.File, Layers{})
	if err != nil {
		return b, err
	}
	b.Machine = cmp.Or(b.Machine, c.Machine, b.Name)
	b.Runner, b.Collectives, b.Demand = c.Runner.Kind, c.Collectives, demand(c)
	for _, lib := range c.Libraries {
		b.Libraries = append(b.Libraries, lib.Name)
	}
	return b, nil
}

// eachKey calls set for each key in sorted order. It stops at the first error and returns this error with
// the key.
func eachKey(m map[string]any, set func(key string, v any) error) error {
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if err := set(key, m[key]); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	return nil
}

// setBase sets one field of a base, by its key in the service file.
func setBase(b *Base, key string, v any) error {
	switch key {
	case "name":
		return text(func(*Campaign) *string { return &b.Name }, isName).read(nil, v)
	case "file":
		return text(func(*Campaign) *string { return &b.File }, notEmpty).read(nil, v)
	case "machine":
		return text(func(*Campaign) *string { return &b.Machine }, notEmpty).read(nil, v)
	case "schedule":
		return text(func(*Campaign) *string { return &b.Schedule }, notEmpty).read(nil, v)
	case "time_zone":
		return text(func(*Campaign) *string { return &b.TimeZone }, notEmpty).read(nil, v)
	case "from_last":
		return boolean(func(*Campaign) *bool { return &b.FromLast }).read(nil, v)
	case "when":
		m, ok := v.(map[string]any)
		if !ok || len(m) == 0 {
			return errors.New("want one or more of age, library, nodes, drift")
		}
		return eachKey(m, func(key string, v any) error { return setWhen(&b.When, key, v) })
	}
	return fmt.Errorf("unknown key: %s", Hint(key, []string{"name", "file", "machine", "schedule", "time_zone", "from_last", "when"}))
}

// setWhen sets one condition of a schedule, by its key in the service file.
func setWhen(w *When, key string, v any) error {
	switch key {
	case "age":
		var age time.Duration
		err := duration(func(*Campaign) *time.Duration { return &age }).read(nil, v)
		w.AgeSeconds = age.Seconds()
		return err
	case "library":
		return boolean(func(*Campaign) *bool { return &w.Library }).read(nil, v)
	case "nodes":
		return boolean(func(*Campaign) *bool { return &w.Nodes }).read(nil, v)
	case "drift":
		return number(func(*Campaign) *float64 { return &w.Drift }, 0.001, 10).read(nil, v)
	}
	return fmt.Errorf("unknown key: %s", Hint(key, []string{"age", "library", "nodes", "drift"}))
}
