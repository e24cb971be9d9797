package config

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"tutti/coll"
	"tutti/service"
)

// ErrService is matched by every error about the contents of a service file.
var ErrService = errors.New("service file")

// Service is a service file after reading: every value checked, every path
// absolute, every campaign file it names read once.
type Service struct {
	State  string // folder
	Listen string // host:port or unix:PATH
	Cert   string // PEM files, both or none
	Key    string
	Tokens string   // file; "" for none
	Hosts  []string // names that browsers may use for the address
	Bases  []service.Base
	Limits ServiceLimits
	Drain  time.Duration
	Pprof  bool
}

// ServiceLimits bound what a service takes on.
type ServiceLimits struct {
	Waiting  int   // campaigns
	LogBytes int64 // of the log of one campaign
	Rate     float64
	Burst    int
	Streams  int
}

// serviceFields lists every key of a service file. The readers of campaign files
// serve here, too; they need no campaign to put the value into s.
func serviceFields(s *Service, dir string) []field {
	return []field{
		{"state", "folder of the campaigns and of all that the service keeps", nil, text(func(*Campaign) *string { return &s.State }, notEmpty)},
		{"listen", "host:port or unix:PATH; any address but loopback and a socket needs TLS and tokens", "127.0.0.1:8372", text(func(*Campaign) *string { return &s.Listen }, isListen)},
		{"tls.cert", "certificate (PEM)", "", text(func(*Campaign) *string { return &s.Cert }, anything)},
		{"tls.key", "its key (PEM)", "", text(func(*Campaign) *string { return &s.Key }, anything)},
		{"tokens", "file of the tokens that requests need (tutti token create); none: whoever reaches the address may do everything", "", text(func(*Campaign) *string { return &s.Tokens }, anything)},
		{"hosts", "names that requests may be addressed to, beside those of loopback", []any{}, texts(func(*Campaign) *[]string { return &s.Hosts }, 0, isHost)},
		{"bases", "campaign files that campaigns are made from, each with name and file and perhaps machine, schedule, time_zone, from_last and when", nil, func(_ *Campaign, v any) error { return bases(s, dir, v) }},
		{"limits.waiting", "campaigns that may wait", 100, whole(func(*Campaign) *int { return &s.Limits.Waiting }, 1, 100000)},
		{"limits.log", "most bytes of the log of one campaign, as 1MiB", "1MiB", logBytes(&s.Limits.LogBytes)},
		{"limits.rate", "requests a second of one client, on average", 100.0, number(func(*Campaign) *float64 { return &s.Limits.Rate }, 0.1, 1e6)},
		{"limits.burst", "requests of one client at once", 500, whole(func(*Campaign) *int { return &s.Limits.Burst }, 1, 1000000)},
		{"limits.streams", "clients that watch events at the same time", 1000, whole(func(*Campaign) *int { return &s.Limits.Streams }, 1, 100000)},
		{"drain", "time that campaigns have to stop when the service is stopped", "1m", duration(func(*Campaign) *time.Duration { return &s.Drain })},
		{"pprof", "serve profiles at /debug/pprof/: true or false", false, boolean(func(*Campaign) *bool { return &s.Pprof })},
	}
}

// LoadService reads a service file and the campaign files it names. The error
// matches ErrService and holds every fault on a line of its own, or fs.ErrNotExist
// when there is no file. Relative paths are relative to the folder of the file.
func LoadService(path string) (*Service, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("service file: %w", err)
	}
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	l := newLoader(path)
	s := &Service{}
	if l.read(content) {
		l.decode(nil, serviceFields(s, dir))
		s.resolve(dir)
		s.agree(l.fault)
	}
	if err := l.err(ErrService); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *Service) resolve(dir string) {
	for i, name := range s.Hosts {
		s.Hosts[i] = strings.ToLower(name) // as requests are compared
	}
	for _, path := range []*string{&s.State, &s.Cert, &s.Key, &s.Tokens} {
		if *path != "" && !filepath.IsAbs(*path) {
			*path = filepath.Join(dir, *path)
		}
	}
	if socket, ok := strings.CutPrefix(s.Listen, "unix:"); ok && !filepath.IsAbs(socket) {
		s.Listen = "unix:" + filepath.Join(dir, socket)
	}
}

// agree looks for keys that do not fit each other.
func (s *Service) agree(fault func(key string, err error)) {
	if (s.Cert == "") != (s.Key == "") {
		fault("tls.cert", errors.New("tls.cert and tls.key belong together: one of them is missing"))
	}
	host, _, err := net.SplitHostPort(s.Listen)
	if strings.HasPrefix(s.Listen, "unix:") || err != nil || isLoopback(host) {
		return // or a fault already
	}
	if s.Cert == "" || s.Tokens == "" {
		fault("listen", fmt.Errorf("%s can be reached by others: want tls.cert, tls.key and tokens, or a loopback address or unix:PATH", s.Listen))
	}
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func isListen(s string) error {
	if socket, ok := strings.CutPrefix(s, "unix:"); ok {
		if socket == "" {
			return errors.New("unix: without a path")
		}
		return isPrintable(socket)
	}
	_, port, err := net.SplitHostPort(s)
	if err != nil || port == "" {
		return fmt.Errorf("%q: want host:port, for example 127.0.0.1:8372, or unix:PATH", s)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return fmt.Errorf("%q: port %s: want a number from 0 to 65535", s, port)
	}
	return nil
}

// isHost allows what a request can be addressed to: a name or an address.
func isHost(s string) error {
	if s == "" || strings.ContainsAny(s, "/:@?# \t") && net.ParseIP(s) == nil {
		return fmt.Errorf("%q: want a name or an address, without scheme and port", s)
	}
	return isPrintable(s)
}

// logBytes reads a size with its unit.
func logBytes(at *int64) reader {
	return func(_ *Campaign, v any) error {
		n, err := coll.ParseBytes(fmt.Sprint(v))
		if err == nil && n < 4<<10 {
			err = fmt.Errorf("%v: want at least 4KiB", v)
		}
		if err == nil {
			*at = n
		}
		return err
	}
}

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
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if err := setBase(&b, key, m[key]); err != nil {
			return b, fmt.Errorf("%s: %w", key, err)
		}
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
	b.Runner, b.Collectives = c.Runner.Kind, c.Collectives
	for _, lib := range c.Libraries {
		b.Libraries = append(b.Libraries, lib.Name)
	}
	return b, nil
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
		for _, key := range slices.Sorted(maps.Keys(m)) {
			if err := setWhen(&b.When, key, m[key]); err != nil {
				return fmt.Errorf("%s: %w", key, err)
			}
		}
		return nil
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
