package service

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"tutti/internal/config"
	"tutti/online"
)

// SampleStatus describes a folder of samples and the result of the last update of its table.
type SampleStatus struct {
	config.SampleFolder
	Checked  time.Time      `json:"checked,omitzero"`   // when the service last looked for new samples
	Error    string         `json:"error,omitempty"`    // error of the last update
	Decision string         `json:"decision,omitempty"` // whether the samples caused a campaign, and why
	Report   *online.Report `json:"report,omitempty"`   // of the last update, nil before any
}

// storedStatus is the status of a folder of samples as the file online.json contains it.
type storedStatus struct {
	SampleStatus
	Digest string `json:"digest"` // identifies the input of the last update
}

// Redacted returns the status for users with the role "read": without paths, names of nodes and output of
// programs.
func (s SampleStatus) Redacted() SampleStatus {
	f := s.SampleFolder
	out := SampleStatus{
		SampleFolder: config.SampleFolder{Name: f.Name, Base: f.Base, Release: f.Release, Exclude: f.Exclude, Drift: f.Drift},
		Checked:      s.Checked, Decision: s.Decision,
	}
	if s.Error != "" {
		out.Error = hiddenError
	}
	if s.Report == nil {
		return out
	}
	r := *s.Report
	out.Report = &online.Report{
		Time: r.Time, Calls: r.Calls, AllJobs: r.AllJobs, Price: r.Price, Classes: r.Classes,
		Jobs: []online.JobReport{}, TimeChanges: []online.TimeChange{}, Drift: []online.SourceDrift{},
	}
	for _, j := range r.Jobs {
		out.Report.Jobs = append(out.Report.Jobs, online.JobReport{Begun: j.Begun, Last: j.Last, Calls: j.Calls})
	}
	for _, c := range r.TimeChanges {
		out.Report.TimeChanges = append(out.Report.TimeChanges, online.TimeChange{Begun: c.Begun, Point: c.Point, Algorithm: c.Algorithm, Factor: c.Factor})
	}
	for _, d := range r.Drift {
		out.Report.Drift = append(out.Report.Drift, online.SourceDrift{Candidates: d.Candidates, Change: d.Change, Ratio: d.Ratio})
	}
	return out
}

// samples watches the folders of samples. If a folder has new samples, it updates the table of the folder.
// It is safe for concurrent use.
type samples struct {
	opt   *Options
	queue *queue

	mu     sync.Mutex
	states map[string]storedStatus // by name of the folder
}

func newSamples(q *queue) *samples {
	s := &samples{opt: q.opt, queue: q, states: map[string]storedStatus{}}
	for _, f := range s.opt.Online {
		state, _ := readOrSetAside[storedStatus](filepath.Join(s.dir(f), statusFile), q.opt.Log)
		state.SampleFolder = f
		s.states[f.Name] = state
	}
	return s
}

func (s *samples) dir(f config.SampleFolder) string {
	return filepath.Join(s.opt.State, onlineDir, f.Name)
}

func (s *samples) list() []SampleStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := []SampleStatus{}
	for _, f := range s.opt.Online {
		out = append(out, s.states[f.Name].SampleStatus)
	}
	return out
}

// start begins to check every folder at regular intervals, until ctx is cancelled. With Options.Once it
// checks every folder once.
func (s *samples) start(ctx context.Context, tasks *sync.WaitGroup) {
	for _, f := range s.opt.Online {
		if s.opt.Once {
			s.check(ctx, f)
			continue
		}
		tasks.Go(func() {
			for {
				s.check(ctx, f)
				select {
				case <-ctx.Done():
					return
				case <-s.opt.Clock.After(f.Every):
				}
			}
		})
	}
}

// check updates the table of a folder if there are new samples. It also does so if a new campaign of the folder's
// base (a campaign file) has finished. After a failed update it waits for the next change.
func (s *samples) check(ctx context.Context, f config.SampleFolder) {
	defer s.opt.recoverFrom("the samples of " + f.Name)
	var last *finished
	if f.Base != "" {
		last, _ = s.queue.lastOf(f.Base)
	}
	s.mu.Lock()
	before := s.states[f.Name]
	s.mu.Unlock()
	now := before
	now.Checked = s.opt.Clock.Now().UTC()
	digest, err := digestSamples(f.Folder, last)
	switch {
	case err != nil:
		now.Digest, now.Error = "", err.Error()
	case digest != before.Digest:
		report, err := s.update(ctx, f, last)
		if ctx.Err() != nil {
			return // the next service repeats the check
		}
		now.Digest, now.Error = digest, ""
		if err != nil {
			now.Error = err.Error()
		} else {
			now.Report, now.Decision = report, s.checkDrift(f, last, report)
		}
	}
	s.set(now, now.Digest != before.Digest || now.Error != before.Error)
}

const samplesSuffix = ".samples" // of the files that jobs leave

// digestSamples returns a hash that identifies the input of an update. The hash covers the ID of the last
// campaign, and the names, sizes and times of the sample files.
func digestSamples(folder string, last *finished) (string, error) {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%w: create it with tutti online update %s", err, folder)
	}
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), samplesSuffix) {
			continue
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed since ReadDir
		}
		if err != nil {
			return "", err
		}
		fmt.Fprintf(sum, "%q %d %d\n", e.Name(), info.Size(), info.ModTime().UnixNano())
	}
	if last != nil {
		fmt.Fprintln(sum, last.id)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// updateTime is the longest time that an update of a table may take.
const updateTime = time.Hour

// update runs the command "tutti online update" on a folder of samples and returns the report of the
// command.
func (s *samples) update(ctx context.Context, f config.SampleFolder, last *finished) (*online.Report, error) {
	dir := s.dir(f)
	table := cmp.Or(f.Table, dir)
	if err := os.MkdirAll(table, 0o755); err != nil {
		return nil, err
	}
	if about, err := os.Stat(table); err != nil {
		return nil, err
	} else if about.Mode().Perm()&0o022 != 0 {
		return nil, fmt.Errorf("%s: mode %04o: jobs of other users could change the table: want a folder that only its owner can write", table, about.Mode().Perm())
	}
	ctx, stop := context.WithTimeout(ctx, updateTime)
	defer stop()
	args := []string{"online", "update", f.Folder, table, "--format", "json"}
	if f.Release != "" {
		args = append(args, "--release", f.Release)
	}
	for _, name := range f.Exclude {
		args = append(args, "--exclude", `"`+name+`"`) // quoted because a name may contain commas
	}
	if last != nil {
		args = append(args, "--campaign", last.results)
	}
	r := &online.Report{}
	if err := runJSON(ctx, s.queue.processes, dir, r, args...); err != nil {
		return nil, err
	}
	if err := capLog(filepath.Join(dir, logFile), s.opt.Limits.LogBytes); err != nil {
		s.opt.Log.Warn("log not cut", "online", f.Name, "error", err)
	}
	return r, nil
}

// set replaces the state of a folder. If `changed` is true, it also saves and publishes the state.
func (s *samples) set(state storedStatus, changed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.states[state.Name] = state
	if !changed {
		return
	}
	if state.Error != "" {
		s.opt.Log.Warn("no new table", "online", state.Name, "error", state.Error)
	}
	dir := s.dir(state.SampleFolder)
	err := os.MkdirAll(dir, 0o700)
	if err == nil {
		err = writeJSON(filepath.Join(dir, statusFile), state)
	}
	if err == nil {
		err = s.queue.events.publish(onlineEvent, state.SampleStatus)
	}
	if err != nil {
		s.opt.Log.Error("status not saved", "online", state.Name, "error", err)
	}
}

// minCommon is the smallest number of candidates from which a drift is computed. Only candidates that both the
// applications and the campaign have timed are counted.
const minCommon = 3

// checkDrift compares the times of applications with those of the base's last campaign. If they differ, it
// creates a new campaign from the base (a campaign file) and returns the reason. Each finished campaign causes
// at most one such new campaign.
func (s *samples) checkDrift(f config.SampleFolder, last *finished, r *online.Report) string {
	if f.Drift == 0 || last == nil || len(r.Drift) == 0 {
		return ""
	}
	d := r.Drift[0]
	reason := fmt.Sprintf("%d candidates timed by applications differ from campaign %s by %.1f %%, times are %.3f of the earlier ones",
		d.Candidates, last.id, 100*d.Change, d.Ratio)
	switch {
	case d.Candidates < minCommon:
		return fmt.Sprintf("no campaign: applications have timed %d candidates of campaign %s", d.Candidates, last.id)
	case d.Change < f.Drift:
		return "no campaign: " + reason
	}
	base, err := s.opt.base(f.Base)
	if err != nil {
		return "no campaign: " + publicReason(err)
	}
	request := Request{Base: f.Base, Name: f.Base + " for " + f.Name}
	if base.FromLast {
		request.From = last.id
	}
	return createScheduled(s.queue, request, fmt.Sprintf("\x00online %s %s", f.Name, last.id), "online "+f.Name, reason)
}
