package learn

import "math/big"

// Encoding says how the columns of a row become features, from what is public alone. A row is one whole number for each column (Null where there is none): how many steps, or which of the values.
type Encoding struct {
	Features []Column `json:"features"`
	Target   Column   `json:"target"`
}

// Column is a number with public bounds, or one of some public values.
type Column struct {
	Name string `json:"name"`
	// Values are what the column can be, for classes and categories; the code of a row is the place of its value, and -1 for any other. Nil for numbers.
	Values []string `json:"values,omitempty"`
	// Lo and Hi are the bounds of a number, in steps of Step.
	Lo   int64    `json:"lo,omitempty"`
	Hi   int64    `json:"hi,omitempty"`
	Step *big.Rat `json:"step,omitempty"`
}

// Null is the code of a value that is missing. A missing number is the middle of its bounds and a missing category is none of its values; a row without a target is left out.
const Null = -1 << 63
