package api

import (
	"cmp"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/dp"
)

// Confidence is the probability with which an exact value lies within its error bar, unless
// a question asks for another.
const Confidence = 0.95

// Settings are what an analyst can choose about an answer beside its text. The zero value is the
// policy's defaults.
type Settings struct {
	// Epsilon is what the question may cost. Delta is how much of it may go into private keys: the
	// chance that a key is shown that one person alone has.
	Epsilon, Delta dp.Amount
	// Error asks for an error bar and takes the smallest price that has it; nil where a price is
	// named.
	Error *big.Rat
	// Values is about how many values the smallest average is of, for Error: nobody knows what an
	// average's error is before, but about what it is if there are so many. 0 is not to say.
	Values int64
	// Confidence is the probability with which an exact value lies within its error bar; 0 means
	// 0.95. It costs nothing: the same noise is described in other words.
	Confidence float64
	// Mechanism is "laplace" or "gaussian", the noise of counts and sums; empty means what the
	// budget is best at.
	Mechanism string
	// MaxRows is how many rows of one person count in one group at most, and MaxGroups in how many
	// groups one person counts; 0 means what the policy says. Smaller limits need less noise, and
	// leave more of people with many rows out. [Auto] chooses them.
	MaxRows, MaxGroups int64
	// MaxSum is what one person adds to a SUM in one group at most, in units of the answer; nil
	// means what the policy says. A smaller one needs less noise, and leaves more of people with
	// large sums out.
	MaxSum *big.Rat
	// Stream is "on" where counts go through a stream of the policy whenever they can, "off" where
	// they never do, and empty where they do when that is cheaper than the question by itself. Who
	// names a price or a mechanism has named the ordinary way.
	Stream string
	// Errors adds the error bars to the columns of every answer, for clients that show nothing
	// else: "columns" as x_error, "interval" as x__yhat_lower and x__yhat_upper. Empty adds none.
	Errors string
	// Counts is "nonnegative" where a count that noise has made negative is shown as 0, and empty
	// where it is shown as it is. Both are the same answer, and neither costs anything.
	Counts string
}

// The limits of what can be set.
const (
	LeastConfidence = 0.5
	MostConfidence  = 0.9999
	mostMaxRows     = 1_000_000
	mostMaxGroups   = 1_000_000
	mostValues      = 1_000_000_000_000_000
)

// Auto, for MaxRows and MaxGroups, chooses the limit with the least error, from a noisy count of
// people by how many rows each has. Where nobody has paid for that count it is paid out of the
// price of the question.
const Auto = -1

var mostError = big.NewRat(1_000_000_000_000_000, 1)

var errUnset = errors.New("a value is missing; reset the setting to get the default")

// setting is how one of the settings is read, shown and given its default.
type setting struct {
	name  string
	set   func(s *Settings, text string) error
	show  func(s *Settings) string
	reset func(s *Settings)
}

var settings = []setting{
	{"dp.epsilon", setEpsilon, func(s *Settings) string { return showAmount(s.Epsilon) }, func(s *Settings) { s.Epsilon = 0 }},
	{"dp.delta", setDelta, func(s *Settings) string { return showAmount(s.Delta) }, func(s *Settings) { s.Delta = 0 }},
	{"dp.error", setError, func(s *Settings) string { return showDecimal(s.Error, "none") }, func(s *Settings) { s.Error = nil }},
	{"dp.values", setValues, func(s *Settings) string { return showValues(s.Values) }, func(s *Settings) { s.Values = 0 }},
	{"dp.confidence", setConfidence, showConfidence, func(s *Settings) { s.Confidence = 0 }},
	{"dp.mechanism", setMechanism, func(s *Settings) string { return cmp.Or(s.Mechanism, byDefault) },
		func(s *Settings) { s.Mechanism = "" }},
	{"dp.max_rows", setMaxRows, func(s *Settings) string { return showLimit(s.MaxRows) }, func(s *Settings) { s.MaxRows = 0 }},
	{"dp.max_groups", setMaxGroups, func(s *Settings) string { return showLimit(s.MaxGroups) }, func(s *Settings) { s.MaxGroups = 0 }},
	{"dp.max_sum", setMaxSum, func(s *Settings) string { return showDecimal(s.MaxSum, byDefault) }, func(s *Settings) { s.MaxSum = nil }},
	{"dp.stream", setStream, func(s *Settings) string { return cmp.Or(s.Stream, auto) }, func(s *Settings) { s.Stream = "" }},
	{"dp.errors", setErrors, func(s *Settings) string { return cmp.Or(s.Errors, "off") }, func(s *Settings) { s.Errors = "" }},
	{"dp.counts", setCounts, func(s *Settings) string { return cmp.Or(s.Counts, "noisy") }, func(s *Settings) { s.Counts = "" }},
}

const byDefault, auto, unknown = "default", "auto", "unknown"

func SettingNames() []string {
	out := make([]string, len(settings))
	for i, s := range settings {
		out[i] = s.name
	}
	return out
}

func ParseSettings(texts map[string]string) (Settings, error) {
	var out Settings
	for name := range texts {
		if _, err := named(name); err != nil {
			return Settings{}, err
		}
	}
	for _, s := range settings { // in one order, so that the same mistake is always told first
		for name, text := range texts {
			if strings.EqualFold(name, s.name) {
				if err := out.Set(name, text); err != nil {
					return Settings{}, err
				}
			}
		}
	}
	return out, nil
}

// Set reads a value for a setting. Where it says no, nothing has changed.
func (s *Settings) Set(name, value string) error {
	at, err := named(name)
	if err != nil {
		return err
	}
	value = strings.TrimSpace(value)
	if value == "" {
		return fmt.Errorf("%s: %w", at.name, errUnset)
	}
	changed := *s
	if err := at.set(&changed, value); err != nil {
		return fmt.Errorf("%s: %w", at.name, err)
	}
	*s = changed
	return nil
}

func (s *Settings) Reset(name string) error {
	at, err := named(name)
	if err != nil {
		return err
	}
	at.reset(s)
	return nil
}

func (s Settings) Show(name string) (string, error) {
	at, err := named(name)
	if err != nil {
		return "", err
	}
	return at.show(&s), nil
}

func named(name string) (setting, error) {
	i := slices.IndexFunc(settings, func(s setting) bool { return strings.EqualFold(s.name, name) })
	if i < 0 {
		return setting{}, fmt.Errorf("there is no setting %s; the settings are %s", strconv.Quote(name), strings.Join(SettingNames(), ", "))
	}
	return settings[i], nil
}

func setEpsilon(s *Settings, text string) error {
	a, err := dp.Parse(text)
	if err == nil && a == 0 {
		err = errors.New("epsilon must be above 0; write for example 0.1")
	}
	s.Epsilon = a
	return err
}

func setDelta(s *Settings, text string) error {
	a, err := dp.Parse(text)
	if err == nil && (a == 0 || a >= dp.One) {
		err = errors.New("delta is a small probability above 0, far below 1 divided by the number of people; write for example 1e-7")
	}
	s.Delta = a
	return err
}

func setError(s *Settings, text string) error {
	r, err := dp.ParseDecimal(text)
	if err != nil || r.Sign() <= 0 || r.Cmp(mostError) > 0 {
		return errors.New("error must be a number above 0 and at most 1e15, in units of the answer; write for example 10")
	}
	s.Error = r
	return nil
}

func setConfidence(s *Settings, text string) error {
	r, err := dp.ParseDecimal(text)
	if err != nil {
		return errConfidence
	}
	c, _ := r.Float64()
	if !validConfidence(c) {
		return errConfidence
	}
	s.Confidence = c
	return nil
}

var errConfidence = fmt.Errorf("confidence must be from %v to %v; write for example 0.95", LeastConfidence, MostConfidence)

func validConfidence(c float64) bool { return c >= LeastConfidence && c <= MostConfidence }

// choose sets one of some words: words has what each that may be written stands for.
func choose(to *string, text string, words map[string]string, bad error) error {
	word, ok := words[strings.ToLower(text)]
	if !ok {
		return bad
	}
	*to = word
	return nil
}

func setMechanism(s *Settings, text string) error {
	return choose(&s.Mechanism, text, map[string]string{"laplace": "laplace", "gaussian": "gaussian", byDefault: ""}, errMechanism)
}

var errMechanism = errors.New("the mechanism must be laplace or gaussian")

func setMaxRows(s *Settings, text string) error {
	return setLimit(&s.MaxRows, text, mostMaxRows, errMaxRows)
}

func setMaxGroups(s *Settings, text string) error {
	return setLimit(&s.MaxGroups, text, mostMaxGroups, errMaxGroups)
}

func setLimit(to *int64, text string, most int64, bad error) error {
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case strings.EqualFold(text, auto):
		n = Auto
	case strings.EqualFold(text, byDefault):
		n = 0
	case err != nil || n < 1 || n > most:
		return bad
	}
	*to = n
	return nil
}

func setValues(s *Settings, text string) error {
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case strings.EqualFold(text, unknown):
		n = 0
	case err != nil || n < 1 || n > mostValues:
		return errValues
	}
	s.Values = n
	return nil
}

func showValues(n int64) string {
	if n == 0 {
		return unknown
	}
	return strconv.FormatInt(n, 10)
}

var errValues = errors.New("it must be a whole number above 0 and at most 1e15: about how many values the smallest average is of; " +
	"write for example 1000")

func setMaxSum(s *Settings, text string) error {
	if strings.EqualFold(text, byDefault) {
		s.MaxSum = nil
		return nil
	}
	r, err := dp.ParseDecimal(text)
	if err != nil || r.Sign() <= 0 || r.Cmp(mostError) > 0 {
		return errMaxSum
	}
	s.MaxSum = r
	return nil
}

var errMaxSum = errors.New("it must be a number above 0 and at most 1e15, in units of the sum; write for example 500")

var (
	errMaxRows   = fmt.Errorf("it must be a whole number from 1 to %d, or auto", mostMaxRows)
	errMaxGroups = fmt.Errorf("it must be a whole number from 1 to %d, or auto", mostMaxGroups)
)

func setStream(s *Settings, text string) error {
	return choose(&s.Stream, text, map[string]string{"on": "on", "off": "off", auto: "", byDefault: ""}, errStream)
}

var errStream = errors.New("write auto, on or off")

func setErrors(s *Settings, text string) error {
	return choose(&s.Errors, text, map[string]string{ErrorColumns: ErrorColumns, "on": ErrorColumns, "column": ErrorColumns,
		ErrorIntervals: ErrorIntervals, ErrorWhole: ErrorWhole, "off": "", byDefault: ""}, errErrors)
}

var errErrors = errors.New("write off, columns (x_error), interval (x__yhat_lower and x__yhat_upper) or whole (x_low and x_high, " +
	"with what limits cut)")

// nonnegative is what Settings.Counts may be, besides empty.
const nonnegative = "nonnegative"

func setCounts(s *Settings, text string) error {
	return choose(&s.Counts, text, map[string]string{nonnegative: nonnegative, "noisy": "", byDefault: ""}, errCounts)
}

var errCounts = errors.New("write noisy, which shows counts as they are, or nonnegative, which shows negative counts as 0")

func showAmount(a dp.Amount) string {
	if a == 0 {
		return byDefault
	}
	return a.String()
}

func showDecimal(r *big.Rat, unset string) string {
	if r == nil {
		return unset
	}
	return strings.TrimRight(strings.TrimRight(r.FloatString(15), "0"), ".")
}

func showConfidence(s *Settings) string { return strconv.FormatFloat(s.Level(), 'g', -1, 64) }

func showLimit(n int64) string {
	switch n {
	case 0:
		return byDefault
	case Auto:
		return auto
	}
	return strconv.FormatInt(n, 10)
}

// ChoosesLimits reports whether limits are to be chosen.
func (s Settings) ChoosesLimits() bool { return s.MaxRows == Auto || s.MaxGroups == Auto }

// Level is the probability of error bars: Confidence, or the default.
func (s Settings) Level() float64 { return cmp.Or(s.Confidence, Confidence) }

// Check refuses settings that a program has made and Set would not have.
func (s Settings) Check() error {
	for _, c := range []struct {
		name string
		bad  bool
		says error
	}{
		{"dp.confidence", s.Confidence != 0 && !validConfidence(s.Confidence), errConfidence},
		{"dp.mechanism", !slices.Contains([]string{"", "laplace", "gaussian"}, s.Mechanism), errMechanism},
		{"dp.stream", !slices.Contains([]string{"", "on", "off"}, s.Stream), errStream},
		{"dp.errors", !slices.Contains([]string{"", ErrorColumns, ErrorIntervals, ErrorWhole}, s.Errors), errErrors},
		{"dp.counts", !slices.Contains([]string{"", nonnegative}, s.Counts), errCounts},
		{"dp.max_rows", s.MaxRows < Auto || s.MaxRows > mostMaxRows, errMaxRows},
		{"dp.max_groups", s.MaxGroups < Auto || s.MaxGroups > mostMaxGroups, errMaxGroups},
		{"dp.max_sum", s.MaxSum != nil && (s.MaxSum.Sign() <= 0 || s.MaxSum.Cmp(mostError) > 0), errMaxSum},
		{"dp.error", s.Error != nil && (s.Error.Sign() <= 0 || s.Error.Cmp(mostError) > 0),
			errors.New("it must be a number above 0 and at most 1e15")},
		{"dp.values", s.Values < 0 || s.Values > mostValues, errValues},
		{"dp.delta", s.Delta >= dp.One, errors.New("it must be a probability")},
		{"dp.epsilon", s.Epsilon > 0 && s.Error != nil, errors.New("dp.error finds the price, so you cannot set both; reset one of them")},
	} {
		if c.bad {
			return fmt.Errorf("%s: %w", c.name, c.says)
		}
	}
	return nil
}
