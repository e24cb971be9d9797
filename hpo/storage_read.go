package hpo

import (
	"fmt"
	"maps"

	"github.com/c-bata/goptuna"
)

// known returns errStudy unless studyID is the storage's study.
func (s *storage) known(studyID int) error {
	if studyID != theStudy {
		return fmt.Errorf("study %d: %w", studyID, errStudy)
	}
	return nil
}

// CreateNewStudy names the storage's study and returns its ID; a storage holds one study.
func (s *storage) CreateNewStudy(name string) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.name != "" && s.name != name {
		return -1, fmt.Errorf("study %s: the storage holds study %s", name, s.name)
	}
	s.name = name
	return theStudy, nil
}

// DeleteStudy forgets all trials and attributes.
func (s *storage) DeleteStudy(studyID int) error {
	if err := s.known(studyID); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.name, s.direction = "", goptuna.StudyDirectionMinimize
	s.user, s.system = map[string]string{}, map[string]string{}
	s.trials, s.orders = nil, nil
	return nil
}

// SetStudyDirection sets whether small or large values are good.
func (s *storage) SetStudyDirection(studyID int, direction goptuna.StudyDirection) error {
	if err := s.known(studyID); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.direction = direction
	return nil
}

// SetStudyUserAttr sets a user attribute of the study.
func (s *storage) SetStudyUserAttr(studyID int, key string, value string) error {
	if err := s.known(studyID); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.user[key] = value
	return nil
}

// SetStudySystemAttr sets a system attribute of the study.
func (s *storage) SetStudySystemAttr(studyID int, key string, value string) error {
	if err := s.known(studyID); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.system[key] = value
	return nil
}

// GetStudyIDFromName returns the study's ID.
func (s *storage) GetStudyIDFromName(name string) (int, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if name != s.name {
		return -1, fmt.Errorf("study %s: %w", name, errStudy)
	}
	return theStudy, nil
}

// GetStudyIDFromTrialID returns the study's ID when it has the trial.
func (s *storage) GetStudyIDFromTrialID(trialID int) (int, error) {
	if _, err := s.GetTrial(trialID); err != nil {
		return -1, err
	}
	return theStudy, nil
}

// GetStudyNameFromID returns the study's name.
func (s *storage) GetStudyNameFromID(studyID int) (string, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.name, s.known(studyID)
}

// GetStudyDirection returns whether small or large values are good.
func (s *storage) GetStudyDirection(studyID int) (goptuna.StudyDirection, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.direction, s.known(studyID)
}

// GetStudyUserAttrs returns a copy of the study's user attributes.
func (s *storage) GetStudyUserAttrs(studyID int) (map[string]string, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return maps.Clone(s.user), s.known(studyID)
}

// GetStudySystemAttrs returns a copy of the study's system attributes.
func (s *storage) GetStudySystemAttrs(studyID int) (map[string]string, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return maps.Clone(s.system), s.known(studyID)
}

// GetAllStudySummaries returns the summary of the one study; without a complete
// trial its BestTrial is the zero FrozenTrial, whose state is running.
func (s *storage) GetAllStudySummaries() ([]goptuna.StudySummary, error) {
	best, err := s.GetBestTrial(theStudy)
	if err != nil && err != goptuna.ErrNoCompletedTrials {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	return []goptuna.StudySummary{{
		ID: theStudy, Name: s.name, Direction: s.direction, BestTrial: best,
		UserAttrs: maps.Clone(s.user), SystemAttrs: maps.Clone(s.system),
	}}, nil
}

// GetTrial returns a trial; see storage for what may be written to.
func (s *storage) GetTrial(trialID int) (goptuna.FrozenTrial, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if trialID < 0 || trialID >= len(s.trials) {
		return goptuna.FrozenTrial{}, fmt.Errorf("trial %d: %w", trialID, goptuna.ErrInvalidTrialID)
	}
	return copied(s.trials[trialID]), nil
}

// GetAllTrials returns the trials by number; see storage for what may be written to.
func (s *storage) GetAllTrials(studyID int) ([]goptuna.FrozenTrial, error) {
	if err := s.known(studyID); err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	trials := make([]goptuna.FrozenTrial, len(s.trials))
	for i, t := range s.trials {
		trials[i] = copied(t)
	}
	return trials, nil
}

// GetBestTrial returns the first of the complete trials with the best value, or
// goptuna.ErrNoCompletedTrials.
func (s *storage) GetBestTrial(studyID int) (goptuna.FrozenTrial, error) {
	if err := s.known(studyID); err != nil {
		return goptuna.FrozenTrial{}, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	var best *goptuna.FrozenTrial
	for i := range s.trials {
		t := &s.trials[i]
		if t.State != goptuna.TrialStateComplete {
			continue
		}
		if best == nil || better(s.direction, t.Value, best.Value) {
			best = t
		}
	}
	if best == nil {
		return goptuna.FrozenTrial{}, goptuna.ErrNoCompletedTrials
	}
	return *best, nil
}

// better reports whether value a is better than b.
func better(direction goptuna.StudyDirection, a, b float64) bool {
	if direction == goptuna.StudyDirectionMaximize {
		return a > b
	}
	return a < b
}

// GetTrialNumberFromID returns the trial's number.
func (s *storage) GetTrialNumberFromID(trialID int) (int, error) {
	t, err := s.GetTrial(trialID)
	return t.Number, err
}

// GetTrialParam returns a parameter in internal form.
func (s *storage) GetTrialParam(trialID int, name string) (float64, error) {
	t, err := s.GetTrial(trialID)
	if err != nil {
		return 0, err
	}
	v, ok := t.InternalParams[name]
	if !ok {
		return 0, fmt.Errorf("trial %d: %w: %s", trialID, errParam, name)
	}
	return v, nil
}

// GetTrialParams returns a copy of the trial's parameters in external form.
func (s *storage) GetTrialParams(trialID int) (map[string]any, error) {
	t, err := s.GetTrial(trialID)
	return maps.Clone(t.Params), err
}

// GetTrialUserAttrs returns a copy of the trial's user attributes.
func (s *storage) GetTrialUserAttrs(trialID int) (map[string]string, error) {
	t, err := s.GetTrial(trialID)
	return maps.Clone(t.UserAttrs), err
}

// GetTrialSystemAttrs returns a copy of the trial's system attributes.
func (s *storage) GetTrialSystemAttrs(trialID int) (map[string]string, error) {
	t, err := s.GetTrial(trialID)
	return maps.Clone(t.SystemAttrs), err
}
