package service

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/cenkalti/backoff/v5"

	"tutti/internal/config"
)

// Notice is what receivers get about a campaign in a new state. It contains no output of programs: its link leads to
// that.
type Notice struct {
	Event     int64           `json:"event"` // number in the feed of the service; a notice may come twice
	Time      time.Time       `json:"time"`
	Text      string          `json:"text"` // all in one line, as chats show it
	Campaign  string          `json:"campaign"`
	Name      string          `json:"name"`
	Base      string          `json:"base"`
	Machine   string          `json:"machine"`
	State     State           `json:"state"`
	Converged bool            `json:"converged"`
	Exit      ExitCode        `json:"exit"`
	Meaning   string          `json:"meaning,omitempty"` // of the exit code
	Verdicts  []NoticeVerdict `json:"verdicts,omitempty"`
	Next      string          `json:"next,omitempty"`
	Link      string          `json:"link,omitempty"` // to the campaign's page
}

// NoticeVerdict is the verdict about one library in a Notice.
type NoticeVerdict struct {
	Library  string `json:"library"`
	Evidence string `json:"evidence"`
	Date     string `json:"date,omitempty"`
	Gain     string `json:"gain"`
	Slower   string `json:"slower"`
	Next     string `json:"next"`
}

// noticeOf returns the notice of an event about a campaign.
func noticeOf(e Event, c Campaign, page string) Notice {
	n := Notice{
		Event: e.Seq, Time: e.Time, Campaign: c.ID, Name: c.Name, Base: c.Base, Machine: c.Machine, State: c.State, Converged: c.Converged, Exit: c.Exit, Next: c.Next,
	}
	if page != "" {
		n.Link = page + "/#/campaigns/" + url.PathEscape(c.ID)
	}
	for _, m := range ExitMeanings() {
		if m.Code == c.Exit && c.Exit != ExitDone {
			n.Meaning = m.Text
		}
	}
	words := []string{fmt.Sprintf("tutti: campaign %s (%s) on %s is %s", c.ID, c.Base, c.Machine, c.State)}
	for _, v := range c.Verdicts {
		n.Verdicts = append(n.Verdicts, NoticeVerdict{v.Library, string(v.Evidence), v.Date, v.GainText, v.SlowerText, v.Verdict.Next.Why})
		words = append(words, v.Library+": "+v.GainText)
	}
	for _, text := range []string{n.Meaning, n.Link} {
		if text != "" {
			words = append(words, text)
		}
	}
	n.Text = strings.Join(words, "; ")
	return n
}

// Limits of a notice: the time of an attempt, the number of attempts, the factor by which the time between two grows, and
// the longest such time. From a second on, the seven times between eight attempts add up to about two minutes.
const (
	noticeTime     = 30 * time.Second
	noticeTries    = 8
	noticeFactor   = 2
	noticeInterval = 2 * time.Minute
)

// notifier sends notices about campaigns to the receivers of the service file. It reads the feed of the service, and never holds up
// a campaign. For each receiver, a file has the number of the last event whose notice was sent or given up. The next
// service goes on there.
type notifier struct {
	opt   *Options
	feed  Feed
	path  string
	first time.Duration // between the first two attempts

	mu   sync.Mutex
	last map[string]int64 // number of the last event that is dealt with, by receiver
}

// newNotifier returns a notifier. A new receiver gets notices of later events only.
func newNotifier(opt *Options, feed Feed) *notifier {
	n := &notifier{opt: opt, feed: feed, path: filepath.Join(opt.State, noticesFile), first: time.Second}
	if n.last, _ = readOrSetAside[map[string]int64](n.path, opt.Log); n.last == nil {
		n.last = map[string]int64{}
	}
	for _, r := range opt.Notify {
		if last, known := n.last[r.Name]; !known || last > feed.Last() {
			n.last[r.Name] = feed.Last()
		}
	}
	return n
}

// start sends notices to each receiver until ctx is cancelled.
func (n *notifier) start(ctx context.Context, tasks *sync.WaitGroup) {
	for _, r := range n.opt.Notify {
		tasks.Go(func() {
			for ctx.Err() == nil {
				grown := n.catchUp(ctx, r)
				select {
				case <-ctx.Done():
				case <-grown:
				}
			}
		})
	}
}

// catchUp sends a receiver the notices of all events that it has not got. It returns a channel that is closed when there
// may be more.
func (n *notifier) catchUp(ctx context.Context, r config.Receiver) <-chan struct{} {
	defer n.opt.recoverFrom("the notices to " + r.Name)
	n.mu.Lock()
	last := n.last[r.Name]
	n.mu.Unlock()
	for {
		events, grown := n.feed.After(last, 0)
		if len(events) == 0 {
			return grown
		}
		for _, e := range events {
			if n.notify(ctx, r, e); ctx.Err() != nil {
				return grown
			}
			last = e.Seq
		}
	}
}

// notify sends a receiver the notice of an event, if the event is of a state that the receiver asked for. It tries again
// after a failure that may pass. At last it logs the failure.
func (n *notifier) notify(ctx context.Context, r config.Receiver, e Event) {
	var c Campaign
	if e.Type != campaignEvent || json.Unmarshal(e.Data, &c) != nil || !slices.Contains(r.States, string(c.State)) {
		n.mu.Lock()
		n.last[r.Name] = e.Seq
		n.mu.Unlock()
		return
	}
	body, err := json.Marshal(noticeOf(e, c, n.opt.PageURL()))
	if err == nil {
		_, err = backoff.Retry(ctx, func() (struct{}, error) { return struct{}{}, n.send(ctx, r, body) },
			backoff.WithBackOff(n.intervals()), backoff.WithMaxTries(noticeTries), backoff.WithMaxElapsedTime(0))
	}
	if ctx.Err() != nil {
		return // the next service sends it
	}
	if err != nil {
		n.opt.Log.Error("receiver not notified", "receiver", r.Name, "campaign", c.ID, "state", c.State, "error", err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.last[r.Name] = e.Seq
	if err := writeJSON(n.path, n.last); err != nil {
		n.opt.Log.Error("notice not saved: the next service may repeat it", "receiver", r.Name, "error", err)
	}
}

// intervals returns the times between the attempts of a notice.
func (n *notifier) intervals() *backoff.ExponentialBackOff {
	out := backoff.NewExponentialBackOff()
	out.InitialInterval, out.Multiplier, out.MaxInterval = n.first, noticeFactor, noticeInterval
	return out
}

func (n *notifier) send(ctx context.Context, r config.Receiver, body []byte) error {
	ctx, stop := context.WithTimeout(ctx, noticeTime)
	defer stop()
	if r.URL != "" {
		return post(ctx, r, body)
	}
	return n.runCommand(ctx, r.Command, body)
}

// post sends a notice to a web address. It follows no redirection. Its errors do not contain the address, which may be a
// secret.
func post(ctx context.Context, r config.Receiver, body []byte) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, r.URL, bytes.NewReader(body))
	if err != nil {
		return backoff.Permanent(errors.New("url: not a web address"))
	}
	request.Header = r.Header()
	request.Header.Set("Content-Type", "application/json")
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(request)
	if err != nil {
		if detail, ok := errors.AsType[*url.Error](err); ok {
			err = detail.Err
		}
		return err
	}
	defer answer.Body.Close()
	_, _ = io.CopyN(io.Discard, answer.Body, maxAnswer)
	switch code := answer.StatusCode; {
	case code < 300:
		return nil
	case code == http.StatusRequestTimeout, code == http.StatusTooManyRequests, code >= 500:
		return fmt.Errorf("it answers %s", answer.Status)
	default:
		return backoff.Permanent(fmt.Errorf("it answers %s", answer.Status))
	}
}

// maxAnswer is how many bytes of an answer are read, so that its connection can be used again.
const maxAnswer = 64 << 10

// runCommand runs the command of a receiver with a notice as its standard input. It kills the command's process group when
// ctx ends.
func (n *notifier) runCommand(ctx context.Context, command []string, body []byte) error {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdin = n.opt.State, n.opt.Environ, bytes.NewReader(body)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	if ctx.Err() != nil {
		return fmt.Errorf("it ran for more than %v", noticeTime)
	}
	return err
}
