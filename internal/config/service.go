package config

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// ErrService is the error for the content of a service file. errors.Is finds it in every such error.
var ErrService = errors.New("service file")

// Service is the content of a service file. All values are valid, and all paths are absolute. The campaign
// files that it names were read without an error.
type Service struct {
	State  string // folder
	Listen string // host:port or unix:PATH

	SocketMode  fs.FileMode // permissions of the socket
	SocketGroup int         // its group; -1: that of the process

	Cert   string // PEM files, both or none
	Key    string
	Tokens string   // file; "" for none
	Public *url.URL // address that browsers use behind a reverse proxy; nil without a proxy
	Bases  []Base
	Online []SampleFolder
	Notify []Receiver
	Quota  Quota
	Limits ServiceLimits
	Drain  time.Duration
	Pprof  bool
}

// Quota limits the node-hours of campaigns. Campaigns on recorded data take none. The default for a campaign is
// the budget that tutti tune uses without asking the user. The default for a day is 24, the node-hours of one
// node that is always busy.
type Quota struct {
	Campaign float64 // maximum budget of one campaign
	Day      float64 // maximum of all campaigns and drift measurements of a day, from midnight to midnight
}

// Overrun is the factor by which a campaign may exceed its budget. A campaign checks its budget only
// between rounds. A service stops a campaign whose cost exceeds the budget times Overrun.
const Overrun = 1.2

// ServiceLimits has the upper limits of a service, for example on the length of the queue and on the size
// of logs.
type ServiceLimits struct {
	Waiting     int           // campaigns in the queue
	LogBytes    int64         // size of the log of one campaign
	DiskBytes   int64         // size of all files of one campaign
	Connections int           // number of open connections
	Streams     int           // number of event streams of one token
	Recorded    time.Duration // running time of a campaign on recorded data
}

// serviceFields returns the keys of a service file in the folder `dir`. The value of a key is stored in a
// field of s.
func serviceFields(s *Service, dir string) []field {
	return []field{
		{"state", "folder of the campaigns and all other files of the service", nil, text(&s.State, notEmpty)},
		{"listen", "host:port or unix:PATH; any address but loopback and a socket needs TLS and tokens", "127.0.0.1:8372", text(&s.Listen, isListen)},
		{"socket.mode", "permissions of the socket, in quotes: 0600 (the service's user), 0660 (also the group's members, such as a reverse proxy) or 0666 (every user of this machine); the last two need tokens", defaultSocketMode, socketMode(&s.SocketMode)},
		{"socket.group", "group of the socket, by name or number; none: the group of the service's process", "", socketGroup(&s.SocketGroup)},
		{"tls.cert", "certificate (PEM)", "", text(&s.Cert, anything)},
		{"tls.key", "its key (PEM)", "", text(&s.Key, anything)},
		{"tokens", "file of the tokens that requests need (tutti token create); none: everyone who reaches the address may operate the service", "", text(&s.Tokens, anything)},
		{"public_address", "URL under which browsers reach the service behind a reverse proxy, as https://tutti.example.org; it needs tokens", "", publicAddress(&s.Public)},
		{"bases", "campaign files that campaigns are created from, each with name and file and perhaps machine, schedule, time_zone, from_last, verify and when", nil, objects(&s.Bases, 1, baseFields, func(b *Base, before []Base) error { return b.complete(dir, before) })},
		{"online", "folders in which jobs leave samples, each with name and folder and perhaps table (folder of the table that they make; else STATE/online/NAME), base, release, exclude, every and drift", []any{}, objects(&s.Online, 0, sampleFolderFields, func(w *SampleFolder, before []SampleFolder) error { return w.complete(dir, before) })},
		{"notify", "receivers of notices about campaigns whose state changes, each with name, either url (and perhaps headers) or command, and perhaps states", []any{}, objects(&s.Notify, 0, receiverFields, (*Receiver).complete)},
		{"node_hours.campaign", "node-hours of a campaign on a machine, at most", 10.0, number(&s.Quota.Campaign, 0.001, 1e9)},
		{"node_hours.day", "node-hours of all campaigns from midnight to midnight, at most", 24.0, number(&s.Quota.Day, 0.001, 1e9)},
		{"limits.waiting", "campaigns in the queue, at most", 100, whole(&s.Limits.Waiting, 1, 100000)},
		{"limits.log", "size of the log of one campaign, at most", "1MiB", size(&s.Limits.LogBytes, 4<<10)},
		{"limits.disk", "size of all files of one campaign, the output of its benchmarks included, at most; the service stops a larger one", "4GiB", size(&s.Limits.DiskBytes, 1<<20)},
		{"limits.connections", "open connections, at most, and no more than half of the open files that the system allows; further ones wait", 1000, whole(&s.Limits.Connections, 1, 100000)},
		{"limits.streams", "open event streams of one token, at most; a token may have as many as remain free of half of the connections", 500, whole(&s.Limits.Streams, 1, 100000)},
		{"limits.recorded", "running time of a campaign on recorded data, which takes no node-hours, over all its processes, at most", "4h", duration(&s.Limits.Recorded)},
		{"drain", "time for campaigns to stop when the service is stopped", "1m", duration(&s.Drain)},
		{"pprof", "serve profiles at /debug/pprof/: true or false", false, boolean(&s.Pprof)},
	}
}

// LoadService reads a service file and the campaign files that it names. Relative paths in the service file
// are relative to its folder. If the file is missing, the error matches fs.ErrNotExist. Other errors match
// ErrService and have one line for each fault.
func LoadService(path string) (*Service, error) {
	content, dir, err := readFile(path)
	if err != nil {
		return nil, fmt.Errorf("service file: %w", err)
	}
	l := newLoader(path)
	s := &Service{}
	if l.read(content) {
		l.decode(serviceFields(s, dir))
		s.resolve(dir)
		s.agree(l.fault)
	}
	if err := l.err(ErrService); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *Service) resolve(dir string) {
	for _, path := range []*string{&s.State, &s.Cert, &s.Key, &s.Tokens} {
		*path = absolute(*path, dir)
	}
	if socket, ok := strings.CutPrefix(s.Listen, "unix:"); ok {
		s.Listen = "unix:" + absolute(socket, dir)
	}
}

// agree reports keys of a service file that contradict each other.
func (s *Service) agree(fault func(key string, err error)) {
	if (s.Cert == "") != (s.Key == "") {
		fault("tls.cert", errors.New("tls.cert and tls.key belong together: one of them is missing"))
	}
	if s.Public != nil && s.Tokens == "" {
		fault("public_address", errors.New("everyone who reaches the proxy could operate the service: want tokens"))
	}
	s.agreeSocket(fault)
	s.agreeHours(fault)
	s.agreeOnline(fault)
	host, _, err := net.SplitHostPort(s.Listen)
	if strings.HasPrefix(s.Listen, "unix:") || err != nil || isLoopback(host) {
		return // others cannot reach it, or isListen has reported it
	}
	if s.Cert == "" || s.Tokens == "" {
		fault("listen", fmt.Errorf("%s can be reached by others: want tls.cert, tls.key and tokens, or a loopback address or unix:PATH", s.Listen))
	}
}

// agreeHours reports a quota of a day that is too small for one campaign. It also reports a quota of a campaign that
// is too small for the budget in a campaign file.
func (s *Service) agreeHours(fault func(key string, err error)) {
	if most := Overrun * s.Quota.Campaign; most > s.Quota.Day+1e-9 {
		fault("node_hours.day", fmt.Errorf("%g node-hours a day: want at least %g, what one campaign may take with the round that exceeds its budget", s.Quota.Day, most))
	}
	for i, b := range s.Bases {
		if b.Demand.NodeHours > s.Quota.Campaign {
			fault(fmt.Sprintf("bases[%d]", i), fmt.Errorf("stop.node_hours of %s is %g: node_hours.campaign allows %g", b.File, b.Demand.NodeHours, s.Quota.Campaign))
		}
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

// publicAddress returns the type of a key whose value is an http or https URL without a path.
func publicAddress(at **url.URL) value {
	read := func(v any) error {
		text := fmt.Sprint(v)
		if text == "" {
			return nil
		}
		u, err := url.Parse(text)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || strings.TrimSuffix(text, "/") != u.Scheme+"://"+u.Host {
			return fmt.Errorf("%q: want a URL without a path, as https://tutti.example.org", text)
		}
		*at = &url.URL{Scheme: u.Scheme, Host: u.Host}
		return nil
	}
	return value{read: read, schema: schema{"type": "string"}}
}
