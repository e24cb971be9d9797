package service

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"tutti/coll"
	"tutti/journal"
	"tutti/report"
)

// Measurement is one measurement in the journal of a campaign.
type Measurement struct {
	Seq     int64  `json:"seq"` // number of the line in the journal
	Library string `json:"library"`
	Round   int    `json:"round"`
	coll.Measurement
}

// Selection says which algorithms are selected for one problem after a round.
type Selection struct {
	Problem journal.Problem `json:"problem"`
	Round   int             `json:"round"`
	Cells   []report.Cell   `json:"cells"` // at every point, in the order of the report
}

// Prediction is the predicted time of one algorithm at one point.
type Prediction struct {
	coll.Point
	Algorithm string  `json:"algorithm"`
	Seconds   float64 `json:"seconds"`  // 0 where nothing was measured at the point
	Slowdown  float64 `json:"slowdown"` // time over that of the fastest algorithm at the point
	Measured  bool    `json:"measured"`
}

// Learned is what the trained models of a problem give: the selection and the predictions. A problem is a
// collective of a library.
type Learned struct {
	Selection   Selection
	Predictions []Prediction // by nodes, ppn, msg_bytes, algorithm
}

// Feed returns the lines of a campaign's journal as events.
func (s *Service) Feed(ctx context.Context, id string) (Feed, error) {
	v, err := s.view(ctx, id)
	if err != nil {
		return nil, err
	}
	return v.log, nil
}

// Measurements returns the measurements that follow a line of the journal, in order. The sequence reads the file from
// that line on. It ends with an error if a line cannot be read or ctx is cancelled.
func (s *Service) Measurements(ctx context.Context, id string, after int64) (iter.Seq2[Measurement, error], error) {
	v, err := s.view(ctx, id)
	if err != nil {
		return nil, err
	}
	return v.measurements(ctx, after), nil
}

// Problems returns the problems of a campaign, sorted by name. Before the campaign has begun, it returns
// none.
func (s *Service) Problems(ctx context.Context, id string) ([]journal.Problem, error) {
	v, err := s.view(ctx, id)
	if err != nil {
		return nil, err
	}
	return v.problemList(), nil
}

// Selection returns the selection for one problem of a campaign after the last evaluation. While newer models
// are being trained, it returns the previous selection. The first call trains models and may take seconds.
// The error matches ErrNoCampaign, ErrNoProblem or ErrNotYet.
func (s *Service) Selection(ctx context.Context, id string, p journal.Problem) (Selection, error) {
	l, err := s.learn(ctx, id, p)
	return l.Selection, err
}

// Predictions returns the predicted time of every algorithm at every point. Like Selection, it may take
// seconds, and it returns the same errors.
func (s *Service) Predictions(ctx context.Context, id string, p journal.Problem) ([]Prediction, error) {
	l, err := s.learn(ctx, id, p)
	return l.Predictions, err
}

func (s *Service) learn(ctx context.Context, id string, p journal.Problem) (Learned, error) {
	v, err := s.view(ctx, id)
	if err != nil {
		return Learned{}, err
	}
	if !slices.Contains(v.problemList(), p) {
		return Learned{}, fmt.Errorf("%w: %s in campaign %s", ErrNoProblem, p, id)
	}
	round := v.evaluatedRound(p)
	if round == 0 {
		return Learned{}, fmt.Errorf("%w: %s has no evaluation", ErrNotYet, p)
	}
	dir, err := s.resultsOf(id)
	if err != nil {
		return Learned{}, err
	}
	return s.learned.get(ctx, learnedKey{id, p}, dir, round)
}
