package verify

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// Verdict says what a verification shows about the files of a library.
type Verdict string

// The verdicts. They hold for the files after slower selections were reverted, unless the files are fixed.
const (
	IsSlower    Verdict = "slower"     // points are slower although they use the default, or with fixed files
	IsNotSlower Verdict = "not slower" // not slower by more than Rules.Detect; see Result.Proved
	NotProved   Verdict = "not proved"
)

// Verdict returns what the verification shows.
func (r Result) Verdict() Verdict {
	switch {
	case len(r.Slower) > 0:
		return IsSlower
	case r.Proved():
		return IsNotSlower
	}
	return NotProved
}

// Headline returns the verdict and what it is based on, for example "not slower by more than 5 %: 100 risky points and
// 62 random points compared: ...". It returns "" if nothing was verified.
func (r Result) Headline() string {
	if r.Sessions == 0 {
		return ""
	}
	text := string(r.Verdict())
	if r.Verdict() == IsNotSlower {
		text = "not slower by more than " + percent(r.Rules.Detect)
	}
	if s := r.Statement(); s != "" {
		text += ": " + s
	}
	return text
}

// Statement says in a few sentences what was compared, and what it shows. It returns "" if nothing was verified.
func (r Result) Statement() string {
	if len(r.Points) == 0 {
		return ""
	}
	of, faults := map[PointKind]int{}, 0
	for _, p := range r.Points {
		of[p.Kind]++
		if p.Reverted && (p.Kind == Risky || p.Kind == Random) {
			faults++
		}
	}
	text := plural(of[Risky], "risky point") + " and " + plural(of[Random], "random point") + " compared"
	if of[Risky] == 0 {
		text = plural(of[Random], "random point") + " compared"
	}
	if faults > 0 {
		text += fmt.Sprintf(", %d of them slower and reverted to the default", faults)
	}
	if n := len(r.Slower); r.Fixed && n > 0 {
		text += fmt.Sprintf(", %d of them slower", n)
	}
	text += ": " + r.worst(faults > 0)
	switch {
	case r.Share >= 1:
		text += "; nothing is known about the other points"
	case r.Share > 0:
		text += fmt.Sprintf("; of the other points at most %s are slower (95 %%)", percent(r.Share))
	}
	if r.Time != (Interval{}) {
		text += fmt.Sprintf("; collective time %.3f [%.3f, %.3f] of the default's", r.Time.Value, r.Time.Low, r.Time.High)
	}
	return text
}

// worst says how slow a test point can be, for example "none more than 5 % slower".
func (r Result) worst(reverted bool) string {
	most, unknown := 0.0, 0
	for _, p := range r.Points {
		switch {
		case p.Reverted || p.Kind != Risky && p.Kind != Random:
		case p.Upper == nil:
			unknown++
		default:
			most = max(most, *p.Upper-1)
		}
	}
	none := "none"
	if reverted {
		none = "none of the others"
	}
	switch {
	case unknown > 0:
		return fmt.Sprintf("%d of them without enough measurements", unknown)
	case most > 1:
		return "noise hides whether some are more than twice as slow"
	case most <= r.Rules.Detect:
		most = r.Rules.Detect
	}
	return fmt.Sprintf("%s more than %s slower", none, percent(most))
}

// Extra says what the points between those of the grid and the controls show. It returns "" if there are none.
func (r Result) Extra() string {
	tested, open := 0, 0
	for _, p := range r.Points {
		if !slices.Contains([]PointKind{Risky, Random}, p.Kind) {
			tested++
			if !p.NotSlower && !p.Reverted {
				open++
			}
		}
	}
	if tested == 0 {
		return ""
	}
	return fmt.Sprintf("%s between those of the grid, reverted or unchanged compared: %d not decided", plural(tested, "point"), open)
}

// percent writes a share as a percentage, rounded up to one decimal, so that a bound stays one.
func percent(x float64) string {
	return strconv.FormatFloat(math.Ceil(1000*x-1e-6)/10, 'f', -1, 64) + " %"
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
