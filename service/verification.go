package service

import (
	"context"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"time"

	"al.essio.dev/pkg/shellescape"

	"tutti/campaign/export"
	"tutti/campaign/verification"
	"tutti/internal/config"
	"tutti/report"
)

// Verdict is the verdict about the selection files of one library, with its texts as the terminal and the report print
// them.
type Verdict struct {
	report.Verdict
	GainText   string `json:"gain_text"`
	SlowerText string `json:"slower_text"`
	CostText   string `json:"cost_text"`
	Command    string `json:"command,omitempty"` // the next one, in a shell on the host of the service; empty: nothing is left to do
}

// readVerdicts returns the verdicts in the report of a campaign.
func readVerdicts(results string) ([]Verdict, error) {
	all, err := export.StoredVerdicts(results)
	var out []Verdict
	for _, v := range all {
		out = append(out, Verdict{v, v.GainText(), v.SlowerText(), v.Cost.Text(), v.Next.In(shellescape.Quote(results))})
	}
	return out, err
}

// brief returns the campaign without the points of its verdicts, as lists and events show it.
func (c Campaign) brief() Campaign {
	verdicts := c.Verdicts
	c.Verdicts = nil
	for _, v := range verdicts {
		v.Riskiest = nil
		c.Verdicts = append(c.Verdicts, v)
	}
	return c
}

// next returns what the user of a campaign should do, or "" if it is up to the service.
func (c Campaign) next() string {
	switch c.State {
	case Paused:
		return "resume it"
	case Failed:
		return "remove the cause, then resume it"
	case Unreadable:
		return "look at its folder on the host of the service"
	case Done:
		var steps []string
		for _, v := range c.Verdicts {
			steps = append(steps, v.Library+": "+v.Next.Why)
		}
		return strings.Join(steps, "; ")
	}
	return ""
}

// beginVerification makes the verification of its files the next that a campaign does. The caller must hold the lock of
// the queue.
func (e *entry) beginVerification(s *stored) {
	s.Verifying, s.Ran, s.SpentBefore, s.Report = true, 0, e.current().Progress.Verification, e.reportTime()
}

// takeVerify sets the state that follows a request to verify a campaign. The caller must hold the lock of the queue.
func (e *entry) takeVerify(s *stored, limit time.Duration) {
	s.VerifyTime = limit
	if s.State != Done {
		s.Verify = !s.Verifying
		return
	}
	e.beginVerification(s)
	s.State, s.Error = Queued, ""
}

// checkVerify checks whether a verification of a campaign may be asked for. The caller must hold the lock of the queue.
func (e *entry) checkVerify(opt *Options, limit time.Duration) error {
	hours := e.hoursOf(limit)
	switch {
	case e.Verifying && e.worker != nil:
		return fmt.Errorf("%w: campaign %s is being verified with another limit: pause it first", ErrState, e.ID)
	case e.measures() && hours > opt.Quota.Campaign+hoursTolerance:
		return &config.FieldError{Field: "machine_time", Text: fmt.Sprintf("%s: it may take %s node-hours, and the service allows a verification at most %s (node_hours.campaign)",
			config.ShortDuration(limit), report.FormatNodeHours(hours), report.FormatNodeHours(opt.Quota.Campaign))}
	case e.State != Done:
		return nil
	}
	e.disk = diskUse(e.dir)
	after := *e
	after.takeVerify(&after.stored, limit)
	return exceeded(opt, &after)
}

// reportTime returns when the report of the campaign was last written, zero if there is none.
func (e *entry) reportTime() time.Time {
	return lastChange(filepath.Join(e.results(), export.ReportJSON), time.Time{}).UTC()
}

// verificationEnded reports whether a process has completed the verification that the campaign waits for: a
// verification that ends writes the report.
func (e *entry) verificationEnded() bool {
	return e.Verifying && !e.reportTime().Equal(e.Report)
}

// readReports reads the verdicts of campaigns that are done and whose report somebody else has written since, for example
// tutti verify in a shell.
func (q *queue) readReports() {
	defer q.opt.recoverFrom("the reports")
	known := map[*entry]time.Time{}
	q.mu.Lock()
	for _, e := range q.campaigns.order {
		if e.State == Done && e.worker == nil {
			known[e] = e.Report
		}
	}
	q.mu.Unlock()
	for e, before := range known {
		if at := e.reportTime(); !at.IsZero() && !at.Equal(before) {
			q.readReport(e, before, at)
		}
	}
}

// readReport takes over the verdicts of the report that a campaign has had since the time `at`, if those that the service
// knows are from the report of the time `before`. It publishes the campaign if they differ. After a failure the next call
// tries again.
func (q *queue) readReport(e *entry, before, at time.Time) {
	verdicts, err := readVerdicts(e.results())
	if err == nil {
		_, err = q.view(context.Background(), e.ID) // reads what the verification spent
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case e.State != Done || e.worker != nil || !e.Report.Equal(before):
		return
	case err != nil:
	case reflect.DeepEqual(verdicts, e.Verdicts):
		same := e.stored
		same.Report = at
		if err = q.store.save(e.dir, same); err == nil {
			e.stored = same
		}
	default:
		spent := e.Progress.Verification
		err = q.changeLocked(e, func(s *stored) {
			s.Verdicts, s.Report = verdicts, at
			if e.current().Progress.Verification > spent {
				s.Verified = at
			}
		})
	}
	if err != nil && !e.unread {
		q.opt.Log.Warn("report not read: the service tries again", "campaign", e.ID, "error", err)
	}
	e.unread = err != nil
}

// hoursOf returns the node-hours that a verification may still take within a limit of the machine time of all verifications,
// 0 without a limit. They last as long as in tuning.
func (e *entry) hoursOf(limit time.Duration) float64 {
	p := e.current().Progress
	if limit == 0 || !(p.MachineSeconds > 0) {
		return 0
	}
	before := p.Verification
	if e.Verifying {
		before = e.SpentBefore
	}
	return max(0, limit.Hours()*p.NodeSeconds/p.MachineSeconds-before/3600)
}

// verifyArgs returns the arguments with which tutti is started for the verification of a campaign. The node-hours
// of the campaign also limit its verification, as a limit of machine time, unless a request set one.
func (e *entry) verifyArgs() []string {
	args := []string{"verify", e.results(), "--yes"}
	p := e.current().Progress
	limit := time.Duration(e.NodeHours * 3600 / p.NodeSeconds * p.MachineSeconds * float64(time.Second))
	switch {
	case e.VerifyTime > 0:
		return append(args, "--machine-time", e.VerifyTime.String())
	case !e.measures() || !(p.NodeSeconds > 0):
		return args
	case limit < max(verification.MinBudget, time.Duration(p.MachineSeconds*float64(time.Second))):
		return append(args, "--machine-time", limit.String())
	}
	return args
}
