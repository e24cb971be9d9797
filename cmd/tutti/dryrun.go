package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"golang.org/x/term"

	"tutti/benchrunner"
	"tutti/benchrunner/live"
	"tutti/campaign"
)

// plannedJob is one job of a dry run.
type plannedJob struct {
	Name       string   `json:"name"`
	Problem    string   `json:"problem"`
	Nodes      int      `json:"nodes"`
	PPN        int      `json:"ppn"`
	Limit      float64  `json:"limit_seconds"`
	Starts     int      `json:"starts"`
	Candidates int      `json:"candidates"`
	NodeHours  float64  `json:"node_hours"` // at most
	Command    string   `json:"command"`
	Script     string   `json:"script"`
	Carries    []string `json:"carries"`
}

// dryRun is what tune would do.
type dryRun struct {
	Jobs           []plannedJob `json:"jobs"`             // of the first round
	RoundNodeHours float64      `json:"round_node_hours"` // at most
	NodeHours      float64      `json:"node_hours"`       // of the whole campaign, at most
}

// plan asks the machines what the first rounds would submit.
func (b *built) plan(ctx context.Context) (dryRun, error) {
	d := dryRun{Jobs: []plannedJob{}}
	for i, p := range b.problems {
		batch, err := campaign.FirstBatch(b.spec, p)
		if err != nil {
			return d, err
		}
		jobs, err := b.machineOf(i).Plan(ctx, batch)
		if err != nil {
			return d, fmt.Errorf("%s: %w", p.Problem, err)
		}
		for _, j := range jobs {
			job := plannedJob{
				Name: j.Job.Name, Problem: p.Problem.String(), Nodes: j.Job.Nodes, PPN: j.Submission.PPN, Limit: j.Job.LimitSeconds,
				Starts: len(j.Starts), Candidates: len(j.Job.Carries), NodeHours: j.NodeSeconds / 3600,
				Command: j.Command, Script: j.Script,
			}
			for _, c := range j.Job.Carries {
				job.Carries = append(job.Carries, batch.Requests[c].Candidate.String())
			}
			d.Jobs = append(d.Jobs, job)
			d.RoundNodeHours += job.NodeHours
		}
	}
	var err error
	d.NodeHours, err = b.mostNodeHours(ctx)
	return d, err
}

// machineOf returns the machine of a problem of a campaign that measures.
func (b *built) machineOf(problem int) *live.Machine {
	m, ok := b.problems[problem].Runner.(*live.Machine)
	if !ok {
		panic("a problem that is not measured") // only campaigns that measure come here
	}
	return m
}

// mostNodeHours is what a campaign can take at most: its budget, or every candidate
// measured once with every limit used up.
func (b *built) mostNodeHours(ctx context.Context) (float64, error) {
	sum := 0.0
	for i, p := range b.problems {
		var batch benchrunner.Batch
		for _, c := range p.Space.Candidates() {
			batch.Requests = append(batch.Requests, benchrunner.Request{Candidate: c, Attempt: 1})
		}
		jobs, err := b.machineOf(i).Plan(ctx, batch)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", p.Problem, err)
		}
		for _, j := range jobs {
			sum += j.NodeSeconds / 3600
		}
	}
	stop := b.config.Stop
	if stop.NodeHours > 0 {
		sum = min(sum, stop.NodeHours)
	}
	if stop.MachineTime > 0 {
		sum = min(sum, stop.MachineTime.Hours()*float64(slices.Max(b.config.Grid.Nodes)))
	}
	return sum, nil
}

// tellDryRun prints the jobs of the first round, then their commands and scripts.
func (a *app) tellDryRun(d dryRun, output string) error {
	if output == "json" {
		return a.printJSON(d)
	}
	rows := make([]table.Row, len(d.Jobs))
	for i, j := range d.Jobs {
		rows[i] = table.Row{j.Name, j.Nodes, j.PPN, seconds(j.Limit), j.Starts, j.Candidates, hours(j.NodeHours)}
	}
	a.printTable(table.Row{"job", "nodes", "ppn", "limit", "starts", "candidates", "node-hours"}, rows)
	fmt.Fprintf(a.stdout, "first round: %d jobs, %s node-hours at most; whole campaign: %s node-hours at most\n",
		len(d.Jobs), hours(d.RoundNodeHours), hours(d.NodeHours))
	for _, j := range d.Jobs {
		fmt.Fprintf(a.stdout, "\n# %s: %s\n", j.Name, strings.Join(j.Carries, ", "))
		fmt.Fprintf(a.stdout, "%s\n\n%s", j.Command, indented(j.Script))
	}
	return nil
}

func indented(script string) string {
	var b strings.Builder
	for line := range strings.Lines(script) {
		b.WriteString("    " + line)
	}
	return b.String()
}

// hours keeps two digits that count.
func hours(h float64) string {
	if h > 0 && h < 0.01 {
		return fmt.Sprintf("%.1g", h)
	}
	return fmt.Sprintf("%.*f", max(0, 2-int(math.Log10(max(1, h)))), h)
}

// confirm asks before a campaign that may take more than its file allows unasked.
func (a *app) confirm(ctx context.Context, b *built, yes bool) error {
	if yes || !b.config.Runner.Live() {
		return nil
	}
	most, err := b.mostNodeHours(ctx)
	if err != nil || most <= b.config.Runner.Confirm {
		return err
	}
	question := fmt.Sprintf("the campaign may take %s node-hours, more than runner.confirm, %s", hours(most), hours(b.config.Runner.Confirm))
	if !term.IsTerminal(int(a.stdin.Fd())) {
		return withCode(codeUsage, fmt.Errorf("%s: agree with --yes, set stop.node_hours, or look with --dry-run", question))
	}
	fmt.Fprintf(a.stderr, "%s. Go on? [y/N] ", question)
	answer, err := bufio.NewReader(a.stdin).ReadString('\n')
	if err != nil && err != io.EOF {
		return err
	}
	if answer = strings.ToLower(strings.TrimSpace(answer)); answer != "y" && answer != "yes" {
		return withCode(codeCancelled, fmt.Errorf("not begun"))
	}
	return nil
}
