package config

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tutti/service"
)

// settable are the keys of a campaign file that a request to a service may set, a
// section with its dot. None of them is a path, a command or a variable, and none
// says where or with what is measured.
var settable = []string{"seed", "collectives", "grid.nodes", "grid.ppn", "grid.sizes", "stop.", "strategy.", "hpo.trials"}

func isSettable(key string) bool {
	return slices.ContainsFunc(settable, func(s string) bool { return key == s || strings.HasSuffix(s, ".") && strings.HasPrefix(key, s) })
}

// Settable returns the keys that a request to a service may set.
func Settable() []string {
	var keys []string
	for _, f := range fields() {
		if isSettable(f.key) {
			keys = append(keys, f.key)
		}
	}
	return keys
}

// CheckSettings returns what the campaign of a file with the settings of a request asks of
// its machine. It reports what a request may not set, as a *service.FieldError, or what is
// wrong with the file itself. A budget of the file may be lowered, not raised, and a
// campaign that measures takes no more nodes than the file has.
func CheckSettings(path string, set map[string]string) (service.Ask, error) {
	var given []string
	for _, key := range slices.Sorted(maps.Keys(set)) {
		if !slices.Contains(Settable(), key) {
			return service.Ask{}, &service.FieldError{Field: "set." + key, Text: "cannot be set: want one of " + strings.Join(Settable(), ", ")}
		}
		if strings.TrimSpace(set[key]) == "" {
			return service.Ask{}, &service.FieldError{Field: "set." + key, Text: "is empty"}
		}
		given = append(given, key+"="+set[key])
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return service.Ask{}, fmt.Errorf("campaign file: %w", err)
	}
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return service.Ask{}, err
	}
	file := newLoader(path)
	base := file.campaign(dir, content, Layers{})
	if err := file.err(ErrConfig); err != nil {
		return service.Ask{}, err
	}
	l := newLoader(path)
	c := l.campaign(dir, content, Layers{Set: given})
	if len(l.faults) > 0 {
		return service.Ask{}, l.fieldError(set)
	}
	if err := errors.Join(overBudget(base, c), overNodes(base, c)); err != nil {
		return service.Ask{}, err
	}
	return ask(c), nil
}

// ask is what a campaign asks of its machine.
func ask(c *Campaign) service.Ask {
	return service.Ask{Measures: c.Runner.Live(), NodeHours: c.Stop.NodeHours}
}

// fieldError is the first fault as one of a field of the request.
func (l *loader) fieldError(set map[string]string) error {
	_, rest, _ := strings.Cut(l.faults[0], ": ") // after the place
	key, text, ok := strings.Cut(rest, ": ")
	list, _, _ := strings.Cut(key, "[")
	if _, given := set[list]; !ok || !given {
		return &service.FieldError{Field: "set", Text: rest}
	}
	return &service.FieldError{Field: "set." + key, Text: text}
}

// overBudget reports a budget that is above the one of the file.
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
			return &service.FieldError{Field: "set." + b.key, Text: fmt.Sprintf("the campaign file allows more than 0 and at most %s", b.text)}
		}
	}
	return nil
}

// overNodes reports a campaign that measures on more nodes than the file has.
func overNodes(base, c *Campaign) error {
	if !c.Runner.Live() {
		return nil
	}
	most := slices.Max(base.Grid.Nodes)
	for i, n := range c.Grid.Nodes {
		if n > most {
			return &service.FieldError{Field: fmt.Sprintf("set.grid.nodes[%d]", i), Text: fmt.Sprintf("%d: the campaign file has at most %d nodes", n, most)}
		}
	}
	return nil
}
