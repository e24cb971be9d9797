package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/viper"
	"go.yaml.in/yaml/v3"

	"tutti/activelearn"
	"tutti/campaign"
	"tutti/internal/infile"
	"tutti/internal/lazyregexp"
)

// ErrConfig is the error for the contents of a campaign file. errors.Is finds it in every such error.
var ErrConfig = errors.New("campaign file")

// EnvPrefix is the prefix of environment variables that override keys. For example, TUTTI_STOP_SLOWDOWN
// overrides stop.slowdown.
const EnvPrefix = "TUTTI_"

// Layers are values that override keys of the campaign file. Settings take precedence over environment
// variables.
type Layers struct {
	Environ []string // NAME=VALUE, as from os.Environ
	Set     []string // KEY=VALUE
}

// Load reads a campaign file. If the file is missing, the error matches fs.ErrNotExist. Other errors match
// ErrConfig and have one line for each fault.
func Load(path string, layers Layers) (*Campaign, error) {
	content, dir, err := readFile(path)
	if err != nil {
		return nil, fmt.Errorf("campaign file: %w (tutti init writes one)", err)
	}
	l := newLoader(path)
	c := l.campaign(dir, content, layers)
	if err := l.err(ErrConfig); err != nil {
		return nil, err
	}
	return c, nil
}

// maxFile is the largest size of a campaign file, a service file or a site profile, in bytes.
const maxFile = 4 << 20

// readFile returns the content of a file, and the absolute path of its folder.
func readFile(path string) (content []byte, dir string, err error) {
	if content, err = infile.Read(path, maxFile); err == nil {
		dir, err = filepath.Abs(filepath.Dir(path))
	}
	return content, dir, err
}

// campaign parses the content of a campaign file. `dir` is the folder of the file. The loader
// collects all faults.
func (l *loader) campaign(dir string, content []byte, layers Layers) *Campaign {
	c := &Campaign{}
	if l.read(content) {
		c.Source = &Source{File: absolute(filepath.Base(l.path), dir), Keys: l.values()}
		l.layer(layers)
		l.addSite(dir)
		l.decode(fields(c))
		c.resolve(dir, l.fault)
		if c.Stop.CriteriaFrom == Auto {
			c.Stop.CriteriaFrom = string(campaign.SourceFor(activelearn.StrategyOf(c.Method)))
		}
		c.Grid.addBetween(activelearn.UsesPosterior(activelearn.StrategyOf(c.Method)))
		c.agree(l.fault)
	}
	return c
}

// err combines all faults into one error with a line for each fault. The error matches `what`. If
// there are no faults, it returns nil.
func (l *loader) err(what error) error {
	switch len(l.faults) {
	case 0:
		return nil
	case 1:
		return fmt.Errorf("%w: %v", what, l.faults[0])
	}
	text := fmt.Sprintf("%d faults", len(l.faults))
	for _, f := range l.faults {
		text += "\n" + f.String()
	}
	return fmt.Errorf("%w: %s", what, text)
}

// fault is one fault in a file or in another source of keys: its place, its key and a text.
type fault struct {
	place string // file and line, variable or --set
	key   string // empty if the fault is not about one key
	text  string
}

func (f fault) String() string {
	if f.key == "" {
		return f.place + ": " + f.text
	}
	return f.place + ": " + f.key + ": " + f.text
}

type loader struct {
	path   string
	v      *viper.Viper
	where  map[string]string // source of each key: file and line, variable or --set
	faulty map[string]bool   // keys with a fault
	faults []fault
}

func newLoader(path string) *loader {
	return &loader{path: path, v: viper.New(), where: map[string]string{}, faulty: map[string]bool{}}
}

// fault records that a key has a fault. It records only the first fault of a key.
func (l *loader) fault(key string, err error) {
	parts, ok := errors.AsType[faultList](err)
	if !ok {
		parts = faultList{{"", err}}
	}
	for _, p := range parts {
		if at := key + p.at; !l.faulty[at] {
			l.faulty[at] = true
			l.faults = append(l.faults, fault{l.place(at), at, p.err.Error()})
		}
	}
}

// place returns the file and line in which a key was given. For an item of a list it may return the line of the
// list. If no line is known, it returns the path of the file.
func (l *loader) place(key string) string {
	list, _, _ := strings.Cut(key, "[")
	return cmp.Or(l.where[key], l.where[list], l.path)
}

// read parses the file. It returns false if the file is not valid YAML.
func (l *loader) read(content []byte) bool {
	var doc, more yaml.Node
	d := yaml.NewDecoder(bytes.NewReader(content))
	err := d.Decode(&doc)
	if errors.Is(err, io.EOF) {
		return true // an empty file: the missing keys are reported later
	}
	values := map[string]any{}
	if err == nil && tooLong(&doc) {
		l.faults = append(l.faults, fault{l.path, "", fmt.Sprintf("want at most %d keys and values", maxNodes)})
		return false
	}
	if err == nil {
		l.walk("", doc.Content[0])
		if d.Decode(&more) == nil {
			l.faults = append(l.faults, fault{l.at(more.Line), "", "a second document: want one"})
		}
		err = doc.Decode(&values)
	}
	if err == nil {
		err = l.v.MergeConfigMap(values)
	}
	if err != nil {
		l.faults = append(l.faults, l.yamlFaults(err)...)
	}
	return err == nil
}

// values returns the values of the file as texts, by key.
func (l *loader) values() map[string]string {
	out := map[string]string{}
	for _, key := range l.v.AllKeys() {
		out[key] = fmt.Sprint(l.v.Get(key))
	}
	return out
}

// maxNodes limits the keys and values of a file. The time to read a file grows with the square of their number.
const maxNodes = 10_000

func tooLong(doc *yaml.Node) bool {
	rest := []*yaml.Node{doc}
	for i := 0; i < len(rest) && len(rest) <= maxNodes; i++ {
		rest = append(rest, rest[i].Content...)
	}
	return len(rest) > maxNodes
}

var yamlLine = lazyregexp.New(`line (\d+): (.*)`)

// yamlFaults converts an error of the YAML parser into faults, each of which names the file.
func (l *loader) yamlFaults(err error) []fault {
	var faults []fault
	for _, m := range yamlLine.FindAllStringSubmatch(err.Error(), -1) {
		faults = append(faults, fault{l.path + ":" + m[1], "", "invalid YAML: " + m[2]})
	}
	if faults == nil {
		faults = []fault{{l.path, "", err.Error()}}
	}
	return faults
}

// at returns a text that names a line of the file.
func (l *loader) at(line int) string { return fmt.Sprintf("%s:%d", l.path, line) }

// walk records the line of each key. It reports keys without a value and octal numbers, which the YAML
// parser accepts.
func (l *loader) walk(key string, n *yaml.Node) {
	if key != "" {
		l.where[key] = l.at(n.Line)
	}
	switch {
	case n.Tag == "!!null" && key != "":
		l.fault(key, errors.New("has no value"))
	case n.Tag == "!!int" && len(n.Value) > 1 && n.Value[0] == '0':
		l.fault(key, fmt.Errorf("%s: want a decimal number without leading zeros", n.Value))
	case n.Kind == yaml.SequenceNode:
		for i, item := range n.Content {
			l.walk(fmt.Sprintf("%s[%d]", key, i), item)
		}
	case n.Kind == yaml.MappingNode:
		l.walkKeys(key, n)
	}
}

// walkKeys reports duplicate keys and removes them, because the decoder would stop at the first duplicate.
func (l *loader) walkKeys(section string, n *yaml.Node) {
	kept := n.Content[:0:0]
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, value := n.Content[i], n.Content[i+1]
		key := strings.ToLower(name.Value)
		if section != "" {
			key = section + "." + key
		}
		if l.where[key] != "" {
			l.faults = append(l.faults, fault{l.at(name.Line), key, "is given twice"})
			continue
		}
		kept = append(kept, name, value)
		l.walk(key, value)
		l.where[key] = l.at(name.Line)
	}
	n.Content = kept
}

// layer overrides keys of the file with environment variables and settings. It reports names that
// are not keys.
func (l *loader) layer(layers Layers) {
	known := map[string]string{}
	for _, f := range fields(&Campaign{}) {
		known[envName(f.key)] = f.key
	}
	for _, entry := range layers.Environ {
		name, value, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, EnvPrefix) || value == "" {
			continue
		}
		key, ok := known[name]
		if !ok {
			hint := ""
			if near := Suggest(name, slices.Sorted(maps.Keys(known))); near != "" {
				hint = ": did you mean " + near + "?"
			}
			l.faults = append(l.faults, fault{"variable " + name, "", "no such key of campaign files" + hint})
			continue
		}
		l.override(key, value, "variable "+name)
	}
	for _, entry := range layers.Set {
		key, value, ok := strings.Cut(entry, "=")
		if !ok {
			l.faults = append(l.faults, fault{"--set " + entry, "", "want key=value"})
			continue
		}
		l.override(strings.ToLower(key), value, "--set")
	}
}

// override replaces the value of a key. It also deletes the line numbers that were stored for the items of the old
// value.
func (l *loader) override(key, value, source string) {
	l.v.Set(key, value)
	maps.DeleteFunc(l.where, func(item, _ string) bool { return strings.HasPrefix(item, key+"[") })
	l.where[key] = source
}

func envName(key string) string {
	return EnvPrefix + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
}

// decode reads the value of every field. It reports keys in the file that match no field.
func (l *loader) decode(all []field) {
	for _, key := range slices.Sorted(slices.Values(l.v.AllKeys())) {
		if !slices.ContainsFunc(all, func(f field) bool { return f.key == key || strings.HasPrefix(key, f.key+".") }) {
			l.fault(key, unknownKey(key, all))
		}
	}
	for _, f := range all {
		given := f.initial
		if l.v.IsSet(f.key) {
			given = l.v.Get(f.key)
		} else if given == nil {
			l.fault(f.key, fmt.Errorf("is missing: %s", f.doc))
			continue
		}
		if err := f.value.read(given); err != nil {
			l.fault(f.key, err)
		}
	}
}

// unknownKey returns the error for an unknown key. The error suggests a similar key, or lists the keys of
// the same section. If the unknown key is a section's name, the error lists that section's keys.
func unknownKey(key string, all []field) error {
	section, _ := cutLast(key)
	var keys, siblings, below, top []string
	for _, f := range all {
		keys = append(keys, f.key)
		if s, name := cutLast(f.key); s == section {
			siblings = append(siblings, name)
		}
		if name, ok := strings.CutPrefix(f.key, key+"."); ok {
			below = append(below, name)
		}
		if first, _, _ := strings.Cut(f.key, "."); !slices.Contains(top, first) {
			top = append(top, first)
		}
	}
	if below != nil {
		return fmt.Errorf("is a section: want keys in it, of %s", strings.Join(below, ", "))
	}
	if near := Suggest(key, keys); near != "" {
		return fmt.Errorf("unknown key: did you mean %s?", near)
	}
	if section == "" || siblings == nil {
		siblings = top
	}
	return fmt.Errorf("unknown key: want one of %s", strings.Join(siblings, ", "))
}

func cutLast(key string) (section, name string) {
	i := strings.LastIndex(key, ".")
	return key[:max(0, i)], key[i+1:]
}

// resolve makes paths absolute and reports required files that are missing.
func (c *Campaign) resolve(dir string, fault func(key string, err error)) {
	resolve := func(path *string, mustExist bool, key string) {
		if *path = absolute(*path, dir); *path != "" && mustExist {
			if _, err := os.Stat(*path); err != nil {
				fault(key, err)
			}
		}
	}
	resolve(&c.Site, false, "site") // the loader has read the profile
	resolve(&c.Output, false, "output")
	resolve(&c.Grid.Trace, false, "grid.trace")
	resolve(&c.Runner.Topology, false, "runner.topology")
	resolve(&c.Runner.Hosts, false, "runner.hosts") // the runner reads it when it starts
	for i := range c.Runner.Data {
		resolve(&c.Runner.Data[i], true, fmt.Sprintf("runner.data[%d]", i))
	}
	resolve(&c.Runner.Names, true, "runner.names")
	resolve(&c.Runner.Defaults, true, "runner.defaults")
	for i := range c.Libraries {
		key := fmt.Sprintf("libraries[%d].", i)
		resolve(&c.Libraries[i].Path, true, key+"path")
		resolve(&c.Libraries[i].Benchmark, false, "") // the program may exist only on the nodes
		resolve(&c.Libraries[i].LauncherPath, c.Runner.Live(), key+"launcher_path")
		for k := range c.Libraries[i].Algorithms {
			resolve(&c.Libraries[i].Algorithms[k], false, "")
		}
	}
	eachPath(&c.Sections, func(kind, key string, at *string) { resolve(at, c.Runner.Kind == kind, key) })
	if c.Runner.Defaults != "" && c.Runner.Recorded == "" {
		fault("runner.recorded", errors.New("is empty: want the machine's name in runner.defaults"))
	}
}

// absolute returns a path relative to `dir` as an absolute path. It returns "" for "".
func absolute(path, dir string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// faultList is an error about a key whose value is a list: the faults of single items.
type faultList []itemFault

type itemFault struct {
	at  string // index of the item, as [2]
	err error
}

func (f faultList) err() error {
	if len(f) == 0 {
		return nil
	}
	return f
}

// Error returns all faults in one text. The loader does not use this text, because it reports each fault at its own
// place (see loader.fault).
func (f faultList) Error() string {
	parts := make([]string, len(f))
	for i, p := range f {
		parts[i] = p.at + ": " + p.err.Error()
	}
	return strings.Join(parts, "; ")
}
