package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// FieldError is the error about one field of a request to a service.
type FieldError struct {
	Field string // path, such as "set.stop.slowdown"
	Text  string // what is wrong, and what is allowed
}

func (e *FieldError) Error() string { return e.Field + ": " + e.Text }

// Demand is the budget that a campaign requests. Campaigns on recorded data request no node-hours.
type Demand struct {
	Measures  bool    // whether the campaign runs benchmarks
	NodeHours float64 // budget of the campaign; 0: none
}

// settable lists the keys of a campaign file that a request to a service may set. A name that ends in a dot
// stands for all keys of a section. None of the keys is a path, a command or an environment variable. None
// determines where the campaign measures, or with which programs.
var settable = []string{"seed", "collectives", "grid.nodes", "grid.ppn", "grid.sizes", "method", "stop.", "strategy.", "hpo.trials"}

func isSettable(key string) bool {
	return slices.ContainsFunc(settable, func(s string) bool { return key == s || strings.HasSuffix(s, ".") && strings.HasPrefix(key, s) })
}

// Settable returns the keys that a request to a service may set.
func Settable() []string {
	var keys []string
	for _, f := range fields(&Campaign{}) {
		if isSettable(f.key) {
			keys = append(keys, f.key)
		}
	}
	return keys
}

// CheckSettings applies the settings of a request to a campaign file and returns the resulting demand. For
// a setting that is not allowed the error is a *FieldError. Only keys of Settable are allowed. A budget
// must not exceed that of the file. A campaign that runs benchmarks must not use more nodes than the file
// allows.
func CheckSettings(path string, set map[string]string) (Demand, error) {
	var given []string
	for _, key := range slices.Sorted(maps.Keys(set)) {
		if !slices.Contains(Settable(), key) {
			return Demand{}, &FieldError{Field: "set." + key, Text: "cannot be set: want one of " + strings.Join(Settable(), ", ")}
		}
		if strings.TrimSpace(set[key]) == "" {
			return Demand{}, &FieldError{Field: "set." + key, Text: "is empty"}
		}
		given = append(given, key+"="+set[key])
	}
	content, dir, err := readFile(path)
	if err != nil {
		return Demand{}, fmt.Errorf("campaign file: %w", err)
	}
	file := newLoader(path)
	base := file.campaign(dir, content, Layers{})
	if err := file.err(ErrConfig); err != nil {
		return Demand{}, err
	}
	l := newLoader(path)
	c := l.campaign(dir, content, Layers{Set: given})
	if len(l.faults) > 0 {
		return Demand{}, l.fieldError(set)
	}
	if err := errors.Join(overBudget(base, c), overNodes(base, c)); err != nil {
		return Demand{}, err
	}
	return demand(c), nil
}

func demand(c *Campaign) Demand {
	return Demand{Measures: c.Runner.Live(), NodeHours: c.Stop.NodeHours}
}

// fieldError converts the first fault into an error about a field of the request.
func (l *loader) fieldError(set map[string]string) error {
	f := l.faults[0]
	list, _, _ := strings.Cut(f.key, "[")
	if _, given := set[list]; !given {
		return &FieldError{Field: "set", Text: strings.TrimPrefix(f.key+": "+f.text, ": ")}
	}
	return &FieldError{Field: "set." + f.key, Text: f.text}
}

// overBudget returns an error if a budget or the number of trials of the campaign c exceeds that of the
// campaign file.
func overBudget(base, c *Campaign) error {
	budgets := []struct {
		key        string
		most, want float64
		text       string
	}{
		{"stop.machine_time", base.Stop.MachineTime.Seconds(), c.Stop.MachineTime.Seconds(), base.Stop.MachineTime.String()},
		{"stop.wall_time", base.Stop.WallTime.Seconds(), c.Stop.WallTime.Seconds(), base.Stop.WallTime.String()},
		{"stop.node_hours", base.Stop.NodeHours, c.Stop.NodeHours, fmt.Sprint(base.Stop.NodeHours)},
	}
	for _, b := range budgets {
		if b.most > 0 && (b.want > b.most || b.want == 0) {
			return &FieldError{Field: "set." + b.key, Text: fmt.Sprintf("the campaign file allows more than 0 and at most %s", b.text)}
		}
	}
	if c.HPO.Trials > base.HPO.Trials {
		return &FieldError{Field: "set.hpo.trials", Text: fmt.Sprintf("the campaign file allows at most %d", base.HPO.Trials)}
	}
	return nil
}

// overNodes returns an error if the campaign c measures on more nodes than the campaign file allows.
func overNodes(base, c *Campaign) error {
	if !c.Runner.Live() {
		return nil
	}
	most := slices.Max(base.Grid.Nodes)
	for i, n := range c.Grid.Nodes {
		if n > most {
			return &FieldError{Field: fmt.Sprintf("set.grid.nodes[%d]", i), Text: fmt.Sprintf("%d: the campaign file has at most %d nodes", n, most)}
		}
	}
	return nil
}
