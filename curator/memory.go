package curator

import (
	"encoding/json"
	"errors"
)

// memory is how an answer is kept: the noisy integers alone. The same query
// makes the same table of them.
type memory struct {
	Measures [][]int64 `json:"measures"`
}

func encode(noisy [][]int64) ([]byte, error) { return json.Marshal(memory{noisy}) }

func (p *priced) decode(stored []byte) ([][]int64, error) {
	var m memory
	err := json.Unmarshal(stored, &m)
	ok := err == nil && len(m.Measures) == len(p.plan.Query.Measures)
	for _, v := range m.Measures {
		ok = ok && len(v) == p.plan.Query.Groups()
	}
	if !ok {
		return nil, errors.New("an answer in the ledger cannot be read; was it written by another version of discreet?")
	}
	return m.Measures, nil
}
