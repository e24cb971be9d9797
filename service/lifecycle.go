package service

// This file has the states of a campaign as tables. A request changes the state of a campaign on disk first, then in
// memory; if it cannot be written, nothing changes. A worker is a goroutine that owns a campaign: it starts and
// follows the campaign's processes. Only the worker itself ends its ownership, together with the state that follows.

// action is what a request asks of a campaign.
type action string

const (
	pauseAction  action = "pause"
	resumeAction action = "resume"
	cancelAction action = "cancel"
	verifyAction action = "verify"
	deleteAction action = "delete"
)

// goals maps an action to the reason why it stops a campaign.
var goals = map[action]stopGoal{pauseAction: goalPause, cancelAction: goalCancel}

// ownership says who works on a campaign.
type ownership int

const (
	fresh ownership = iota // nobody, and there is no journal
	begun                  // nobody; there is a journal, so the scheduler may have jobs
	owned                  // a worker, which has a process or is about to start one
)

// requested maps an action, the state of a campaign and its ownership to the next state. It refuses what the table
// lacks. A stopping campaign without a worker gets one.
//
//	state      pause                      resume   verify   cancel                           delete
//	queued     paused; owned: stopping    queued   queued   fresh: cancelled; else stopping
//	running    stopping                   running  running  stopping
//	stopping   stopping                                     stopping
//	paused     paused                     queued   paused   fresh: cancelled; else stopping
//	done                                           queued                                    deleted
//	failed                                queued                                             deleted
//	cancelled                                               cancelled                        deleted
//
// A campaign has two stages: it is tuned, then its files may be verified (stored.Verifying). The states of both are the
// same, but a verification always ends as done: the campaign has been tuned, whatever becomes of its verification. The
// action verify begins the second stage. Before the campaign is done, it asks for it in advance (Campaign.Verify).
var requested = map[action]map[State][3]State{
	pauseAction: {
		Queued: {fresh: Paused, begun: Paused, owned: Stopping}, Running: always(Stopping), Stopping: always(Stopping), Paused: always(Paused),
	},
	resumeAction: {
		Queued: always(Queued), Running: always(Running), Paused: always(Queued), Failed: always(Queued),
	},
	verifyAction: {
		Queued: always(Queued), Running: always(Running), Paused: always(Paused), Done: {fresh: Queued, begun: Queued},
	},
	cancelAction: {
		Queued: {fresh: Cancelled, begun: Stopping, owned: Stopping}, Running: always(Stopping), Stopping: always(Stopping),
		Paused: {fresh: Cancelled, begun: Stopping, owned: Stopping}, Cancelled: always(Cancelled),
	},
	deleteAction: {
		Done: {fresh: Deleted, begun: Deleted}, Failed: {fresh: Deleted, begun: Deleted}, Cancelled: {fresh: Deleted, begun: Deleted},
	},
}

func always(s State) [3]State { return [3]State{s, s, s} }

// outcome is how a process of a campaign ended.
type outcome string

const (
	completed   outcome = "completed"   // the campaign's files are written
	interrupted outcome = "interrupted" // by a signal
	hindered    outcome = "hindered"    // by the machine or its disk: the campaign is resumed later
	locked      outcome = "locked"      // another process works on the campaign
	unobserved  outcome = "unobserved"  // not a child of this service: tutti resume finds out how the campaign ended
	absent      outcome = "absent"      // no process was started, because the campaign must stop
	broken      outcome = "broken"      // by an error
	abandoned   outcome = "abandoned"   // it has not ended: the next service follows it
)

// outcomes maps the exit code of a process to its outcome. Any other code is an error.
var outcomes = map[ExitCode]outcome{
	ExitDone:         completed,
	ExitNotConverged: completed,
	ExitNotProved:    completed,
	ExitCancelled:    interrupted,
	ExitBusy:         locked,
	ExitInterrupted:  hindered,
	ExitOutput:       hindered, // the disk may have free space later
}

// outcomeOf returns how a process ended, given its exit code, or the error because of which the code is unknown.
func outcomeOf(code ExitCode, failure error) outcome {
	o, known := outcomes[code]
	switch {
	case known:
		return o
	case code == ExitUnknown && failure == nil:
		return unobserved
	case code == ExitUnknown:
		return interrupted
	}
	return broken
}

// next has the states that follow the end of a process. The state depends on why the campaign was stopped, or on
// whether the service is stopping. Running means that the worker starts another process.
type next struct{ unasked, pause, cancel, quota, drain State }

// ended maps how a process ended to the next state.
var ended = map[outcome]next{
	completed:   {unasked: Done, pause: Done, cancel: Done, quota: Done, drain: Done},
	interrupted: {unasked: Failed, pause: Paused, cancel: Cancelled, quota: Failed, drain: Queued},
	hindered:    {unasked: Queued, pause: Paused, cancel: Cancelled, quota: Failed, drain: Queued},
	locked:      {unasked: Running, pause: Paused, cancel: Cancelled, quota: Failed, drain: Queued},
	unobserved:  {unasked: Running, pause: Paused, cancel: Cancelled, quota: Failed, drain: Queued},
	absent:      {unasked: Running, pause: Paused, cancel: Cancelled, quota: Failed, drain: Queued},
	broken:      {unasked: Failed, pause: Failed, cancel: Cancelled, quota: Failed, drain: Failed},
}

// after returns the state that follows the end of a process.
func (o outcome) after(goal stopGoal, draining bool) State {
	n := ended[o]
	switch {
	case goal == goalPause:
		return n.pause
	case goal == goalCancel:
		return n.cancel
	case goal == goalQuota:
		return n.quota
	case draining:
		return n.drain
	}
	return n.unasked
}

// follow returns the state of a campaign whose process ended, given the state that the table `ended` has for it: after
// tuning, a verification that was asked for follows; a verification ends as done.
func (s *stored) follow(to State) State {
	switch {
	case s.Verifying && to.Over():
		return Done
	case to == Done && s.Verify && !s.Verifying && s.Goal == goalPause:
		return Paused
	case to == Done && s.Verify && !s.Verifying && s.Goal == "":
		return Queued
	}
	return to
}
