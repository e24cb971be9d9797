package hpo

import (
	"errors"
	"math"
	"testing"

	"github.com/c-bata/goptuna"
	"github.com/google/go-cmp/cmp"
)

// TestStorageServesGoptuna runs a study through goptuna's own Trial methods.
func TestStorageServesGoptuna(t *testing.T) {
	var told []TrialRecord
	s, err := newStorage(nil, func(r TrialRecord) error {
		told = append(told, r)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	study, err := goptuna.CreateStudy("own", goptuna.StudyOptionStorage(s), goptuna.StudyOptionSampler(tpe{seed: 1}),
		goptuna.StudyOptionLogger(nil), goptuna.StudyOptionIgnoreError(true))
	if err != nil {
		t.Fatal(err)
	}
	if err := study.EnqueueTrial(map[string]float64{"k": 1}); err != nil {
		t.Fatal(err)
	}
	err = study.Optimize(func(trial goptuna.Trial) (float64, error) {
		k, err := trial.SuggestCategorical("k", []string{"a", "b"})
		if err != nil {
			return 0, err
		}
		x, err := trial.SuggestLogFloat("x", 1, 10)
		if number, _ := trial.Number(); number == 2 {
			return math.NaN(), nil
		}
		return x + float64(len(k)), err
	}, 30)
	if err != nil {
		t.Fatal(err)
	}
	best, err := study.GetBestValue()
	if err != nil || best < 2 || best > 3 {
		t.Errorf("best = %g, error %v; want between 2 and 3", best, err)
	}
	if len(told) != 30 || told[0].Params[0] != (Param{Name: "k", Value: 1, Choice: "b"}) || told[2].State != Failed {
		t.Errorf("%d records, first %+v, third %s", len(told), told[0], told[2].State)
	}
}

func TestStorageTrials(t *testing.T) {
	s, err := newStorage(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	study, _ := s.CreateNewStudy("one")
	id, err := s.CreateNewTrial(study)
	if err != nil {
		t.Fatal(err)
	}
	before, _ := s.GetTrial(id)
	steps := []error{
		s.SetTrialParam(id, "n", 3, goptuna.IntUniformDistribution{Low: 1, High: 4}),
		s.SetTrialIntermediateValue(id, 1, 0.5),
		s.SetTrialUserAttr(id, "who", "me"),
		s.SetTrialSystemAttr(id, "rung", "1"),
		s.SetTrialValue(id, 0.25),
		s.SetTrialState(id, goptuna.TrialStateComplete),
	}
	if err := errors.Join(steps...); err != nil {
		t.Fatal(err)
	}
	if len(before.Params)+len(before.SystemAttrs)+len(before.IntermediateValues) > 0 {
		t.Error("writing to a running trial changed a copy of it")
	}
	value, params := 0.25, []Param{{Name: "n", Value: 3}}
	want := []TrialRecord{{State: Complete, Value: &value, Params: params, Reports: []Report{{1, 0.5}}}}
	if diff := cmp.Diff(want, s.records()); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
	external, _ := s.GetTrialParams(id)
	internal, _ := s.GetTrialParam(id, "n")
	user, _ := s.GetTrialUserAttrs(id)
	system, _ := s.GetTrialSystemAttrs(id)
	number, _ := s.GetTrialNumberFromID(id)
	if external["n"] != 3 || internal != 3 || user["who"] != "me" || system["rung"] != "1" || number != 0 {
		t.Errorf("read back %v, %g, %v, %v, %d", external, internal, user, system, number)
	}
	best, err := s.GetBestTrial(study)
	summaries, summariesErr := s.GetAllStudySummaries()
	if err != nil || summariesErr != nil || best.Value != 0.25 || summaries[0].BestTrial.Value != 0.25 {
		t.Errorf("best %g, error %v, %v", best.Value, err, summariesErr)
	}
}

func TestStorageStudy(t *testing.T) {
	s, err := newStorage(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	id, err := s.CreateNewStudy("one")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.SetStudyDirection(id, goptuna.StudyDirectionMaximize), s.SetStudyUserAttr(id, "a", "1"),
		s.SetStudySystemAttr(id, "b", "2")); err != nil {
		t.Fatal(err)
	}
	name, _ := s.GetStudyNameFromID(id)
	same, _ := s.GetStudyIDFromName("one")
	direction, _ := s.GetStudyDirection(id)
	user, _ := s.GetStudyUserAttrs(id)
	system, _ := s.GetStudySystemAttrs(id)
	if name != "one" || same != id || direction != goptuna.StudyDirectionMaximize || user["a"] != "1" || system["b"] != "2" {
		t.Errorf("read back %q, %d, %s, %v, %v", name, same, direction, user, system)
	}
	if err := s.DeleteStudy(id); err != nil {
		t.Fatal(err)
	}
	if user, _ := s.GetStudyUserAttrs(id); len(user) > 0 {
		t.Errorf("a deleted study has attributes %v", user)
	}
}

func TestStorageErrors(t *testing.T) {
	s, err := newStorage(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	study, _ := s.CreateNewStudy("one")
	running, _ := s.CreateNewTrial(study)
	done, _ := s.CreateNewTrial(study)
	if err := s.SetTrialState(done, goptuna.TrialStateFail); err != nil {
		t.Fatal(err)
	}
	first := func(_ any, err error) error { return err }
	tests := []struct {
		name string
		got  error
		want error
	}{
		{name: "no complete trial", got: first(s.GetBestTrial(study)), want: goptuna.ErrNoCompletedTrials},
		{name: "trial of another study", got: first(s.CreateNewTrial(7)), want: errStudy},
		{name: "trials of another study", got: first(s.GetAllTrials(7)), want: errStudy},
		{name: "best of another study", got: first(s.GetBestTrial(7)), want: errStudy},
		{name: "name of another study", got: first(s.GetStudyNameFromID(7)), want: errStudy},
		{name: "study by another name", got: first(s.GetStudyIDFromName("two")), want: errStudy},
		{name: "delete another study", got: s.DeleteStudy(7), want: errStudy},
		{name: "direction of another study", got: s.SetStudyDirection(7, ""), want: errStudy},
		{name: "attribute of another study", got: s.SetStudyUserAttr(7, "", ""), want: errStudy},
		{name: "system attribute of another study", got: s.SetStudySystemAttr(7, "", ""), want: errStudy},
		{name: "no such trial", got: first(s.GetTrial(9)), want: goptuna.ErrInvalidTrialID},
		{name: "negative trial", got: s.SetTrialValue(-1, 0), want: goptuna.ErrInvalidTrialID},
		{name: "study of no such trial", got: first(s.GetStudyIDFromTrialID(9)), want: goptuna.ErrInvalidTrialID},
		{name: "no such parameter", got: first(s.GetTrialParam(running, "x")), want: errParam},
		{name: "unknown distribution", got: s.SetTrialParam(running, "x", 1, "uniform"), want: goptuna.ErrUnknownDistribution},
		{name: "NaN report", got: s.SetTrialIntermediateValue(running, 1, math.NaN()), want: errNotFinite},
		{name: "NaN clone", got: first(s.CloneTrial(study, goptuna.FrozenTrial{Value: math.NaN()})), want: errNotFinite},
		{name: "finished trial", got: s.SetTrialValue(done, 1), want: goptuna.ErrTrialCannotBeUpdated},
		{name: "finished twice", got: s.SetTrialState(done, goptuna.TrialStateComplete), want: goptuna.ErrTrialCannotBeUpdated},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			if !errors.Is(tc.got, tc.want) {
				t.Errorf("error = %v, want %v", tc.got, tc.want)
			}
		})
	}
	if _, err := s.CreateNewStudy("two"); err == nil {
		t.Error("a second study was accepted")
	}
}
