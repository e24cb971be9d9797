package assembly

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"tutti/benchrunner"
	"tutti/benchrunner/replay"
	"tutti/campaign"
	"tutti/coll"
	"tutti/internal/config"
	"tutti/journal"
	"tutti/mpi"
	"tutti/preprocess"
)

// readData reads all files of recorded data. Repetitions of a candidate must be in one file.
func (b *builder) readData() ([]coll.Measurement, error) {
	var all []coll.Measurement
	file := map[coll.Candidate]int{} // number of the file that has the candidate
	for i, path := range b.Config.Runner.Data {
		table, err := preprocess.ReadTable(path)
		if err != nil {
			return nil, err
		}
		for _, w := range table.Warnings {
			b.warn("%s: %v", filepath.Base(path), w)
		}
		for _, m := range table.Repetitions() {
			if other, ok := file[m.Candidate]; ok && other != i {
				return nil, fmt.Errorf("%v is recorded in %s and in %s", m.Candidate, b.Config.Runner.Data[other], path)
			}
			file[m.Candidate] = i
			all = append(all, m)
		}
	}
	return all, nil
}

// addRecorded adds the problems of one library on recorded data. It translates the algorithm names into the
// library's names and adds the times of the library's default. It leaves out candidates that are outside
// the grid or cannot run.
func (b *builder) addRecorded(lib config.Library, recorded []coll.Measurement) error {
	r := b.releases[lib.Name]
	if r.err != nil {
		return fmt.Errorf("libraries: %w", r.err) // no rules can be made for it
	}
	named, err := b.translateNames(lib, recorded)
	if err != nil {
		return err
	}
	byDefault, err := b.defaultTimes(lib, recorded)
	if err != nil {
		return err
	}
	named = slices.Concat(named, byDefault)
	check, merge := b.checker(r), b.mergeFor(r)
	for _, name := range b.Config.Collectives {
		p, err := b.problem(lib, coll.Collective(name), named, check)
		if err != nil {
			return err
		}
		p.Merge, p.Bands = merge, r.port.Facts().Bands
		b.Problems = append(b.Problems, p)
	}
	return nil
}

var errOutside = errors.New("outside the grid")

// unsafeError is the name of an algorithm that gives wrong results for some valid calls. Selection rules
// cannot exclude these calls.
type unsafeError string

func (e unsafeError) Error() string { return string(e) + " is wrong for some valid calls" }

// translateNames returns the recorded data with the names that a library gives to the algorithms.
func (b *builder) translateNames(lib config.Library, recorded []coll.Measurement) ([]coll.Measurement, error) {
	path := b.Config.Runner.Names
	if path == "" {
		return recorded, nil
	}
	names, err := preprocess.ReadNames(path)
	if err != nil {
		return nil, err
	}
	if err := mustHave(path, "library", names.Libraries(), lib.Name); err != nil {
		return nil, err
	}
	b.warnOfUnnamed(names, recorded)
	return names.Translate(recorded, lib.Name), nil
}

// defaultTimes returns the times of a library's default, nil if no file of defaults is configured.
func (b *builder) defaultTimes(lib config.Library, recorded []coll.Measurement) ([]coll.Measurement, error) {
	path := b.Config.Runner.Defaults
	if path == "" {
		return nil, nil
	}
	defaults, err := preprocess.ReadDefaults(path)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(
		mustHave(path, "library", defaults.Libraries(), lib.Name),
		mustHave(path, "machine", defaults.Machines(), b.Config.Runner.Recorded),
	); err != nil {
		return nil, err
	}
	return defaults.Rows(recorded, b.Config.Runner.Recorded, lib.Name), nil
}

// mustHave returns an error unless `names`, the libraries or machines in a file, contains `name`.
func mustHave(path, what string, names []string, name string) error {
	if slices.Contains(names, name) {
		return nil
	}
	return fmt.Errorf("%s: no row for the %s %q: it has %s", path, what, name, strings.Join(names, ", "))
}

// checker returns a function that checks candidates. The function returns an error for candidates outside the grid
// and for those that the library cannot run. With the option grid.between, message sizes between two sizes of the
// grid count as inside.
func (b *builder) checker(r release) func(coll.Candidate) error {
	g := b.Config.Grid
	return func(cand coll.Candidate) error {
		if !g.HasLayout(cand.Point) || !g.HasSize(cand.Point) && !b.between(cand.Point) {
			return errOutside
		}
		if err := r.cat.Check(cand); err != nil {
			return err
		}
		if b.Config.Export.OpSafe && !cand.Algorithm.IsDefault() {
			e, err := r.cat.Lookup(cand.Collective, cand.Algorithm)
			if err != nil {
				return err
			}
			if name := e.Unsafe(cand.Algorithm); name != "" {
				return unsafeError(name)
			}
		}
		return nil
	}
}

// between reports whether the message size of a point lies between sizes of the grid and may be added to it.
func (b *builder) between(p coll.Point) bool {
	g := b.Config.Grid
	return slices.Contains(g.Between, config.BetweenSizes) && len(g.Sizes) > 0 && p.MsgBytes > slices.Min(g.Sizes) && p.MsgBytes < slices.Max(g.Sizes)
}

// problem returns the problem of one collective on recorded data, with the candidates for which `check` returns nil.
func (b *builder) problem(lib config.Library, collective coll.Collective, named []coll.Measurement, check func(coll.Candidate) error) (campaign.Problem, error) {
	recorded, left := usableRows(collective, named, check)
	if left.unknown > 0 {
		b.warn("%s %s has no %s algorithm %s: %d recorded rows left out", lib.Name, lib.Version, collective, strings.Join(left.algorithms, ", "), left.unknown)
	}
	id := journal.Problem{Library: lib.Name, Collective: collective}
	machine, err := replay.New(recorded, b.replayOptions(b.releases[lib.Name]))
	if err != nil {
		return campaign.Problem{}, fmt.Errorf("%s: %w", id, err)
	}
	unsafe, err := replay.New(left.unsafe, replay.Options{})
	if err != nil {
		return campaign.Problem{}, fmt.Errorf("%s: %w", id, err)
	}
	all := machine.Space()
	sp := coll.NewSpace(all.Points(), all.Algorithms(), func(cand coll.Candidate) error {
		if b.Config.Grid.HasSize(cand.Point) && all.Has(cand) {
			return nil
		}
		return errOutside
	})
	if sp.Size() == 0 {
		return campaign.Problem{}, fmt.Errorf("%s %s %s: no recorded measurement lies on the grid and can run there: %v",
			lib.Name, lib.Version, collective, left)
	}
	return campaign.Problem{
		Problem: id, Space: sp, Runner: machine, Start: b.releases[lib.Name].start, Truth: machine.Truths(),
		ExhaustiveSeconds: machine.ExhaustiveSeconds,
		Unsafe:            left.unsafeNames, UnsafeTruth: unsafe.Truths(),
		Search: campaign.SearchRecorded(all, sp),
	}, nil
}

// usableRows returns the measurements that a problem of the collective can use, and the numbers of others by cause.
func usableRows(collective coll.Collective, named []coll.Measurement, check func(coll.Candidate) error) ([]coll.Measurement, *unusable) {
	var out []coll.Measurement
	var left unusable
	for _, m := range named {
		if m.Collective != collective {
			continue
		}
		if err := check(m.Candidate); err != nil {
			left.add(m, err)
			continue
		}
		out = append(out, m)
	}
	return out, &left
}

// replayOptions returns the options of a replay of a library's measurements as the campaign configures them.
func (b *builder) replayOptions(lib release) replay.Options {
	r := b.Config.Runner
	return replay.Options{
		Seed:        b.Config.Seed,
		Noise:       replay.Noise{Sigma: r.Noise, TailProbability: r.Tail},
		JobNoise:    r.JobNoise,
		FailureRate: r.Failures,
		Start:       lib.start,
		Launch: benchrunner.LaunchCost{
			Model:          benchrunner.LaunchModel(r.Launch.Model),
			Seconds:        r.Launch.Time.Seconds(),
			SecondsPerNode: r.Launch.TimePerNode.Seconds(),
		},
	}
}

// warnOfUnnamed adds a warning about recorded algorithms that the file of names lacks, perhaps unintentionally.
func (b *builder) warnOfUnnamed(names preprocess.Names, recorded []coll.Measurement) {
	var unnamed []string
	rows := 0
	for _, m := range recorded { // sorted by collective and algorithm
		if !slices.Contains(b.Config.Collectives, string(m.Collective)) || names.Mentions(m.Collective, m.Algorithm) {
			continue
		}
		rows++
		if name := fmt.Sprintf("%s %s", m.Collective, m.Algorithm); !slices.Contains(unnamed, name) {
			unnamed = append(unnamed, name)
		}
	}
	if rows == 0 {
		return
	}
	b.warnOnce(fmt.Sprintf("%s: %d recorded rows left out, no row names their algorithms: %s",
		filepath.Base(b.Config.Runner.Names), rows, strings.Join(unnamed, ", ")))
}

// unusable contains the numbers of recorded measurements that a problem cannot use, by cause.
type unusable struct {
	outside, infeasible, unknown int
	algorithms                   []string // unknown algorithms, sorted
	unsafe                       []coll.Measurement
	unsafeNames                  []string // sorted
}

func (l *unusable) add(m coll.Measurement, err error) {
	var name unsafeError
	switch {
	case errors.Is(err, errOutside):
		l.outside++
	case errors.Is(err, mpi.ErrUnknown):
		l.unknown++
		l.algorithms = with(l.algorithms, m.Algorithm.String())
	case errors.As(err, &name):
		l.unsafe = append(l.unsafe, m)
		l.unsafeNames = with(l.unsafeNames, string(name))
	default:
		l.infeasible++
	}
}

// with adds a name to sorted names unless they already contain it.
func with(names []string, name string) []string {
	if at, found := slices.BinarySearch(names, name); !found {
		names = slices.Insert(names, at, name)
	}
	return names
}

// String returns a text such as "72 rows outside the grid, 0 that cannot run there, 144 of algorithms it
// does not have (NTSB, NTSL)".
func (l *unusable) String() string {
	if l.outside+l.infeasible+l.unknown+len(l.unsafe) == 0 {
		return "no row is about this collective"
	}
	text := fmt.Sprintf("%d rows outside the grid, %d that cannot run there, %d of algorithms it does not have", l.outside, l.infeasible, l.unknown)
	if len(l.algorithms) > 0 {
		text += " (" + strings.Join(l.algorithms, ", ") + ")"
	}
	if len(l.unsafe) > 0 {
		text += fmt.Sprintf(", %d that export.op_safe excludes (%s)", len(l.unsafe), strings.Join(l.unsafeNames, ", "))
	}
	return text
}
