package workbench

import (
	"bytes"

	"github.com/discreet-dp/discreet/learn"
)

// readModel reads a model that this program, or the curator, has released.
func readModel(text []byte) (*learn.Model, error) {
	if len(text) == 0 {
		return nil, refuseRequest("there is no model")
	}
	return learn.ReadModel(bytes.NewReader(text))
}
