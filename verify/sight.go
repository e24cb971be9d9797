package verify

// Sight is what was seen of a library's obedience at one point.
type Sight struct {
	Spot
	State SightState `json:"state"`
	Saw   string     `json:"saw,omitzero"`  // the function the library entered
	Note  string     `json:"note,omitzero"` // why it cannot be seen, or what was wanted
}

// SightState says whether the library obeyed.
type SightState string

// The states of obedience.
const (
	Obeyed    SightState = "obeyed"
	NotObeyed SightState = "not obeyed"
	Unseen    SightState = "cannot be seen"
)
