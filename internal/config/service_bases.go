package config

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"tutti/service"
)

// bases reads the list of campaign files.
func bases(s *Service, dir string, v any) error {
	given, ok := v.([]any)
	if !ok || len(given) == 0 {
		return errors.New("want a list of campaign files, each with name and file")
	}
	var faults faultList
	for i, item := range given {
		b, err := toBase(item, dir)
		if err == nil && slices.ContainsFunc(s.Bases, func(o service.Base) bool { return o.Name == b.Name }) {
			err = fmt.Errorf("%s is given twice", b.Name)
		}
		if err != nil {
			faults.add(fmt.Sprintf("[%d]", i), err)
		}
		s.Bases = append(s.Bases, b)
	}
	return faults.err()
}

// toBase reads one item of bases and the campaign file it names.
func toBase(item any, dir string) (service.Base, error) {
	m, ok := item.(map[string]any)
	if !ok {
		return service.Base{}, errors.New("want name and file")
	}
	var b service.Base
	if err := eachKey(m, func(key string, v any) error { return setBase(&b, key, v) }); err != nil {
		return b, err
	}
	if b.Name == "" || b.File == "" {
		return b, errors.New("want name and file")
	}
	if b.When != (service.When{}) && b.Schedule == "" {
		return b, errors.New("when: is for a schedule, but there is none")
	}
	if err := service.CheckSchedule(b.Schedule, b.TimeZone); err != nil {
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
	b.Runner, b.Collectives, b.Ask = c.Runner.Kind, c.Collectives, ask(c)
	for _, lib := range c.Libraries {
		b.Libraries = append(b.Libraries, lib.Name)
	}
	return b, nil
}

// eachKey reads the keys of an item in order, up to the first with a fault, which it names.
func eachKey(m map[string]any, set func(key string, v any) error) error {
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if err := set(key, m[key]); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	return nil
}

// setBase reads one key of a base.
func setBase(b *service.Base, key string, v any) error {
	switch key {
	case "name":
		return text(func(*Campaign) *string { return &b.Name }, isName)(nil, v)
	case "file":
		return text(func(*Campaign) *string { return &b.File }, notEmpty)(nil, v)
	case "machine":
		return text(func(*Campaign) *string { return &b.Machine }, notEmpty)(nil, v)
	case "schedule":
		return text(func(*Campaign) *string { return &b.Schedule }, notEmpty)(nil, v)
	case "time_zone":
		return text(func(*Campaign) *string { return &b.TimeZone }, notEmpty)(nil, v)
	case "from_last":
		return boolean(func(*Campaign) *bool { return &b.FromLast })(nil, v)
	case "when":
		m, ok := v.(map[string]any)
		if !ok || len(m) == 0 {
			return errors.New("want one or more of age, library, nodes, drift")
		}
		return eachKey(m, func(key string, v any) error { return setWhen(&b.When, key, v) })
	}
	return errors.New("unknown key: want name, file, machine, schedule, time_zone, from_last, when")
}

// setWhen reads one condition.
func setWhen(w *service.When, key string, v any) error {
	switch key {
	case "age":
		var age time.Duration
		err := duration(func(*Campaign) *time.Duration { return &age })(nil, v)
		w.AgeSeconds = age.Seconds()
		return err
	case "library":
		return boolean(func(*Campaign) *bool { return &w.Library })(nil, v)
	case "nodes":
		return boolean(func(*Campaign) *bool { return &w.Nodes })(nil, v)
	case "drift":
		return number(func(*Campaign) *float64 { return &w.Drift }, 0.001, 10)(nil, v)
	}
	return errors.New("unknown key: want age, library, nodes, drift")
}
