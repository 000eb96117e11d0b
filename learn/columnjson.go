package learn

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/big"
	"strings"
)

type plainColumn Column

// columnJSON has the same fields; the outer one counts. A step is a whole number or a fraction of
// two, as text.
type columnJSON struct {
	plainColumn
	Step string `json:"step,omitempty"`
}

// MarshalJSON writes the step as a fraction.
func (c Column) MarshalJSON() ([]byte, error) {
	j := columnJSON{plainColumn: plainColumn(c)}
	if c.Step != nil {
		j.Step = c.Step.RatString()
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads what MarshalJSON writes. Numbers that would not fit in memory are not read:
// big.Rat takes exponents.
func (c *Column) UnmarshalJSON(text []byte) error {
	var j columnJSON
	if err := strictly(bytes.NewReader(text), &j); err != nil {
		return err
	}
	*c = Column(j.plainColumn)
	if c.Step = nil; j.Step == "" {
		return nil
	}
	if len(j.Step) > 1000 || strings.Trim(j.Step, "0123456789/") != "" {
		return errors.New("a step is a fraction such as 1/100")
	}
	step, ok := new(big.Rat).SetString(j.Step)
	if !ok {
		return errors.New("a step is a fraction such as 1/100")
	}
	c.Step = step
	return nil
}
