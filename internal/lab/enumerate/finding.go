package enumerate

// Finding is one claim, what was done to break it, and whether it stands.
type Finding struct {
	Subject string  `json:"subject"`           // the mechanism, or the question of a policy
	Check   string  `json:"check"`             // "exact", "replay" or "statistical"
	Claim   float64 `json:"claim"`             // the epsilon that is claimed, or the mu, as Unit says
	Unit    string  `json:"unit"`              // "epsilon" or "mu"; empty for replay
	Lower   float64 `json:"lower"`             // what is proven to be lost: exactly, or with confidence
	Samples int     `json:"samples,omitempty"` // runs of the mechanism, where it was sampled
	Stands  bool    `json:"stands"`            // the verdict
	Detail  string  `json:"detail,omitempty"`  // what was compared, or what was found
}
