package report

import (
	"slices"

	"tutti/verify"
)

// verificationFacts gathers what the report shows of a verification.
func verificationFacts(r verify.Result) VerificationFacts {
	f := VerificationFacts{
		Library: r.Library, Ended: r.Ended, Tolerance: r.Rules.Tolerance, Alpha: r.Rules.Alpha,
		Passes: r.Passes, Trials: r.Trials, Failed: r.Failed, MachineSeconds: r.MachineSeconds,
		PutBack: condemnedFacts(r.PutBack), Slower: condemnedFacts(r.Slower),
	}
	for _, c := range r.Collectives {
		v := VerifiedCollective{
			Collective: string(c.Collective), Points: c.Points, Changed: c.Changed,
			Speedup: rangeOf(c.Speedup), Same: rangeOf(c.Same), PutBack: c.PutBack, Left: c.Left,
		}
		for _, s := range r.Slower {
			if s.Collective == c.Collective {
				v.Slower++
			}
		}
		for _, s := range r.Sights {
			if state := string(s.State); s.Collective == c.Collective && !slices.Contains(v.Obedience, state) {
				v.Obedience = append(v.Obedience, state)
			}
		}
		slices.Sort(v.Obedience)
		f.Collectives = append(f.Collectives, v)
	}
	for _, p := range r.Points {
		f.Points = append(f.Points, VerifiedPoint{
			Collective: string(p.Collective), Nodes: p.Nodes, PPN: p.PPN, MsgBytes: p.MsgBytes,
			Choice: p.Choice.String(), Why: string(p.Why), Blocks: p.Blocks, Failed: p.TunedFailed + p.OtherFailed,
			Ratio: rangeOf(p.Ratio), PutBack: p.PutBack,
		})
	}
	for _, s := range r.Sights {
		f.Obedience = append(f.Obedience, ObedienceFacts{
			Collective: string(s.Collective), Nodes: s.Nodes, PPN: s.PPN, MsgBytes: s.MsgBytes,
			Choice: s.Choice.String(), State: string(s.State), Note: s.Note,
		})
	}
	return f
}

func condemnedFacts(findings []verify.Finding) []CondemnedPoint {
	var out []CondemnedPoint
	for _, f := range findings {
		out = append(out, CondemnedPoint{
			Collective: string(f.Collective), Nodes: f.Nodes, PPN: f.PPN, MsgBytes: f.MsgBytes,
			Choice: f.Choice.String(), Reason: string(f.Reason), Ratio: rangeOf(f.Ratio), P: f.P, Blocks: f.Blocks, Error: f.Error,
		})
	}
	return out
}

// rangeOf is nil for what is not known.
func rangeOf(i verify.Interval) *Range {
	if i == (verify.Interval{}) {
		return nil
	}
	return &Range{Value: i.Value, Low: i.Low, High: i.High}
}
