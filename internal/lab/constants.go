package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"gonum.org/v1/gonum/stat"

	"tutti/report"
)

// Constant is a number in a file constants.go, with the effects of halving and of doubling it.
type Constant struct {
	Name            string // with its package, such as gp.maxEvals
	Value           string
	Halved, Doubled Effect

	file       string // path
	start, end int    // of the number in the file
}

// Effect says how the results of campaigns change if a constant has half or twice its own value.
type Effect struct {
	Same     bool    // no result changes
	Time     float64 // machine time divided by that with the constant's own value, geometric mean
	Slowdown float64 // average true slowdown, mean of the problems
	Mistakes float64
	Bad      int // problems that do not converge, or converge although the truth misses the criteria
	Failed   string
}

// sameTime is the largest change of the machine time that counts as no change: a tenth.
const sameTime = 1.1

func (e Effect) harmless() bool {
	return e.Same || e.Failed == "" && e.Bad == 0 && math.Abs(math.Log(e.Time)) <= math.Log(sameTime)
}

// String returns the text of the effect in the table of WriteConstants.
func (e Effect) String() string {
	switch {
	case e.Failed != "":
		return "fails"
	case e.Same:
		return "="
	}
	text := fmt.Sprintf("%.2f, %.3f, %s", e.Time, e.Slowdown, percentage(e.Mistakes))
	if e.Bad > 0 {
		text += fmt.Sprintf(", %d wrong", e.Bad)
	}
	return text
}

// methodPackages are the packages that implement tutti's tuning method (docs/method.md). Each keeps its
// constants in a file constants.go.
var methodPackages = []string{"activelearn", "campaign", "hpo", "metrics", "preprocess", "surrogate/gp", "surrogate/learner"}

// ReadConstants returns the constants of methodPackages. If `names` is not empty, it returns only the constants named there.
// The working directory must be the root of the repository.
func ReadConstants(names []string) ([]Constant, error) {
	var out []Constant
	for _, dir := range methodPackages {
		more, err := constantsIn(filepath.Join(dir, "constants.go"))
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	if len(names) > 0 {
		out = slices.DeleteFunc(out, func(c Constant) bool { return !slices.Contains(names, c.Name) })
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no such constants: want names such as gp.maxEvals, not %q", names)
	}
	return out, nil
}

func constantsIn(file string) ([]Constant, error) {
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, file, nil, 0)
	if err != nil {
		return nil, err
	}
	var out []Constant
	ast.Inspect(parsed, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		for i, value := range spec.Values {
			var numbers []*ast.BasicLit
			ast.Inspect(value, func(n ast.Node) bool {
				if lit, ok := n.(*ast.BasicLit); ok && lit.Kind != token.STRING {
					numbers = append(numbers, lit)
				}
				return true
			})
			for k, lit := range numbers {
				name := parsed.Name.Name + "." + spec.Names[i].Name
				if len(numbers) > 1 {
					name += fmt.Sprintf("[%d]", k)
				}
				out = append(out, Constant{Name: name, Value: lit.Value, file: file, start: set.Position(lit.Pos()).Offset, end: set.Position(lit.End()).Offset})
			}
		}
		return false
	})
	return out, nil
}

// with returns the content of the constant's file with another expression for the number. `form` is
// this expression, in which %s stands for the original number.
func (c Constant) with(form string) ([]byte, error) {
	text, err := os.ReadFile(c.file)
	if err != nil {
		return nil, err
	}
	return slices.Concat(text[:c.start], fmt.Appendf(nil, form, c.Value), text[c.end:]), nil
}

// VaryConstants halves and doubles each constant in turn. For each value it builds tutti, runs a campaign on
// recorded data, and compares its results. `args` are the arguments of tutti tune. `emit` receives each constant
// when it is done.
func VaryConstants(ctx context.Context, constants []Constant, args []string, emit func(Constant)) error {
	dir, err := os.MkdirTemp("", "constants")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	own, err := campaignWith(ctx, dir, nil, args)
	if err != nil {
		return err
	}
	for _, c := range constants {
		c.Halved = c.effect(ctx, dir, args, own, "(%s*0.5)", "(%s/2)")
		c.Doubled = c.effect(ctx, dir, args, own, "(%s*2)")
		if err := ctx.Err(); err != nil {
			return err
		}
		emit(c)
	}
	return nil
}

// effect returns how a campaign with the changed constant differs from the report `own`, which has the original
// value. `forms` has several spellings of the change. It uses the first one with which the program can
// be built and run.
func (c Constant) effect(ctx context.Context, dir string, args []string, own report.Facts, forms ...string) (e Effect) {
	for _, form := range forms {
		changed := filepath.Join(dir, "constants.go")
		text, err := c.with(form)
		if err == nil {
			err = os.WriteFile(changed, text, 0o600)
		}
		var path string
		if err == nil {
			path, err = filepath.Abs(c.file)
		}
		if err == nil {
			var facts report.Facts
			if facts, err = campaignWith(ctx, dir, map[string]string{path: changed}, args); err == nil {
				return compareFacts(own, facts)
			}
		}
		e.Failed = err.Error()
	}
	return e
}

func campaignWith(ctx context.Context, dir string, replaced map[string]string, args []string) (report.Facts, error) {
	var f report.Facts
	overlay, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		return f, err
	}
	file, program, out := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "tutti"), filepath.Join(dir, "out")
	if err := errors.Join(os.WriteFile(file, overlay, 0o600), os.RemoveAll(out)); err != nil {
		return f, err
	}
	if text, err := exec.CommandContext(ctx, "go", "build", "-overlay", file, "-o", program, "./cmd/tutti").CombinedOutput(); err != nil {
		return f, fmt.Errorf("go build: %w\n%s", err, text)
	}
	var errs bytes.Buffer
	tune := exec.CommandContext(ctx, program, slices.Concat([]string{"tune", "--out", out}, args)...)
	tune.Stderr = &errs
	failed := tune.Run() // also if a problem does not converge
	text, err := os.ReadFile(filepath.Join(out, "report.json"))
	if err != nil {
		return f, errors.Join(failed, err, errors.New(errs.String()))
	}
	return f, json.Unmarshal(text, &f)
}

// compareFacts compares two reports of the same campaign. The report `own` was made with a constant's own
// value, and the report `other` with half or twice this value.
func compareFacts(own, other report.Facts) Effect {
	e := Effect{Same: true}
	var times, slowdowns, mistakes []float64
	for i, p := range other.Problems {
		before, score := own.Problems[i], p.Scores[0]
		e.Same = e.Same && p.MachineSeconds == before.MachineSeconds && score == before.Scores[0] && p.Stop == before.Stop
		times = append(times, p.MachineSeconds/before.MachineSeconds)
		slowdowns, mistakes = append(slowdowns, score.Slowdown), append(mistakes, score.Mistakes)
		if p.Stop != "converged" || score.Slowdown > other.Criteria.Slowdown || score.Mistakes > other.Criteria.Mistakes {
			e.Bad++
		}
	}
	e.Time, e.Slowdown, e.Mistakes = geometricMean(times), stat.Mean(slowdowns, nil), stat.Mean(mistakes, nil)
	return e
}

// WriteConstants writes a table of constants as Markdown. The last column says by which factors the value can
// be multiplied so that the results hardly change.
func WriteConstants(w io.Writer, constants []Constant) error {
	t := report.NewTable(table.Row{"constant", "value", "halved", "doubled", "range"})
	for _, c := range constants {
		low, high := "1", "1"
		if c.Halved.harmless() {
			low = "½"
		}
		if c.Doubled.harmless() {
			high = "2"
		}
		t.AppendRow(table.Row{c.Name, c.Value, c.Halved, c.Doubled, low + " to " + high})
	}
	_, err := fmt.Fprintln(w, strings.TrimSpace(t.RenderMarkdown()))
	return err
}
