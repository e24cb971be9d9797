package config

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// amendable lists the keys that may change while a campaign exists. Other keys change what is measured, or the meaning of
// the evaluations in the journal.
var amendable = struct{ budgets, criteria []string }{
	budgets:  []string{"stop.machine_time", "stop.node_hours", "stop.wall_time", "stop.confirm"},
	criteria: []string{"stop.slowdown", "stop.mistakes", "stop.confidence", "stop.patience"},
}

// Amendment is a change of the budgets or the criteria of a campaign that exists.
type Amendment struct {
	Spec     json.RawMessage // the whole configuration with the changes, for the journal
	Stop     Stop            // of the changed configuration
	Changes  []Change        // in the order in which they were given
	Criteria bool            // a criterion is among the changes, and not budgets alone
	Confirms bool            // confirmation may measure more
}

// Change is a key with its values before and after a change, as texts.
type Change struct{ Key, Before, After string }

// String returns, for example, "stop.machine_time: 2m -> 4m". It names lists without their values, which may be long or
// secret.
func (c Change) String() string {
	if strings.ContainsAny(c.Before+c.After, "[ ") {
		return c.Key + " has changed"
	}
	return c.Key + ": " + cmp.Or(c.Before, "default") + " -> " + cmp.Or(c.After, "default")
}

// Amend changes keys of a configuration in a journal. `set` has items KEY=VALUE. Errors match ErrConfig and have one line
// for each fault.
func Amend(spec json.RawMessage, set []string) (Amendment, error) {
	c, l := &Campaign{}, newLoader("--set")
	if err := json.Unmarshal(spec, c); err != nil {
		return Amendment{}, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	var out Amendment
	confirm := c.Stop.Confirm
	for _, entry := range set {
		key, value, ok := strings.Cut(entry, "=")
		key = strings.ToLower(key)
		if !ok {
			l.fault(entry, errors.New("want key=value"))
			continue
		}
		if err := checkAmendable(key); err != nil {
			l.fault(key, err)
			continue
		}
		before := c.Stop.text(key)
		at := slices.IndexFunc(fields(c), func(f field) bool { return f.key == key })
		if err := fields(c)[at].value.read(value); err != nil {
			l.fault(key, err)
			continue
		}
		if c.Source != nil && c.Source.Keys != nil {
			c.Source.amend(key, value)
		}
		out.Changes = append(out.Changes, Change{key, before, c.Stop.text(key)})
		out.Criteria = out.Criteria || slices.Contains(amendable.criteria, key)
	}
	if err := l.err(ErrConfig); err != nil {
		return Amendment{}, err
	}
	var err error
	out.Stop, out.Confirms = c.Stop, c.Stop.Confirm > confirm
	out.Spec, err = json.Marshal(c)
	return out, err
}

// amend notes that a key has another value than in the file.
func (s *Source) amend(key, value string) {
	if s.Amended == nil {
		s.Amended = map[string]string{}
	}
	if _, again := s.Amended[key]; !again {
		s.Amended[key] = s.Keys[key]
	}
	s.Keys[key] = value
}

// Amendable reports whether a key may change while a campaign exists.
func Amendable(key string) bool {
	return slices.Contains(amendable.budgets, key) || slices.Contains(amendable.criteria, key)
}

// Edits returns the path of the file of a campaign, and which of its keys were edited since the campaign read it. The
// changes are in the order of the keys, and a value is empty for a key that is not in the file.
func Edits(spec json.RawMessage) (file string, edits []Change, err error) {
	var c Campaign
	if err := json.Unmarshal(spec, &c); err != nil || c.Source == nil {
		return "", nil, err
	}
	content, _, err := readFile(c.Source.File)
	if err != nil {
		return "", nil, err
	}
	l := newLoader(c.Source.File)
	if !l.read(content) {
		return "", nil, l.err(ErrConfig)
	}
	return c.Source.File, changes(c.Source, l.values()), nil
}

// Differences returns how the file of a configuration differs from the one that a journal's configuration was read from:
// as Edits, and first the key "file" if it is another path. The output is not compared.
func (c *Campaign) Differences(spec json.RawMessage) ([]Change, error) {
	var past Campaign
	if err := json.Unmarshal(spec, &past); err != nil || past.Source == nil || c.Source == nil {
		return nil, err
	}
	var out []Change
	if past.Source.File != c.Source.File {
		out = append(out, Change{"file", past.Source.File, c.Source.File})
	}
	out = append(out, changes(past.Source, c.Source.Keys)...)
	return slices.DeleteFunc(out, func(x Change) bool { return x.Key == "output" }), nil
}

// changes returns the keys whose values differ, in their order. A key that Amend has set may still have the value of the file.
func changes(past *Source, after map[string]string) (edits []Change) {
	keys := slices.AppendSeq(slices.Collect(maps.Keys(past.Keys)), maps.Keys(after))
	slices.Sort(keys)
	for _, key := range slices.Compact(keys) {
		inFile, amended := past.Amended[key]
		if past.Keys[key] != after[key] && !(amended && inFile == after[key]) {
			edits = append(edits, Change{key, past.Keys[key], after[key]})
		}
	}
	return edits
}

// checkAmendable returns an error if a key must not change while a campaign exists.
func checkAmendable(key string) error {
	all := fields(&Campaign{})
	switch {
	case Amendable(key):
		return nil
	case !slices.ContainsFunc(all, func(f field) bool { return f.key == key }):
		return unknownKey(key, all)
	}
	return fmt.Errorf("cannot change in a campaign that exists, because the journal depends on it: want one of %s; for another value start a new campaign with these measurements: tutti tune --from", strings.Join(slices.Concat(amendable.budgets, amendable.criteria), ", "))
}

// text returns the value of a key of the section.
func (s Stop) text(key string) string {
	return fmt.Sprint(map[string]any{
		"stop.machine_time": ShortDuration(s.MachineTime), "stop.wall_time": ShortDuration(s.WallTime), "stop.node_hours": s.NodeHours,
		"stop.confirm": s.Confirm, "stop.slowdown": s.Slowdown, "stop.mistakes": s.Mistakes, "stop.confidence": s.Confidence, "stop.patience": s.Patience,
	}[key])
}

// ShortDuration returns a duration as campaign files and flags accept it, without units that are zero: 2h instead of
// 2h0m0s.
func ShortDuration(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
