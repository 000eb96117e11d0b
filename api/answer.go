package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/discreet-dp/discreet/dp"
)

// Answer is what an analyst gets: a table of noisy values with their error bars.
type Answer struct {
	Columns Columns `json:"columns" doc:"The names of the columns"`
	// Rows hold nil, string, bool, or json.Number for numbers.
	Rows [][]any `json:"rows" doc:"The noisy values: null, texts, booleans and numbers"`
	// Errors hold, for each value of Rows, the half width of an interval that contains the exact
	// value with probability Confidence; nil for keys, and for values whose error nobody can know,
	// such as quantiles. All of it is nil where a query over other answers made the rows.
	Errors [][]*float64 `json:"errors" nullable:"true" doc:"For each value, the half width of an interval that contains the exact value with probability confidence; null if the value has no interval"`
	// Shown says that error bars are among the columns, as Settings.Errors asked for.
	Shown bool `json:"-"`
	// Cost is what this answer cost: zero when it had been paid for before.
	Cost      dp.Cost   `json:"cost" doc:"What this answer cost; zero if it was already paid for"`
	Remaining Remaining `json:"remaining" doc:"What the analyst can still spend"`
	More      *int64    `json:"more,omitempty" doc:"About how many more answers you can pay for at this price; missing if this one was free"`
	Receipt   Receipt   `json:"receipt" doc:"The charge in the ledger"`
	Limits    `json:"limits" doc:"How much one person counts"`
	// Whole holds, for each value of Rows, the interval of what was asked and not of what limits
	// kept of it, where a profile says how much they cut; nil for other values, and empty without a
	// profile.
	Whole      [][]*Range `json:"whole,omitempty" doc:"For each value, the interval that includes what limits cut, where a profile of the table was paid for"`
	Confidence float64    `json:"confidence" doc:"The probability of the error bars"`
	// Notes are sentences about the answer that a reader should know.
	Notes List[string] `json:"notes" doc:"Sentences that a reader of the answer should know"`
	// Version is the version of the data that the answer is about.
	Version DataVersion `json:"data_version" doc:"The version of the data that the answer is about"`
	// Alerts say which accounts this answer took over 50, 80 or 95 % of their limits. All of them
	// are accounts that the analyst is charged in, whose balances Remaining tells anyway.
	Alerts List[Alert] `json:"alerts" doc:"Accounts that this answer pushed past 50, 80 or 95 % of their limits"`
	// Through says which parts of it went through streams of the policy, and whether they were
	// free; empty where none did.
	Through []Through `json:"streams,omitempty" doc:"Which parts of the answer came from streams of the policy, and how much of them was free; missing if none did"`
	// MadeUp says that the rows are about people who do not exist.
	MadeUp bool `json:"made_up,omitempty" doc:"True if the question was asked of the sandbox: the numbers mean nothing, nothing was spent, and cost is the most it would cost on the data"`
	// Parts hold, for each value of Rows, what it was made of, where [Question.Parts] asked for it
	// and [Makeup] says that it can be put together with others.
	Parts [][]Part `json:"parts,omitempty" doc:"For each value, the noisy numbers that it was made from, none for keys; missing unless the question asked for them"`
}

// MarshalJSON implements [json.Marshaler]. Lists are never null, but for the errors of a query
// around answers, which nobody knows.
func (a Answer) MarshalJSON() ([]byte, error) {
	if a.Rows == nil {
		a.Rows = [][]any{}
	}
	if a.Errors == nil && len(a.Rows) == 0 {
		a.Errors = [][]*float64{}
	}
	type plain Answer // without this method
	return marshal(plain(a))
}

// Limits say how much of one person counts. What was cut is not part of the errors.
type Limits struct {
	// MaxRows and MaxGroups are how many rows of one person were counted in each group at most, and
	// in how many groups.
	MaxRows   int64 `json:"max_rows"`
	MaxGroups int64 `json:"max_groups"`
	// Cut says that a person may have had more: that the two are limits and not facts.
	Cut bool `json:"cut" doc:"True if people may have more rows or groups than count; the errors leave out what that leaves out"`
	// Counted says how much that is; nil where no profile of the table was paid for.
	Counted *Counted `json:"counted,omitempty" doc:"Which part of the rows counts, from the profile of the table; missing if there is none"`
}

// Counted says which part of the rows counts, as a profile of the table has it.
type Counted struct {
	Low   float64 `json:"low" doc:"The least part of the rows that counts, from 0 to 1"`
	About float64 `json:"about" doc:"The likeliest part"`
	High  float64 `json:"high" doc:"The largest part"`
	// AtLeast says that some rows are left out by the question and not by limits.
	AtLeast bool `json:"at_least" doc:"Whether the question itself leaves rows out, so that more may count"`
	// Most is how many rows a person has who has many: few have more, if any.
	Most int64 `json:"most" doc:"How many rows people have at most, but for some few"`
}

// Range is from Low to High.
type Range struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Rough returns both ends for people: it is not known better than to three digits.
func (r Range) Rough() (low, high string) {
	to := func(round func(float64) float64, v float64) string {
		unit := max(1, math.Pow(10, math.Floor(math.Log10(max(1, math.Abs(v))))-2))
		return strconv.FormatFloat(round(v/unit)*unit, 'f', -1, 64)
	}
	return to(math.Floor, r.Low), to(math.Ceil, r.High)
}

// Columns are those of an answer. In its JSON they are their names.
type Columns []Column

func (c Columns) MarshalJSON() ([]byte, error) {
	names := make([]string, len(c))
	for i := range c {
		names[i] = c[i].Name
	}
	return marshal(names)
}

// UnmarshalJSON implements [json.Unmarshaler]: of the columns it knows the names.
func (c *Columns) UnmarshalJSON(text []byte) error {
	var names []string
	if err := json.Unmarshal(text, &names); err != nil {
		return err
	}
	*c = make(Columns, len(names))
	for i, name := range names {
		(*c)[i] = Column{Name: name, Decimals: -1}
	}
	return nil
}

// Column describes a column of an answer.
type Column struct {
	Name string `json:"name"`
	Kind string `json:"kind" doc:"integer, decimal, real, text, boolean, date or timestamp"`
	// Type is PostgreSQL's name of the type that it has for the same expression, which a client of
	// the wire is told. Modifier is that type's, as of numeric(10,2); 0 where it has none.
	Type     string `json:"type" doc:"PostgreSQL's name of the type: int8, int4, int2, numeric, float8, float4, text, varchar, bpchar, bool, date, timestamp, timestamptz, json, jsonb, or an array such as int8[]; JSON and arrays come as text, as PostgreSQL writes them"`
	Modifier int32  `json:"-"`
	Noisy    bool   `json:"noisy"`
	// Approximate says that values and error bars are not simply noise on an exact number: those of
	// counts and sums are, and those of averages, ratios, variances and quantiles are made of
	// several of these.
	Approximate bool `json:"approximate" doc:"Values are made from several noisy numbers"`
	// Bar says that values have error bars: that they are noisy numbers of which it is known how
	// far they can be off.
	Bar bool `json:"-"`
	// Decimals is how many digits after the point a value has; -1 for real numbers and text.
	Decimals int `json:"-"`
}

// DataVersion names a version of the data. It is no function of the contents: a hash of them would
// let an analyst test guesses.
type DataVersion struct {
	// Number counts the versions that were charged for, from 1. Data that is again what it was has
	// the number that it had.
	Number uint64 `json:"number"`
	// Name is what the owner's version query says, or empty.
	Name string `json:"name,omitempty"`
}

// Receipt says where the charge stands in the ledger.
type Receipt struct {
	Sequence uint64 `json:"sequence"`
	Hash     string `json:"hash"`
	Free     bool   `json:"free"` // the answer had been paid for before
	// Now is what now() was in the question, whose hash has it as a constant; empty where it does
	// not ask for the time.
	Now string `json:"now,omitempty" doc:"The value of now() in the question; missing if the question does not use the time"`
}

// What Settings.Errors may be, besides empty.
const (
	// ErrorColumns: half of the width of each error bar, as x_error.
	ErrorColumns = "columns"
	// ErrorIntervals: both ends of each error bar, as x__yhat_lower and x__yhat_upper, which is
	// what makes Superset draw an interval.
	ErrorIntervals = "interval"
	// ErrorWhole: both ends of the interval that includes what limits cut, as x_low and x_high, and
	// NULL where it is not known how much that is.
	ErrorWhole = "whole"
)

// WithErrors returns the columns of an answer with those of their error bars behind them, as a
// setting has it. It depends on the columns alone, so what is described is what is answered.
func WithErrors(columns []Column, how string) []Column {
	suffixes := map[string][]string{ErrorColumns: {"_error"}, ErrorIntervals: {"__yhat_lower", "__yhat_upper"},
		ErrorWhole: {"_low", "_high"}}[how]
	out := slices.Clip(columns)
	for _, c := range columns {
		for _, suffix := range suffixes {
			if c.Bar {
				out = append(out, Column{Name: freeName(out, c.Name+suffix), Kind: "real", Type: "float8", Decimals: -1})
			}
		}
	}
	return out
}

// freeName is a name that no column has, in letters of any case: some readers take one of two that
// are alike.
func freeName(columns []Column, name string) string {
	free := name
	for n := 2; slices.ContainsFunc(columns, func(c Column) bool { return c.Name == free }); n++ {
		free = name + "_" + strconv.Itoa(n)
	}
	return free
}

// NoteFirst says what was paid for the answer that limits were chosen from, where it was asked
// before this one; nil where it was not.
func (a *Answer) NoteFirst(first *Answer) {
	if first == nil || first.Receipt.Free {
		return
	}
	part := " of the price"
	if a.Receipt.Free {
		part = ""
	}
	a.Notes = append(a.Notes, fmt.Sprintf("the count that limits were chosen from cost epsilon %s%s, once (record %d)",
		first.Cost.Epsilon.Short(), part, first.Receipt.Sequence))
}

// ShowErrors adds the columns of error bars to an answer. It is made of what the answer holds
// already, so it costs nothing.
func (a *Answer) ShowErrors(how string) {
	columns := WithErrors(a.Columns, how)
	if len(columns) == len(a.Columns) {
		return
	}
	unknown := ""
	for i, row := range a.Rows {
		row = slices.Clone(row)
		for j, c := range a.Columns {
			if !c.Bar {
				continue
			}
			var half *float64
			if i < len(a.Errors) && j < len(a.Errors[i]) {
				half = a.Errors[i][j]
			}
			if how == ErrorWhole {
				both := a.wholeEnds(i, j)
				if row = append(row, both...); both[0] == nil && half != nil && unknown == "" {
					unknown = c.Name
				}
				continue
			}
			row = append(row, ends(row[j], half, how)...)
		}
		a.Rows[i] = row
		if i < len(a.Errors) {
			a.Errors[i] = append(slices.Clip(a.Errors[i]), make([]*float64, len(columns)-len(a.Columns))...)
		}
		if i < len(a.Whole) {
			a.Whole[i] = append(slices.Clip(a.Whole[i]), make([]*Range, len(columns)-len(a.Columns))...)
		}
	}
	a.Columns, a.Shown = columns, true
	if unknown != "" {
		a.Notes = append(slices.Clip(a.Notes), fmt.Sprintf("what limits cut of %s is not known, so that its ends with it are NULL; "+
			"profiles (discreet profile) and chosen limits (dp.max_rows = auto) tell it for counts and sums of one table", unknown))
	}
}

// wholeEnds are the ends of the interval with what limits cut.
func (a *Answer) wholeEnds(i, j int) []any {
	if i < len(a.Whole) && j < len(a.Whole[i]) && a.Whole[i][j] != nil {
		return []any{spellReal(a.Whole[i][j].Low), spellReal(a.Whole[i][j].High)}
	}
	return []any{nil, nil}
}

// ends are what is shown of an error bar; NULL where there is none.
func ends(value any, half *float64, how string) []any {
	n, ok := value.(json.Number)
	v, err := n.Float64()
	known := ok && err == nil && half != nil
	switch {
	case how == ErrorIntervals && known:
		return []any{spellReal(v - *half), spellReal(v + *half)}
	case how == ErrorIntervals:
		return []any{nil, nil}
	case known:
		return []any{spellReal(*half)}
	}
	return []any{nil}
}

// spellReal writes a number as PostgreSQL writes float8; NULL where it is none.
func spellReal(f float64) any {
	switch a := math.Abs(f); {
	case math.IsNaN(f) || math.IsInf(f, 0):
		return nil
	case f == 0:
		return json.Number("0") // without the sign of a negative one
	case a < 1e-4 || a >= 1e15:
		return json.Number(strconv.FormatFloat(f, 'e', -1, 64))
	}
	return json.Number(strconv.FormatFloat(f, 'f', -1, 64))
}

// More is about how many more answers are left that each claim a cost; false where it is nothing.
func (r Remaining) More(cost dp.Cost) (int64, bool) {
	if cost == (dp.Cost{}) || r.Pure == dp.Unbounded && r.Rho == dp.Unbounded {
		return 0, false
	}
	n := max(times(r.Pure, cost.Epsilon), times(r.Rho, cost.Rho))
	if cost.Delta > 0 && r.KeysDelta != dp.Unbounded {
		n = min(n, r.KeysDelta/cost.Delta)
	}
	return int64(min(n, 1<<53)), true
}

// Questions is about how many more questions at an epsilon are left, with the noise that makes them
// most.
func (r Remaining) Questions(epsilon dp.Amount) (int64, bool) {
	if epsilon == 0 {
		return 0, false
	}
	rho, err := dp.FloorFloat(dp.RhoOfPure(epsilon.Float()))
	if err != nil || rho == 0 {
		rho = dp.Unbounded
	}
	return r.More(dp.Cost{Epsilon: epsilon, Rho: rho})
}

// times is how often something can be taken from what is left; never where there is no such claim.
func times(left, each dp.Amount) dp.Amount {
	if left == dp.Unbounded || each == 0 || each == dp.Unbounded || left < each {
		return 0
	}
	return (left + each>>20) / each // amounts are rounded, so that eight tenths are a little less than eight times one
}

// List is a list that is never null in JSON.
type List[T any] []T

func (l List[T]) MarshalJSON() ([]byte, error) {
	if l == nil {
		return []byte("[]"), nil
	}
	return marshal([]T(l))
}

// marshal writes JSON and leaves the characters of HTML as they are: what is inside of a
// [json.Marshaler] cannot know what the encoder outside was told about them, which escapes them
// where it is to.
func marshal(v any) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return out.Bytes(), err
}

// Makeup says what an answer is made of, so that somebody can put it together with answers of other
// servers. It is made from the text and the policy, before anything is asked.
type Makeup struct {
	// Source names the ledger and the dataset, and nothing about either: two answers of one source
	// are about the same people, with the same noise, and are not to be added up.
	Source string `json:"source" doc:"Identifies the ledger and the dataset: do not add up answers from the same source"`
	// Apart says why the answer cannot be put together with others, and Instead what to ask; both
	// are empty where it can.
	Apart   string               `json:"apart,omitempty" doc:"Why the answer cannot be combined with those of other servers; missing if it can"`
	Instead string               `json:"instead,omitempty" doc:"What to ask instead"`
	Columns List[MakeupOfColumn] `json:"columns" doc:"The columns; empty if the answer cannot be combined with others"`
}

// MakeupOfColumn is a column of such an answer.
type MakeupOfColumn struct {
	Name     string `json:"name"`
	Kind     string `json:"kind"`
	Type     string `json:"type"`
	Decimals int    `json:"decimals" doc:"How many decimal places a value has; -1 for real numbers and text"`
	// Of is what its values are.
	Of string `json:"of" enum:"key,count,sum,average" doc:"The kind of its values"`
	// Values are those of a key, all that the answer has.
	Values []any `json:"values,omitempty" doc:"All values of this key in the answer"`
	// Noise is that of a count or a sum, in steps, where nothing better was paid for before.
	Step  string   `json:"step,omitempty" doc:"For a count or a sum: its unit, as a fraction"`
	Noise []Noises `json:"noise,omitempty" doc:"For a count or a sum: the noise that it would have, in steps"`
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
	Sum   *NoisyNumber `json:"sum,omitempty" doc:"The count or sum; for an average, the sum of the distances of values from center"`
	Count *NoisyNumber `json:"count,omitempty" doc:"For an average: how many values there are"`
	// Below, where it is there, stands in the place of Count: the sum of the distances from High,
	// where those in Sum are from Low.
	Below *NoisyNumber `json:"below,omitempty" doc:"For an average, instead of count: the sum of the distances of values from high, when sum holds those from low"`
	// Center, Low and High are fractions, in units of the answer. Every value was clamped to the
	// range from Low to High.
	Center string `json:"center,omitempty" doc:"For an average: what was subtracted from each value, as a fraction"`
	Low    string `json:"low,omitempty" doc:"For an average: every value was clamped to be at least this, as a fraction"`
	High   string `json:"high,omitempty" doc:"For an average: every value was clamped to be at most this, as a fraction"`
}

// NoisyNumber is a number that was released: so many steps.
type NoisyNumber struct {
	Value int64  `json:"value" doc:"The number, in steps"`
	Step  string `json:"step" doc:"The step in units of the answer, as a fraction"`
	// Noise is what was added to the exact number, in steps: noises that are independent of each
	// other. It is empty for a number that is exact.
	Noise List[Noises] `json:"noise" doc:"The noise that was added to the exact number, in steps; empty if the number is exact"`
	// Off is by how many steps more than such noise it may be off, because it was rounded.
	Off int64 `json:"off,omitempty" doc:"How many more steps it can be off, because it was rounded"`
}

// Noises is so many independent noises of one kind.
type Noises struct {
	Mechanism string `json:"mechanism" enum:"laplace,gaussian"`
	// Parameter is the scale of Laplace noise, or the variance of Gaussian noise, as a fraction.
	Parameter string `json:"parameter" doc:"The scale of Laplace noise, or the variance of Gaussian noise, as a fraction"`
	Count     int    `json:"count" doc:"How many there are"`
}
