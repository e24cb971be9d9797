package simulate

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"tutti/csource"
	"tutti/online"
)

// BuildProgram compiles a program that chooses algorithms with the C code of libtutti, for the policies
// explore and learn. The environment variable CC contains the compiler; the default is cc. It returns the
// path of the program, which is in the given folder.
func BuildProgram(ctx context.Context, folder string) (string, error) {
	compiler := cmp.Or(os.Getenv("CC"), "cc")
	built, err := csource.Build(ctx, csource.Policy, compiler, filepath.Join(folder, csource.Policy.Name))
	if errors.Is(err, csource.ErrCompiler) {
		return "", fmt.Errorf("the policies %s and %s run C code of libtutti: %w; the variable CC names another C compiler", PolicyExplore, PolicyLearn, err)
	}
	return built.Path, err
}

// NeedsProgram reports whether a policy needs the program that BuildProgram compiles.
func NeedsProgram(policy string) bool { return policy == PolicyExplore || policy == PolicyLearn }

// runtime is the policy of libtutti's modes explore and learn. Each run starts the program of BuildProgram.
// This program chooses algorithms and writes samples as libtutti does in a job. Between runs, the policy
// learns as the command tutti online update does.
type runtime struct {
	learner
	opt     Options
	mode    string
	folder  string // for the samples of this run
	cmd     *exec.Cmd
	in      *bufio.Writer
	out     *bufio.Scanner
	close   func() error // closes the program's input
	stderr  strings.Builder
	changes int // detected in this run
}

func (p *runtime) begin(ctx context.Context) error {
	var err error
	if p.folder, err = os.MkdirTemp("", "tutti-simulate-"); err != nil {
		return err
	}
	p.stderr.Reset()
	p.cmd = exec.CommandContext(ctx, p.opt.Program, p.folder)
	p.cmd.Env = append(os.Environ(),
		"TUTTI_MODE="+p.mode, fmt.Sprintf("TUTTI_BUDGET=%g", p.opt.Budget), fmt.Sprintf("TUTTI_EXPLORE_SHARE=%g", p.opt.ExploreShare),
		fmt.Sprintf("TUTTI_SEED=%d", 1000*p.opt.Seed+uint64(len(p.jobs))))
	p.cmd.Stderr = &p.stderr
	in, err := p.cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	p.in, p.out, p.close, p.changes = bufio.NewWriter(in), bufio.NewScanner(out), in.Close, 0
	if err := p.cmd.Start(); err != nil {
		return err
	}
	for i, c := range p.classes {
		a := p.advice[i]
		fmt.Fprintf(p.in, "class %s %d %d %d %d %g %d", c.Collective, c.Nodes, c.PPN, c.MsgBytes, a.Best, a.Budget, len(c.Algorithms))
		for k, algorithm := range c.Algorithms {
			most := 0.0
			if a.Most != nil {
				most = a.Most[k]
			}
			fmt.Fprintf(p.in, " %s %g %g", algorithm, a.Weights[k], most)
		}
		fmt.Fprintln(p.in)
	}
	return nil
}

func (p *runtime) ask(format string, args ...any) ([]int, error) {
	fmt.Fprintf(p.in, format, args...)
	if err := p.in.Flush(); err != nil {
		return nil, p.failure(err)
	}
	if !p.out.Scan() {
		return nil, p.failure(errors.Join(p.out.Err(), errors.New("no answer")))
	}
	var numbers []int
	for word := range strings.FieldsSeq(p.out.Text()) {
		n, err := strconv.Atoi(word)
		if err != nil {
			return nil, p.failure(err)
		}
		numbers = append(numbers, n)
	}
	return numbers, nil
}

func (p *runtime) failure(err error) error {
	return fmt.Errorf("%s: %w: %s", p.opt.Program, err, strings.TrimSpace(p.stderr.String()))
}

func (p *runtime) choose(class int) (int, bool, error) {
	n, err := p.ask("call %d\n", class)
	if err != nil {
		return 0, false, err
	}
	return n[0], n[1] == 1, nil
}

func (p *runtime) observe(_, _ int, seconds float64) (bool, error) {
	n, err := p.ask("took %.9g\n", seconds)
	if err != nil {
		return false, err
	}
	changed := n[0] > p.changes
	p.changes = n[0]
	return changed, nil
}

func (p *runtime) end() error {
	defer os.RemoveAll(p.folder)
	if err := errors.Join(p.close(), p.cmd.Wait()); err != nil {
		return p.failure(err)
	}
	jobs, _, err := online.ReadFolder(p.folder, "")
	if err != nil {
		return err
	}
	for _, job := range jobs {
		job.Begun = time.Unix(int64(len(p.jobs)), 0)
		p.jobs = append(p.jobs, job)
	}
	return p.learn()
}
