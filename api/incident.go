package api

import (
	"github.com/discreet-dp/discreet/ledger"
)

// Incident is a question that failed after its charge, as the owner is told of it.
type Incident struct {
	Analyst string         `json:"analyst"`
	Dataset string         `json:"dataset"`
	Charge  uint64         `json:"charge"` // the charge that paid for it; 0 where that was another's, or before
	Failure ledger.Failure `json:"failure"`
	// Closed says that the door is closed to the analyst by now.
	Closed bool `json:"closed"`
}
