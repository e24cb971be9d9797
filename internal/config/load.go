package config

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"github.com/spf13/viper"
	"go.yaml.in/yaml/v3"

	"tutti/space"
)

// ErrConfig is matched by every error about the contents of a campaign file.
var ErrConfig = errors.New("campaign file")

// EnvPrefix begins the variables that override keys: TUTTI_STOP_SLOWDOWN sets
// stop.slowdown.
const EnvPrefix = "TUTTI_"

// Layers lie above the file: variables, then bound flags, then settings.
type Layers struct {
	Environ []string               // as os.Environ gives them
	Flags   map[string]*pflag.Flag // by key; only those that were given count
	Set     []string               // key=value, the highest layer
}

// Load reads a campaign file. The error matches ErrConfig and holds every fault
// on a line of its own, or fs.ErrNotExist when there is no file.
func Load(path string, layers Layers) (*Campaign, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("campaign file: %w (tutti init writes one)", err)
	}
	l := loader{path: path, v: viper.New()}
	l.v.SetConfigType("yaml")
	if err := l.v.ReadConfig(bytes.NewReader(content)); err != nil {
		return nil, fmt.Errorf("%w %s: %w", ErrConfig, path, err)
	}
	if err := l.index(content); err != nil {
		return nil, fmt.Errorf("%w %s: %w", ErrConfig, path, err)
	}
	l.layer(layers)
	c := l.decode()
	if len(l.faults) > 0 {
		return nil, fmt.Errorf("%w: %d faults\n%s", ErrConfig, len(l.faults), strings.Join(l.faults, "\n"))
	}
	if err := c.resolve(filepath.Dir(path)); err != nil {
		return nil, err
	}
	return c, nil
}

type loader struct {
	path   string
	v      *viper.Viper
	lines  map[string]int // key -> line of the file
	faults []string
}

func (l *loader) fault(key string, err error) {
	where := l.path
	if line := l.lines[key]; line > 0 {
		where = fmt.Sprintf("%s:%d", l.path, line)
	}
	var parts faultList
	if !errors.As(err, &parts) {
		parts = faultList{{"", err}}
	}
	for _, p := range parts {
		l.faults = append(l.faults, fmt.Sprintf("%s: %s%s: %v", where, key, p.at, p.err))
	}
}

// index finds the line of each key, and numbers that YAML would read as octal.
func (l *loader) index(content []byte) error {
	l.lines = map[string]int{}
	var doc yaml.Node
	if err := yaml.Unmarshal(content, &doc); err != nil {
		return err
	}
	if len(doc.Content) > 0 {
		l.walk("", doc.Content[0])
	}
	return nil
}

func (l *loader) walk(prefix string, n *yaml.Node) {
	if n.Kind != yaml.MappingNode {
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := prefix + strings.ToLower(n.Content[i].Value)
		value := n.Content[i+1]
		l.lines[key] = n.Content[i].Line
		switch {
		case value.Tag == "!!null":
			l.fault(key, errors.New("has no value"))
		case value.Tag == "!!int" && len(value.Value) > 1 && value.Value[0] == '0':
			l.fault(key, fmt.Errorf("%s: leading zeros are not allowed", value.Value))
		}
		l.walk(key+".", value)
	}
}

// layer puts variables, flags and settings above the file; what names no key is a
// fault.
func (l *loader) layer(layers Layers) {
	known := map[string]string{}
	for _, f := range fields() {
		known[envName(f.key)] = f.key
	}
	for _, entry := range layers.Environ {
		name, value, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, EnvPrefix) || value == "" {
			continue
		}
		key, ok := known[name]
		if !ok {
			l.faults = append(l.faults, fmt.Sprintf("variable %s: names no key of a campaign file", name))
			continue
		}
		l.v.Set(key, value)
	}
	for key, flag := range layers.Flags {
		if flag.Changed {
			l.v.Set(key, flag.Value.String())
		}
	}
	for _, entry := range layers.Set {
		key, value, ok := strings.Cut(entry, "=")
		if !ok {
			l.faults = append(l.faults, fmt.Sprintf("--set %s: want key=value", entry))
			continue
		}
		l.v.Set(key, value)
	}
}

func envName(key string) string {
	return EnvPrefix + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
}

// decode reads every field and notes what is not a field.
func (l *loader) decode() *Campaign {
	c := &Campaign{}
	all := fields()
	for _, key := range slices.Sorted(slices.Values(l.v.AllKeys())) {
		if slices.ContainsFunc(all, func(f field) bool { return f.key == key }) {
			continue
		}
		l.fault(key, fmt.Errorf("unknown key%s", suggestion(key, all)))
	}
	for _, f := range all {
		switch {
		case l.v.IsSet(f.key):
			if err := f.read(c, l.v.Get(f.key)); err != nil {
				l.fault(f.key, err)
			}
		case f.initial != nil:
			if err := f.read(c, f.initial); err != nil {
				l.fault(f.key, err)
			}
		case !l.section(f.key):
			l.fault(f.key, fmt.Errorf("is missing: %s", f.doc))
		}
	}
	return c
}

// section reports whether a key was noted as having no value already.
func (l *loader) section(key string) bool { return l.lines[key] > 0 }

// suggestion names the keys beside an unknown one.
func suggestion(key string, all []field) string {
	section, _, _ := cutLast(key)
	var beside []string
	for _, f := range all {
		if s, name, _ := cutLast(f.key); s == section {
			beside = append(beside, name)
		}
	}
	if len(beside) == 0 {
		for _, f := range all {
			top, _, _ := strings.Cut(f.key, ".")
			if !slices.Contains(beside, top) {
				beside = append(beside, top)
			}
		}
	}
	return ": want one of " + strings.Join(beside, ", ")
}

func cutLast(key string) (section, name string, ok bool) {
	i := strings.LastIndex(key, ".")
	if i < 0 {
		return "", key, false
	}
	return key[:i], key[i+1:], true
}

// resolve makes paths absolute and looks for the files that must be there.
func (c *Campaign) resolve(dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	var faults []error
	absolute := func(path *string, mustExist bool, key string) {
		if *path == "" {
			return
		}
		if !filepath.IsAbs(*path) {
			*path = filepath.Join(dir, *path)
		}
		if mustExist {
			if _, err := os.Stat(*path); err != nil {
				faults = append(faults, fmt.Errorf("%w: %s: %w", ErrConfig, key, err))
			}
		}
	}
	absolute(&c.Output, false, "output")
	for i := range c.Runner.Data {
		absolute(&c.Runner.Data[i], true, fmt.Sprintf("runner.data[%d]", i))
	}
	absolute(&c.Runner.Names, true, "runner.names")
	absolute(&c.Runner.Defaults, true, "runner.defaults")
	for i := range c.Libraries {
		absolute(&c.Libraries[i].Path, true, fmt.Sprintf("libraries[%d].path", i))
	}
	if c.Runner.Defaults != "" && c.Runner.Recorded == "" {
		faults = append(faults, fmt.Errorf("%w: runner.recorded: is empty: want the machine's name in runner.defaults", ErrConfig))
	}
	if err := c.checkGrid(); err != nil {
		faults = append(faults, fmt.Errorf("%w: %w", ErrConfig, err))
	}
	return errors.Join(faults...)
}

// checkGrid looks for numbers given twice; an empty axis stands for everything
// recorded, so it gets a stand-in.
func (c *Campaign) checkGrid() error {
	g := space.Grid{Nodes: c.Grid.Nodes, PPN: c.Grid.PPN, MsgBytes: c.Grid.Sizes}
	if len(g.Nodes) == 0 {
		g.Nodes = []int{1}
	}
	if len(g.PPN) == 0 {
		g.PPN = []int{1}
	}
	if len(g.MsgBytes) == 0 {
		g.MsgBytes = []int64{1}
	}
	return g.Validate()
}

// faultList is several faults of one key, each with an index.
type faultList []struct {
	at  string
	err error
}

func (f *faultList) add(at string, err error) {
	*f = append(*f, struct {
		at  string
		err error
	}{at, err})
}

func (f faultList) err() error {
	if len(f) == 0 {
		return nil
	}
	return f
}

// Error joins the faults; the loader takes them apart instead.
func (f faultList) Error() string {
	parts := make([]string, len(f))
	for i, p := range f {
		parts[i] = p.at + ": " + p.err.Error()
	}
	return strings.Join(parts, "; ")
}
