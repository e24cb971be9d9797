package activelearn

import (
	"tutti/coll"
	"tutti/surrogate/learner"
)

// Models fits models to the measurements of a ledger, when they are needed. It fits a model again only after
// another trial has ended.
type Models struct {
	opt     learner.Options
	earlier [][]coll.Measurement
	ledger  *Ledger

	posterior       *learner.Posterior
	posteriorTrials int // number of trials when posterior was computed; -1 if it was not
	fitted          *learner.Learner
	fittedTrials    int // number of trials when fitted was computed; -1 if it was not
}

// NewModels returns the models for a ledger and for the measurements of earlier campaigns. The models are
// fitted when they are first needed.
func NewModels(l *Ledger, earlier [][]coll.Measurement, opt learner.Options) *Models {
	return &Models{
		opt: opt, earlier: earlier, ledger: l,
		posterior: &learner.Posterior{}, posteriorTrials: -1, fittedTrials: -1,
	}
}

// Data returns the training data: all trials so far and the measurements of earlier campaigns.
func (m *Models) Data() learner.Data { return DataOf(m.ledger, m.earlier) }

// DataOf returns the training data of a ledger and earlier campaigns.
func DataOf(l *Ledger, earlier [][]coll.Measurement) learner.Data {
	return learner.Data{Measurements: l.All(), Replicates: l.Replicates(), Earlier: earlier, Missing: l.Missing}
}

// Posterior returns the posterior given all measurements of this campaign and of earlier ones.
func (m *Models) Posterior() (*learner.Posterior, error) {
	if m.posteriorTrials == m.ledger.Trials() {
		return m.posterior, nil
	}
	next, err := m.posterior.Update(m.Data())
	if err == nil {
		m.posterior, m.posteriorTrials = next, m.ledger.Trials()
	}
	return next, err
}

// Learner returns the configured model, fitted to all measurements.
func (m *Models) Learner() (*learner.Learner, error) {
	if m.fittedTrials == m.ledger.Trials() {
		return m.fitted, nil
	}
	var posterior *learner.Posterior
	if m.opt.Model == learner.GaussianProcess {
		var err error
		if posterior, err = m.Posterior(); err != nil {
			return nil, err
		}
	}
	data := m.Data()
	data.Posterior = posterior
	l, err := learner.Fit(data, m.opt)
	if err == nil {
		m.fitted, m.fittedTrials = l, m.ledger.Trials()
	}
	return l, err
}

// snapshot holds the models as they were fitted after some round.
type snapshot struct {
	posterior    *learner.Posterior // given the measurements
	measurements int                // number of measurements to which the models are fitted
	alternatives Alternatives       // according to the model that makes the selection
	choose       Choice             // the selection; nil until it is needed
}

// snapshot fits the model that makes the selection, and the posterior.
func (r *Evaluator) snapshot() (*snapshot, error) {
	selecting, err := r.models.Learner()
	if err != nil {
		return nil, err
	}
	posterior, err := r.models.Posterior()
	if err != nil {
		return nil, err
	}
	a, err := r.alternatives(selecting)
	return &snapshot{posterior: posterior, measurements: r.ledger.CandidatesMeasured(), alternatives: a}, err
}

// alternatives returns the alternatives according to fitted models.
func (r *Evaluator) alternatives(models *learner.Learner) (Alternatives, error) {
	return NewAlternatives(models, r.ledger).ForLayouts(r.opt.Bands)
}
