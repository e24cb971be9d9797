package config

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"tutti/benchrunner/runners"
)

// Machine has values for a new campaign file that depend on the machine. For an empty field the file gets
// an example.
type Machine struct {
	Campaign string // name of the campaign and of its output folder
	Library  Library
	Nodes    []int
	PPN      []int
	Values   map[string]string // of further keys, as YAML
}

func examples(kind string, m Machine) map[string]string {
	name := cmp.Or(m.Campaign, "night")
	if isName(name) != nil {
		name = "campaign"
	}
	e := map[string]string{
		"name":        name,
		"output":      "results/" + name,
		"libraries":   "\n  - name: mpich\n    version: \"4.0.2\"\n  - name: openmpi\n    version: \"4.1.4\"",
		"collectives": "[allreduce, bcast]",
		"runner.kind": kind,
		"runner.data": "\n    - measurements.csv",
	}
	maps.Copy(e, m.Values)
	if runners.Facts(kind).Recorded {
		return e
	}
	e["libraries"] = "\n  - name: mpich\n    version: \"4.0.2\"\n    benchmark: tutti-native-mpich"
	if m.Library.Name != "" {
		e["libraries"] = libraryYAML(m.Library)
	}
	e["grid.nodes"], e["grid.ppn"], e["grid.sizes"] = "[1, 2, 4, 8]", "[1, 2, 4, 8]", "[8B, 64B, 512B, 4KiB, 32KiB, 256KiB, 1MiB]"
	if runners.Facts(kind).OneNode {
		e["grid.nodes"] = "[1]"
	}
	if len(m.Nodes) > 0 {
		e["grid.nodes"] = numberList(m.Nodes)
	}
	if len(m.PPN) > 0 {
		e["grid.ppn"] = numberList(m.PPN)
	}
	return e
}

func libraryYAML(l Library) string {
	text := fmt.Sprintf("\n  - name: %s\n    version: %q\n    benchmark: %s", l.Name, l.Version, l.Benchmark)
	for _, k := range []struct{ key, value string }{{"path", l.Path}, {"launcher", l.Launcher}, {"launcher_path", l.LauncherPath}, {"pmi", l.PMI}} {
		if k.value != "" {
			text += fmt.Sprintf("\n    %s: %q", k.key, k.value)
		}
	}
	if len(l.Env) > 0 {
		text += fmt.Sprintf("\n    env: [\"%s\"]", strings.Join(l.Env, `", "`))
	}
	return text
}

func numberList(numbers []int) string {
	return strings.ReplaceAll(fmt.Sprint(numbers), " ", ", ")
}

// isUsedBy reports whether a campaign with the given kind of runner uses a key.
func isUsedBy(key, kind string) bool {
	section, _, _ := strings.Cut(key, ".")
	facts := runners.Facts(kind)
	replays := []string{"runner.data", "runner.names", "runner.defaults", "runner.recorded", "runner.noise", "runner.noise_tail", "runner.job_noise", "runner.failures",
		"runner.launch.model", "runner.launch.time", "runner.launch.time_per_node"}
	switch {
	case slices.Contains(replays, key):
		return facts.Recorded
	case key == "runner.ppn":
		return facts.OneNode
	case key == "runner.hosts":
		return facts.Attached && !facts.OneNode
	case slices.Contains([]string{"runner.parallel", "runner.parallel_nodes", "runner.topology", "runner.switches", "runner.order"}, key):
		return !facts.Recorded && !facts.OneNode
	case isSection(section):
		return section == kind
	case section == "benchmark", section == "runner" && key != "runner.kind":
		return !facts.Recorded
	}
	return true
}

// Template returns a commented campaign file. It contains every key that the given kind of runner uses.
func Template(kind string, m Machine) string {
	var b strings.Builder
	b.WriteString("# A tuning campaign. Relative paths are relative to the folder of this file; any\n" +
		"# key can be overridden by a variable (TUTTI_STOP_SLOWDOWN) or a flag (--set).\n")
	var open []string
	for _, f := range fields(&Campaign{}) {
		if !isUsedBy(f.key, kind) {
			continue
		}
		parts := strings.Split(f.key, ".")
		for depth, part := range parts[:len(parts)-1] {
			if depth < len(open) && open[depth] == part {
				continue
			}
			open = append(open[:depth:depth], part)
			if depth == 0 {
				b.WriteByte('\n')
			}
			fmt.Fprintf(&b, "%s%s:\n", strings.Repeat("  ", depth), part)
		}
		open = open[:min(len(open), len(parts)-1)]
		margin := strings.Repeat("  ", len(parts)-1)
		value := templateValue(f, kind, m)
		if !strings.HasPrefix(value, "\n") {
			value = " " + value
		}
		fmt.Fprintf(&b, "%s# %s\n%s%s:%s\n", margin, f.doc, margin, parts[len(parts)-1], value)
	}
	return b.String()
}

func templateValue(f field, kind string, m Machine) string {
	if example, ok := examples(kind, m)[f.key]; ok {
		return example
	}
	switch v := f.initial.(type) {
	case string:
		if v == "" || strings.HasSuffix(v, "s") && v[0] == '0' {
			return fmt.Sprintf("%q", v)
		}
		return v
	case []any:
		return strings.ReplaceAll(fmt.Sprint(v), " ", ", ")
	default:
		return fmt.Sprint(v)
	}
}

// Restore returns the campaign that a journal contains as JSON. The folder of the restored campaign is `dir`.
func Restore(spec json.RawMessage, dir string) (*Campaign, error) {
	d := json.NewDecoder(bytes.NewReader(spec))
	d.DisallowUnknownFields()
	c := &Campaign{Export: Export{Guard: true}} // journals of releases without the key are guarded
	if err := d.Decode(c); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	c.Output = dir
	var faults []error
	c.resolve("/", func(key string, err error) {
		faults = append(faults, fmt.Errorf("%w: %s: %w", ErrConfig, key, err))
	})
	return c, errors.Join(faults...)
}
