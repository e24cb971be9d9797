package activelearn

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"tutti/coll"
)

// oracle is regret with the truth in hand, for evaluations. It knows the time and the
// cost of every measurement and takes the one that lowers most, for its price, what the
// choices of the Gaussian process truly lose; see board.lost. Where no single measurement
// lowers that it does what regret does. It is a mark to hold others against and no strict
// bound, since it is greedy over the options and points of a round and the final selection
// may be another model's.
type oracle struct {
	regret
	truth map[coll.Candidate]coll.Measurement
}

// errNoTruth is what an oracle without Options.Truth returns.
var errNoTruth = errors.New("oracle: it needs the truth, which only an evaluation has")

// Ask returns the candidates that spare most loss for their price.
func (o *oracle) Ask(s State) ([]coll.Candidate, error) {
	if o.truth == nil {
		return nil, errNoTruth
	}
	if err := o.start(s.Ledger); err != nil {
		return nil, fmt.Errorf("oracle: %w", err)
	}
	if len(s.Ledger.Measurements()) == 0 {
		return o.pay(o.begin(s)), nil
	}
	m, err := o.model(s)
	if err != nil {
		return nil, fmt.Errorf("oracle: %w", err)
	}
	b, err := o.board(s, m, o.sample(s))
	if err != nil {
		return nil, err
	}
	batch := o.clairvoyant(b, s.Want)
	return o.pay(o.fill(s, batch)), nil
}

// foresight is what an option's measurement is known to do.
type foresight struct {
	covariance []float64 // of its time with that of each entry
	time       float64   // log10 seconds
}

// clairvoyant picks greedily by true losses.
func (o *oracle) clairvoyant(b *board, want int) []coll.Candidate {
	times := make([]float64, len(b.entries))
	for e, c := range b.candidates {
		times[e] = math.Log10(o.truth[c].Seconds)
	}
	sights := make([]foresight, len(b.options))
	all := make([]int, len(b.entries))
	for e := range all {
		all[e] = e
	}
	covariances := b.posterior.Covariances(b.optionEntries(), all)
	for i := range b.options {
		q := &b.options[i]
		q.run = o.truth[q.candidate].CostSeconds
		sights[i] = foresight{covariance: covariances[i], time: times[q.entry]}
	}
	var batch []coll.Candidate
	for len(batch) < want {
		at := b.foreseen(times, sights)
		if at < 0 {
			break
		}
		batch = append(batch, b.options[at].candidate)
		b.observe(sights, at)
	}
	return batch
}

// foreseen is the option that spares most true loss a second; where none spares any,
// the one that regret takes. It is -1 when none is left.
func (b *board) foreseen(times []float64, sights []foresight) int {
	at, most := -1, 0.0
	before := b.lost(times, nil, 0)
	for i := range b.options {
		q := &b.options[i]
		if q.taken {
			continue
		}
		move := (sights[i].time - b.means[q.entry]) / (q.variance + b.noise)
		spared := before - b.lost(times, sights[i].covariance, move)
		if rate := spared / b.price(q); rate > most {
			at, most = i, rate
		}
	}
	if at >= 0 {
		return at
	}
	top, _ := b.best()
	for i := range b.options {
		if &b.options[i] == top {
			return i
		}
	}
	return -1
}

// observe moves means and covariances as the measurement of an option does.
func (b *board) observe(sights []foresight, at int) {
	q := &b.options[at]
	own := slices.Clone(sights[at].covariance)
	spread := q.variance + b.noise
	move := (sights[at].time - b.means[q.entry]) / spread
	for e, c := range own {
		b.means[e] += c * move
	}
	for i := range sights {
		share := sights[i].covariance[q.entry] / spread
		for e, c := range own {
			sights[i].covariance[e] -= share * c
		}
	}
	b.take(q)
}

// lost is what the choices truly lose over the sample, in the units of loss, when the
// means are moved by so much along a covariance. A choice is soft: an algorithm counts
// with the weight exp(-d/softChoice), d decades above the lowest mean. So a measurement
// that only brings the means nearer to the right choice lowers the loss, too.
func (b *board) lost(times, covariance []float64, move float64) float64 {
	sum := 0.0
	for row, first := 0, 0; first < len(b.entries); row++ {
		end := first
		least, fastest := math.Inf(1), math.Inf(1)
		for ; end < len(b.entries) && b.entries[end].Row == row; end++ {
			least, fastest = min(least, b.moved(end, covariance, move)), min(fastest, times[end])
		}
		weights, lost := 0.0, 0.0
		for e := first; e < end; e++ {
			over := (b.moved(e, covariance, move) - least) / softChoice
			if over > 20 {
				continue
			}
			w := math.Exp(-over)
			weights += w
			d := times[e] - fastest
			lost += w * math.Ln10 * d / b.stakes.Slowdown
			if d > b.stakes.mistake {
				lost += w / b.stakes.Mistakes
			}
		}
		sum += b.weights[row] * lost / weights
		first = end
	}
	return sum
}

// softChoice is in decades: 5 %.
const softChoice = 0.02

// moved is the mean of an entry moved along a covariance.
func (b *board) moved(e int, covariance []float64, move float64) float64 {
	if covariance == nil {
		return b.means[e]
	}
	return b.means[e] + covariance[e]*move
}
