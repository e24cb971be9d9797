package slurm

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"time"
	"unicode"

	"tutti/benchrunner"
)

// Options say where jobs run and which account they are charged to. They are the section slurm of a campaign
// file, and implement benchrunner.Kind. Slurm chooses values for empty fields.
type Options struct {
	Partition   string   `json:"partition,omitempty"` // a single one; the cluster's default when empty
	Account     string   `json:"account,omitempty"`
	QOS         string   `json:"qos,omitempty"`
	Reservation string   `json:"reservation,omitempty"`
	Constraint  string   `json:"constraint,omitempty"`
	Directives  []string `json:"directives,omitempty"` // more options of sbatch, --name or --name=value
	Exclusive   bool     `json:"exclusive,omitempty"`  // nodes are not shared with other jobs
	MaxJobs     int      `json:"jobs,omitempty"`       // largest number of jobs at the same time; 1 when zero

	Bin string `json:"bin,omitempty"` // folder of Slurm's commands; searched in PATH when empty

	// Notice, if not nil, receives reports of commands that do not answer. Several goroutines may call it,
	// every few seconds.
	Notice func(error) `json:"-"`
}

// Scheduler submits jobs to Slurm. It implements benchrunner.Scheduler.
type Scheduler struct {
	options    Options
	block      time.Duration // longest time for a call of sbatch
	slow       time.Duration // a slower command is reported to Notice
	now        func() time.Time
	noAccounts atomic.Bool // the cluster has no accounting, which sacct would read
}

// New checks the options and returns a scheduler. It runs no command of Slurm.
func New(o Options) (*Scheduler, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	o.MaxJobs = cmp.Or(o.MaxJobs, 1)
	if o.Notice == nil {
		o.Notice = func(error) {}
	}
	return &Scheduler{
		options: o,
		block:   90 * time.Second, // sbatch blocks while the queue of the controller is full
		slow:    5 * time.Second,
		now:     time.Now,
	}, nil
}

func (o Options) check() error {
	for _, n := range o.named() {
		if err := checkValue(n.value); err != nil {
			return fmt.Errorf("slurm: %s %q: %w", n.key, n.value, err)
		}
	}
	if strings.Contains(o.Partition, ",") {
		return fmt.Errorf("slurm: partition %q: want one partition", o.Partition)
	}
	for _, d := range o.Directives {
		if err := CheckDirective(d); err != nil {
			return err
		}
	}
	if o.Bin != "" {
		if _, err := os.Stat(o.Bin); err != nil {
			return fmt.Errorf("slurm: folder of the commands: %w", err)
		}
	}
	return nil
}

func (o Options) named() []struct{ key, value string } {
	return []struct{ key, value string }{
		{"partition", o.Partition}, {"account", o.Account}, {"qos", o.QOS}, {"reservation", o.Reservation}, {"constraint", o.Constraint},
	}
}

// NamedArguments returns the arguments of sbatch for the partition, the account, the quality of service, the reservation
// and the constraint.
func (o Options) NamedArguments() []string {
	var args []string
	for _, n := range o.named() {
		if n.value != "" {
			args = append(args, "--"+n.key+"="+n.value)
		}
	}
	return args
}

var _ benchrunner.Scheduler = (*Scheduler)(nil)

// Name returns "slurm".
func (s *Scheduler) Name() string { return "slurm" }

func checkValue(v string) error {
	for _, r := range v {
		if !unicode.IsPrint(r) {
			return fmt.Errorf("character %q: want printable ones", r)
		}
	}
	if v != strings.TrimSpace(v) {
		return errors.New("white space around it")
	}
	return nil
}
