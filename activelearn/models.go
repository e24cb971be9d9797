package activelearn

import (
	"tutti/coll"
	"tutti/surrogate/learner"
)

// Models fits models to the measurements of a ledger. It fits a model again only after a further trial has
// ended.
type Models struct {
	opt     learner.Options
	earlier [][]coll.Measurement
	ledger  *Ledger

	posterior       *learner.Posterior
	posteriorTrials int // trials that posterior is computed from; -1 before the first
	fitted          *learner.Learner
	fittedTrials    int // trials that fitted is computed from; -1 before the first
}

// NewModels returns the models for a ledger and for the measurements of earlier campaigns. The models are
// fitted when they are first needed.
func NewModels(l *Ledger, earlier [][]coll.Measurement, opt learner.Options) *Models {
	return &Models{
		opt: opt, earlier: earlier, ledger: l,
		posterior: learner.EmptyPosterior(opt.Prior), posteriorTrials: -1, fittedTrials: -1,
	}
}

// Data returns the training data of the models.
func (m *Models) Data() learner.Data { return DataOf(m.ledger, m.earlier) }

// DataOf returns the data on which models are trained: a ledger's data and the measurements of earlier
// campaigns.
func DataOf(l *Ledger, earlier [][]coll.Measurement) learner.Data {
	return learner.Data{Measurements: l.Measurements(), Replicates: l.Replicates(), Earlier: earlier, Missing: l.Missing}
}

// Posterior returns the posterior given all measurements and those of earlier campaigns.
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

// Fit returns the configured model, fitted to all measurements.
func (m *Models) Fit() (*learner.Learner, error) {
	if m.fittedTrials == m.ledger.Trials() {
		return m.fitted, nil
	}
	data := m.Data()
	if m.opt.Model == learner.GaussianProcess {
		var err error
		if data.Posterior, err = m.Posterior(); err != nil {
			return nil, err
		}
	}
	l, err := learner.Fit(data, m.opt)
	if err == nil {
		m.fitted, m.fittedTrials = l, m.ledger.Trials()
	}
	return l, err
}

// snapshot holds models that are fitted to the measurements made up to some time.
type snapshot struct {
	posterior    *learner.Posterior // given the measurements
	measurements int                // that the models are fitted to
	alternatives Alternatives       // by the model that makes the selection
	choose       Choice             // the selection; nil until it is needed
}

// snapshot fits the model that makes the selection, and the posterior.
func (m *Models) snapshot() (*snapshot, error) {
	selecting, err := m.Fit()
	if err != nil {
		return nil, err
	}
	posterior, err := m.Posterior()
	return &snapshot{posterior: posterior, measurements: len(m.ledger.Measurements()), alternatives: NewAlternatives(selecting, m.ledger)}, err
}

// since returns the measurements that were added to the ledger after the models were fitted.
func (s *snapshot) since(l *Ledger) []coll.Measurement { return l.Measurements()[s.measurements:] }
