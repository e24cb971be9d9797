package verification

import (
	"time"

	"tutti/benchrunner"
	"tutti/coll"
	"tutti/internal/config"
	"tutti/journal"
	"tutti/verify"
)

// minBudget is the smallest default budget of machine time. Even after a short campaign, a verification
// needs some blocks. A block measures the tuned files and the library's default once at each point.
const minBudget = 10 * time.Minute

// Estimate is the expected cost of verifying one library. All its numbers are zero if the verification has
// ended.
type Estimate struct {
	Library     string  `json:"library"`
	Points      int     `json:"points"` // number of points that the next comparison tests
	Blocks      float64 `json:"blocks"` // average number of blocks for each point
	Seconds     float64 `json:"machine_seconds"`
	NodeSeconds float64 `json:"node_seconds"`
	Budget      float64 `json:"budget_seconds"` // remaining machine time, after which the verification ends
	Least       float64 `json:"least_seconds"`  // machine time of the fewest blocks that can prove a difference; 0 after the first block
}

// Estimate returns the expected cost of verifying a library. It uses the times of launches and measurements
// in the journal, and runs nothing. Errors match ErrRecordedOnly, ErrNoDefault or verify.ErrNothing.
func (v *Verifier) Estimate(lib config.Library) (Estimate, error) {
	s, err := v.subject(lib)
	if err != nil {
		return Estimate{}, err
	}
	target, err := v.models.Library(v.state, lib)
	if err != nil {
		return Estimate{}, err
	}
	problems, err := s.problems(target.Choices())
	if err != nil {
		return Estimate{}, err
	}
	session, err := v.open(lib, problems)
	if err != nil {
		return Estimate{}, err
	}
	points, err := session.NextPoints(problems)
	if err != nil || len(points) == 0 {
		return Estimate{Library: lib.Name}, err
	}
	e := Estimate{
		Library: lib.Name, Points: len(points), Blocks: blocksOf(v.opt.Rules),
		Budget: max(0, v.Budget(lib).Seconds()-session.MachineSeconds()),
	}
	usages, err := usagesOf(v.state, lib.Name, v.campaign.Spec.Launch)
	if err != nil {
		return Estimate{}, err
	}
	for nodes, n := range launchesOf(points, v.campaign.Spec.Launch) {
		seconds := e.Blocks * usages.of(nodes).seconds(n)
		e.Seconds += seconds
		e.NodeSeconds += seconds * float64(nodes)
	}
	if session.MachineSeconds() == 0 {
		e.Least = e.Seconds / e.Blocks * float64(v.opt.Rules.MinBlocks)
	}
	if share := e.Budget / e.Seconds; share < 1 {
		e.Seconds, e.NodeSeconds = e.Budget, e.NodeSeconds*share
	}
	return e, nil
}

// blocksOf returns the expected number of blocks (repetitions) at a test point. Every point is screened, which is
// assumed to take the mean of MinBlocks and MaxBlocks. The fraction r.Suspicion of the points looks slower by
// chance and is measured again.
func blocksOf(r verify.Rules) float64 {
	return float64(r.MinBlocks+r.MaxBlocks)/2 + r.Suspicion*float64(2*r.MaxBlocks)
}

// Budget returns the maximum machine time for verifying a library. For recorded data it returns 0, which
// means no limit.
func (v *Verifier) Budget(lib config.Library) time.Duration {
	if v.opt.MachineTime > 0 || !v.campaign.Config.Runner.Live() {
		return v.opt.MachineTime
	}
	campaignSeconds := 0.0
	for _, r := range v.state.Rounds {
		if r.Problem.Library == lib.Name {
			campaignSeconds += r.Seconds
		}
	}
	return max(minBudget, time.Duration(campaignSeconds*float64(time.Second)))
}

// usage contains how many programs were launched and how many candidates were measured, and the machine time
// of both.
type usage struct {
	launches, cases float64
	launch, run     float64 // seconds
}

// seconds returns the expected machine time of the launches and candidates in `planned`, from the average times in u.
func (u usage) seconds(planned usage) float64 {
	if u.launches == 0 || u.cases == 0 {
		return 0
	}
	return planned.launches*u.launch/u.launches + planned.cases*u.run/u.cases
}

// usages contains the usage of jobs by number of nodes. The key anyNodes has the usage of all jobs.
type usages map[int]usage

const anyNodes = 0

// of returns the usage of the jobs with the given number of nodes. Without such jobs it returns that of all jobs.
func (u usages) of(nodes int) usage {
	if own, ok := u[nodes]; ok {
		return own
	}
	return u[anyNodes]
}

func usagesOf(state *journal.State, library string, model benchrunner.LaunchModel) (usages, error) {
	out := usages{}
	for _, r := range state.Rounds {
		if r.Problem.Library != library {
			continue
		}
		batch, err := r.Batch()
		if err != nil {
			return nil, err
		}
		for _, j := range r.Jobs() {
			if j.State != coll.JobEnded || j.NoStartReason != "" {
				continue
			}
			keys := map[benchrunner.LaunchKey]bool{}
			for _, at := range j.Carries {
				keys[model.Key(batch[at])] = true
			}
			for _, nodes := range []int{j.Nodes, anyNodes} {
				sum := out[nodes]
				sum.launches += float64(len(keys))
				sum.cases += float64(len(j.Carries))
				sum.launch += j.Spent.Launch + j.Spent.Idle
				sum.run += j.Spent.Warmup + j.Spent.Measure
				out[nodes] = sum
			}
		}
	}
	return out, nil
}

// launchesOf returns the numbers of launches and candidates that one block (one repetition at all test
// points) needs, by number of nodes. Tuned files and default never share a launch, because their settings
// differ.
func launchesOf(points []verify.TestPoint, model benchrunner.LaunchModel) map[int]usage {
	out := map[int]usage{}
	type launch struct {
		benchrunner.LaunchKey
		settings coll.Algorithm
	}
	counted := map[launch]bool{}
	for _, s := range points {
		u := out[s.Nodes]
		for _, settings := range []coll.Algorithm{verify.Tuned, coll.Default} {
			key := launch{model.Key(coll.Candidate{Point: s.Point, Algorithm: settings}), settings}
			if !counted[key] {
				counted[key] = true
				u.launches++
			}
			u.cases++
		}
		out[s.Nodes] = u
	}
	return out
}
