package service

import (
	"path/filepath"
	"strings"
	"time"

	"al.essio.dev/pkg/shellescape"

	"tutti/campaign/export"
	"tutti/campaign/verification"
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
	s.Verifying, s.Ran, s.SpentBefore, s.ReportBefore = true, 0, e.current().Progress.Verification, e.reportTime()
}

// takeVerify sets the state that follows a request to verify a campaign. The caller must hold the lock of the queue.
func (e *entry) takeVerify(s *stored) {
	if s.State != Done {
		s.Verify = true
		return
	}
	e.beginVerification(s)
	s.State, s.Error = Queued, ""
}

// checkVerifyLocked checks whether a verification may be asked for.
func (q *queue) checkVerifyLocked(e *entry) error {
	if q.stopping.Err() != nil {
		return ErrDraining
	}
	if e.State != Done {
		return nil
	}
	e.disk = diskUse(e.dir)
	after := *e
	after.takeVerify(&after.stored)
	if err := exceeded(q.opt, &after); err != nil {
		return err
	}
	return checkLength(q.opt, q.campaigns.order)
}

// reportTime returns when the report of the campaign was last written, zero if there is none.
func (e *entry) reportTime() time.Time {
	return lastChange(filepath.Join(e.results(), export.ReportJSON), time.Time{}).UTC()
}

// verificationEnded reports whether a process has completed the verification that the campaign waits for: a
// verification that ends writes the report.
func (e *entry) verificationEnded() bool {
	return e.Verifying && !e.reportTime().Equal(e.ReportBefore)
}

// verifyArgs returns the arguments with which tutti is started for the verification of a campaign. The node-hours
// of the campaign also limit its verification, as a limit of machine time: they last as long as in tuning.
func (e *entry) verifyArgs() []string {
	args := []string{"verify", e.results(), "--yes"}
	p := e.current().Progress
	if !e.measures() || !(p.NodeSeconds > 0) {
		return args
	}
	limit := time.Duration(e.NodeHours * 3600 / p.NodeSeconds * p.MachineSeconds * float64(time.Second))
	if limit < max(verification.MinBudget, time.Duration(p.MachineSeconds*float64(time.Second))) {
		args = append(args, "--machine-time", limit.String())
	}
	return args
}
