package service

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"tutti/online"

	"github.com/google/renameio/v2"
)

const (
	onlineDir    = "online"
	onlineName   = "online.json"
	onlineOutput = "update.json"
	samplesEnd   = ".samples" // of the files that jobs leave
)

// loadOnline reads what is known of the watched folders.
func (s *Service) loadOnline() error {
	for _, w := range s.opt.Online {
		path := filepath.Join(s.onlineFolder(w), onlineName)
		content, err := os.ReadFile(path)
		var k keptOnline
		if err == nil {
			err = json.Unmarshal(content, &k)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s: %w", path, err)
		}
		s.online[w.Name] = k
	}
	return nil
}

// watch looks at a folder again and again until ctx is cancelled.
func (s *Service) watch(ctx context.Context, w Watched) {
	for {
		s.lookInto(ctx, w)
		select {
		case <-ctx.Done():
			return
		case <-s.clock.After(w.Every):
		}
	}
}

// lookInto has a new table made of a folder when there are new samples in it, or a new
// campaign of its base. An update that failed is not tried again before something changes.
func (s *Service) lookInto(ctx context.Context, w Watched) {
	s.mu.Lock()
	k := s.online[w.Name]
	var last *entry
	if w.Base != "" {
		last, _ = s.lastOf(Base{Name: w.Base})
	}
	s.mu.Unlock()
	before := k
	k.Looked = s.clock.Now().UTC()
	seen, err := samplesIn(w.Folder, last)
	switch {
	case err != nil:
		k.Seen, k.Error = "", err.Error()
	case seen != k.Seen:
		report, err := s.updateOnline(ctx, w, last)
		if ctx.Err() != nil {
			return // the next service looks again
		}
		k.Seen, k.Error = seen, ""
		if err != nil {
			k.Error = err.Error()
		} else {
			k.Report, k.Decision = report, s.driftOnline(w, last, report)
		}
	}
	s.keepOnline(w, k, k.Seen != before.Seen || k.Error != before.Error)
}

// samplesIn is a digest of the files of samples in a folder, and of the campaign that is a source.
func samplesIn(folder string, last *entry) (string, error) {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%w: make it with tutti online update %s", err, folder)
	}
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), samplesEnd) {
			continue
		}
		about, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // gone since it was listed
		}
		if err != nil {
			return "", err
		}
		fmt.Fprintf(sum, "%q %d %d\n", e.Name(), about.Size(), about.ModTime().UnixNano())
	}
	if last != nil {
		fmt.Fprintln(sum, last.ID)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// updateOnline runs tutti online update.
func (s *Service) updateOnline(ctx context.Context, w Watched, last *entry) (*online.Report, error) {
	dir := s.onlineFolder(w)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	args := []string{"online", "update", w.Folder, "--format", "json"}
	if w.Release != "" {
		args = append(args, "--release", w.Release)
	}
	for _, name := range w.Exclude {
		args = append(args, "--exclude", `"`+name+`"`) // commas stand between parameters
	}
	if last != nil {
		args = append(args, "--campaign", last.results())
	}
	log, output := filepath.Join(dir, logName), filepath.Join(dir, onlineOutput)
	if err := s.once(ctx, log, output, args...); err != nil {
		return nil, err
	}
	if err := capLog(log, s.opt.LogBytes); err != nil {
		s.log.Warn("log", "online", w.Name, "error", err)
	}
	content, err := os.ReadFile(output)
	if err != nil {
		return nil, err
	}
	r := &online.Report{}
	if err := json.Unmarshal(content, r); err != nil {
		return nil, fmt.Errorf("%s: %w", output, err)
	}
	return r, nil
}

// keepOnline keeps what is known of a folder by now, and tells it when there is news.
func (s *Service) keepOnline(w Watched, k keptOnline, news bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.online[w.Name] = k
	if !news {
		return
	}
	if k.Error != "" {
		s.log.Warn("no new table", "online", w.Name, "error", k.Error)
	}
	content, err := json.MarshalIndent(k, "", "  ")
	if err == nil {
		err = os.MkdirAll(s.onlineFolder(w), 0o700)
	}
	if err == nil {
		err = renameio.WriteFile(filepath.Join(s.onlineFolder(w), onlineName), append(content, '\n'), 0o600)
	}
	if err == nil {
		err = s.events.append(onlineEvent, Online{Watched: w, Looked: k.Looked, Error: k.Error, Decision: k.Decision, Report: k.Report})
	}
	if err != nil {
		s.log.Error("what a folder taught is not kept", "online", w.Name, "error", err)
	}
	s.wake()
}

// fewCandidates that applications and a campaign have both timed say nothing about drift.
const fewCandidates = 3

// driftOnline makes a campaign when applications are far from what the last one of the base
// measured, and says why or why not; once for each campaign that they are far from.
func (s *Service) driftOnline(w Watched, last *entry, r *online.Report) string {
	if w.Drift == 0 || last == nil || len(r.Drift) == 0 {
		return ""
	}
	d := r.Drift[0]
	reason := fmt.Sprintf("%d candidates timed by applications differ from campaign %s by %.1f %%, times are %.3f of what they were",
		d.Candidates, last.ID, 100*d.Change, d.Ratio)
	switch {
	case d.Candidates < fewCandidates:
		return fmt.Sprintf("no campaign: applications have timed %d candidates of campaign %s", d.Candidates, last.ID)
	case d.Change < w.Drift:
		return "no campaign: " + reason
	}
	base, err := s.base(w.Base)
	if err != nil {
		return "no campaign: " + ownWords(err)
	}
	request := Request{Base: w.Base, Name: w.Base + " for " + w.Name}
	if base.FromLast {
		request.From = last.ID
	}
	c, _, err := s.create(request, fmt.Sprintf("\x00online %s %s", w.Name, last.ID), "online "+w.Name+": "+reason)
	if err != nil {
		s.log.Error("no campaign", "online", w.Name, "error", err)
		return reason + ", but there is no campaign: " + ownWords(err)
	}
	return fmt.Sprintf("campaign %s: %s", c.ID, reason)
}
