package assembly

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"tutti/campaign"
	"tutti/coll"
	"tutti/hpo"
	"tutti/internal/config"
	"tutti/journal"
	"tutti/preprocess"
	"tutti/surrogate/forest"
)

// maxEarlier is about the largest number of measurements that a campaign takes from an earlier one. The
// campaign stores them in the first line of its journal, and its models use only a sample of them.
const maxEarlier = 50_000

// Earlier reads the folders of earlier campaigns, and CSV files of measurements. It returns their measurements, and the
// hyperparameters of the random forests that predicted best. From a campaign with more than maxEarlier measurements it takes only
// those at randomly drawn points. Errors match ErrInput.
func Earlier(dirs []string) ([]config.Earlier, error) {
	var out []config.Earlier
	for _, dir := range dirs {
		if strings.EqualFold(filepath.Ext(dir), ".csv") {
			e, err := earlierTable(dir)
			if err != nil {
				return nil, input(err)
			}
			out = append(out, e)
			continue
		}
		contents, err := journal.Read(dir)
		if err != nil {
			return nil, input(err)
		}
		e, err := earlierOf(contents)
		if err != nil {
			return nil, input(fmt.Errorf("journal of %s: %w", dir, err))
		}
		for k, other := range out {
			if e.ID != "" && e.ID == other.ID {
				return nil, input(fmt.Errorf("%s is the same campaign as %s: want each once", dir, dirs[k]))
			}
		}
		if len(e.Problems) == 0 {
			return nil, input(fmt.Errorf("%s: nothing was measured there", dir))
		}
		out = append(out, e)
	}
	return out, nil
}

// earlierTable returns the measurements of a CSV file. It does not name their library, so they count for every one whose
// algorithms they name.
func earlierTable(path string) (config.Earlier, error) {
	t, err := preprocess.ReadTable(path)
	if err != nil {
		return config.Earlier{}, err
	}
	if n := len(t.Measurements()); n > maxEarlier {
		return config.Earlier{}, fmt.Errorf("%s: %d measurements: want at most %d", path, n, maxEarlier)
	}
	e := config.Earlier{Campaign: filepath.Base(path)}
	for _, m := range t.Measurements() {
		if i := slices.IndexFunc(e.Problems, func(p config.EarlierProblem) bool { return p.Collective == m.Collective }); i >= 0 {
			e.Problems[i].Measurements = append(e.Problems[i].Measurements, m)
			continue
		}
		e.Problems = append(e.Problems, config.EarlierProblem{Collective: m.Collective, Measurements: []coll.Measurement{m}})
	}
	return e, nil
}

// earlierOf returns the latest measurement of each candidate in a journal, sorted by problem and candidate. For
// each problem it also returns the hyperparameters of the random forest that predicted best.
func earlierOf(c *journal.Contents) (config.Earlier, error) {
	e := config.Earlier{Campaign: c.Header.Campaign, ID: c.Header.ID}
	var spec struct {
		Machine   string           `json:"machine"`
		Libraries []config.Library `json:"libraries"`
	}
	if err := json.Unmarshal(c.Header.Spec, &spec); err != nil {
		return e, fmt.Errorf("header: %w", err)
	}
	e.Machine = spec.Machine
	done := 0
	for _, p := range c.State().Problems {
		done += p.Done()
	}
	for _, p := range c.State().Problems {
		measurements, err := p.Measurements(maxEarlier / float64(max(done, maxEarlier)))
		if err != nil {
			return e, err
		}
		if len(measurements) == 0 {
			continue
		}
		problem := config.EarlierProblem{Library: p.Library, Collective: p.Collective, Measurements: measurements}
		if best, ok := hpo.Best(p.Study.Trials); ok {
			problem.Forest = &best.Params
		}
		if i := slices.IndexFunc(spec.Libraries, func(l config.Library) bool { return l.Name == p.Library }); i >= 0 {
			problem.Version, problem.Users = spec.Libraries[i].Version, spec.Libraries[i].Users
		}
		e.Problems = append(e.Problems, problem)
	}
	slices.SortFunc(e.Problems, func(a, b config.EarlierProblem) int {
		return cmp.Or(cmp.Compare(a.Library, b.Library), cmp.Compare(a.Collective, b.Collective))
	})
	return e, nil
}

// addEarlier adds the measurements of earlier campaigns to the problems. It skips algorithms that are not in
// the problem's space, and warns of differences between the campaigns. The configured forest hyperparameters
// are replaced by the best ones that the latest earlier campaign with a hyperparameter study found.
func (b *builder) addEarlier() error {
	for _, e := range b.Config.From {
		b.warnOfEarlier(e)
		for i := range b.Problems {
			p := &b.Problems[i]
			earlier, _ := e.Of(p.Library, p.Collective)
			usable := slices.DeleteFunc(slices.Clone(earlier.Measurements), func(m coll.Measurement) bool {
				return !slices.Contains(p.Space.Algorithms(), m.Algorithm)
			})
			if len(usable) == 0 {
				b.warn("the earlier campaign %s has no measurement of %s, which starts without it", e.Campaign, p.Problem)
				continue
			}
			p.Earlier, p.EarlierNames = append(p.Earlier, usable), append(p.EarlierNames, e.Campaign)
			if earlier.Forest == nil {
				continue
			}
			with, err := campaign.WithParams(b.Spec.Learner, *earlier.Forest)
			if err != nil {
				return fmt.Errorf("the earlier campaign %s, %s: %w", e.Campaign, p.Problem, err)
			}
			if with.Scaling != preprocess.Standard || with.Forest.Criterion != forest.Poisson { // the criterion poisson needs positive times
				p.Forest = &with.Forest
			}
		}
	}
	return nil
}

// warnOfEarlier adds a warning if an earlier campaign ran on another machine or with other releases.
func (b *builder) warnOfEarlier(e config.Earlier) {
	const counts = "new measurements decide how much its times count"
	if e.Machine != b.Config.Machine && e.ID != "" {
		b.warn("the earlier campaign %s was on another machine, %q instead of %q: %s", e.Campaign, e.Machine, b.Config.Machine, counts)
	}
	for _, lib := range b.Config.Libraries {
		other := slices.IndexFunc(e.Problems, func(p config.EarlierProblem) bool {
			return p.Library == lib.Name && p.Version != lib.Version
		})
		if other >= 0 {
			b.warn("the earlier campaign %s was with %s %s instead of %s: %s", e.Campaign, lib.Name, e.Problems[other].Version, lib.Version, counts)
		}
	}
}
