package api

// Makeup says what an answer is made of, so that somebody can put it together with answers of other
// servers. It is made from the text and the policy, before anything is asked.
type Makeup struct {
	// Source names the ledger and the dataset, and nothing about either: two answers of one source
	// are about the same people, with the same noise, and are not to be added up.
	Source string `json:"source" doc:"Names the ledger and the dataset: answers of one source are not to be added up"`
	// Apart says why the answer cannot be put together with others, and Instead what to ask; both
	// are empty where it can.
	Apart   string               `json:"apart,omitempty" doc:"Why the answer cannot be put together with those of other servers; missing where it can"`
	Instead string               `json:"instead,omitempty" doc:"What to ask instead"`
	Columns List[MakeupOfColumn] `json:"columns" doc:"The columns; empty where the answer cannot be put together with others"`
}

// MakeupOfColumn is a column of such an answer.
type MakeupOfColumn struct {
	Name     string `json:"name"`
	Kind     string `json:"kind"`
	Type     string `json:"type"`
	Decimals int    `json:"decimals" doc:"How many digits after the point a value has; -1 for real numbers and text"`
	// Of is what its values are.
	Of string `json:"of" enum:"key,count,sum,average" doc:"What its values are"`
	// Values are those of a key, all that the answer has.
	Values []any `json:"values,omitempty" doc:"The values of a key, all that the answer has"`
	// Noise is that of a count or a sum, in steps, where nothing better was paid for before.
	Step  string   `json:"step,omitempty" doc:"Of a count or a sum: its unit, as a fraction"`
	Noise []Noises `json:"noise,omitempty" doc:"Of a count or a sum: the noise that it would have, in steps"`
}

// What the values of a column are.
const (
	OfKey     = "key"
	OfCount   = "count"
	OfSum     = "sum"
	OfAverage = "average"
)

// Part is what a value of an answer was made of: the noisy numbers that were released, before
// anything was computed from them. Whoever has several answers adds these up, and computes then.
type Part struct {
	// Sum is a count or a sum; nil for a key. Of an average it is the sum of the distances from
	// Center, and Count is how many there are.
	Sum   *NoisyNumber `json:"sum,omitempty" doc:"The count or sum; of an average, the sum of the distances of values from center"`
	Count *NoisyNumber `json:"count,omitempty" doc:"Of an average: how many values there are"`
	// Below, where it is there, stands in the place of Count: the sum of the distances from High,
	// where those in Sum are from Low.
	Below *NoisyNumber `json:"below,omitempty" doc:"Of an average, in the place of count: the sum of the distances of values from high, where sum has those from low"`
	// Center, Low and High are fractions, in units of the answer. Every value was clamped to the
	// range from Low to High.
	Center string `json:"center,omitempty" doc:"Of an average: what was subtracted from each value, as a fraction"`
	Low    string `json:"low,omitempty" doc:"Of an average: every value was clamped to be at least this, a fraction"`
	High   string `json:"high,omitempty" doc:"Of an average: every value was clamped to be at most this, a fraction"`
}

// NoisyNumber is a number that was released: so many steps.
type NoisyNumber struct {
	Value int64  `json:"value" doc:"The number, in steps"`
	Step  string `json:"step" doc:"The step in units of the answer, as a fraction"`
	// Noise is what was added to the exact number, in steps: noises that are independent of each
	// other. It is empty for a number that is exact.
	Noise List[Noises] `json:"noise" doc:"What was added to the exact number, in steps; empty where it is exact"`
	// Off is by how many steps more than such noise it may be off, because it was rounded.
	Off int64 `json:"off,omitempty" doc:"By how many steps more than that it may be off, because it was rounded"`
}

// Noises is so many independent noises of one kind.
type Noises struct {
	Mechanism string `json:"mechanism" enum:"laplace,gaussian"`
	// Parameter is the scale of Laplace noise, or the variance of Gaussian noise, as a fraction.
	Parameter string `json:"parameter" doc:"The scale of Laplace noise, or the variance of Gaussian noise, as a fraction"`
	Count     int    `json:"count" doc:"How many of them there are"`
}
