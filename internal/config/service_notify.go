package config

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"tutti/internal/lazyregexp"
)

// Receiver gets notices about the campaigns of a service: a web address or a command. Only the service file names receivers.
// Its address and its headers may contain secrets.
type Receiver struct {
	Name    string
	URL     string // http or https; empty for a command
	Headers []string
	Command []string // program and arguments, run without a shell
	States  []string // of campaigns
}

// NotifiableStates returns the states of campaigns of which receivers can get notices.
func NotifiableStates() []string {
	return []string{"queued", "running", "paused", "done", "failed", "cancelled"}
}

func receiverFields(r *Receiver) []field {
	return []field{
		{"name", "the name of the receiver", nil, text(&r.Name, isName)},
		{"url", "http or https address that gets a POST with JSON", optional, text(&r.URL, isWebhook)},
		{"headers", "headers of the request, as \"Authorization: Bearer SECRET\"", optional, texts(&r.Headers, 0, isHeader)},
		{"command", "program (an absolute path) and its arguments, run without a shell; JSON is its standard input", optional, arguments(&r.Command)},
		{"states", "states of campaigns; done and failed if it is missing", optional, texts(&r.States, 1, oneOf(NotifiableStates()))},
	}
}

// isWebhook returns an error unless a text is an http or https URL. The error does not contain the text, which may be a
// secret.
func isWebhook(s string) error {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return errors.New("want an http or https URL")
	}
	return nil
}

var headerName = lazyregexp.New(`^[-_0-9A-Za-z]+$`)

// isHeader returns an error unless a text is a header. The error does not contain the value, which may be a secret.
func isHeader(s string) error {
	name, value, ok := strings.Cut(s, ":")
	if !ok || !headerName.MatchString(name) || isPrintable(value) != nil {
		return errors.New(`want "NAME: VALUE"`)
	}
	return nil
}

// Header returns the headers of requests to the receiver.
func (r Receiver) Header() http.Header {
	h := http.Header{}
	for _, line := range r.Headers {
		name, value, _ := strings.Cut(line, ":")
		h.Add(name, strings.TrimSpace(value))
	}
	return h
}

func (r *Receiver) complete(before []Receiver) error {
	switch {
	case slices.ContainsFunc(before, func(o Receiver) bool { return o.Name == r.Name }):
		return fmt.Errorf("%s is given twice", r.Name)
	case (r.URL == "") == (len(r.Command) == 0):
		return errors.New("want either url or command")
	case len(r.Headers) > 0 && r.URL == "":
		return errors.New("headers: only with url")
	case len(r.Command) > 0 && !strings.HasPrefix(r.Command[0], "/"):
		return fmt.Errorf("command: %q: want the absolute path of a program", r.Command[0])
	}
	if len(r.States) == 0 {
		r.States = []string{"done", "failed"}
	}
	return nil
}

// PageURL returns the address of the page of the service, "" for a socket without a public address.
func (s *Service) PageURL() string {
	switch {
	case s.Public != nil:
		return s.Public.String()
	case strings.HasPrefix(s.Listen, "unix:"):
		return ""
	case s.Cert != "":
		return "https://" + s.Listen
	}
	return "http://" + s.Listen
}
