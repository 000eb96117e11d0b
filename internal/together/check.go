package together

import (
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/api"
)

// Offer is what a server has said an answer would be made of.
type Offer struct {
	Server string // as the analyst calls it
	Makeup *api.Makeup
}

// Check refuses what cannot be put together, before anything is asked: a [*api.Refusal].
func Check(offers []Offer) error {
	for i, o := range offers {
		switch m := o.Makeup; {
		case m == nil:
			return api.Refuse("ask it by itself", "%s cannot say what the answer is made of, so it cannot be put together with others",
				o.Server)
		case m.Apart != "":
			return api.Refuse(m.Instead, "this cannot be put together: %s%s", namePart(offers, o), m.Apart)
		case m.Source == "" || len(m.Columns) == 0:
			return strangeServerError(o.Server)
		}
		for _, before := range offers[:i] {
			if before.Makeup.Source == o.Makeup.Source {
				return api.Refuse("name it once", "%s and %s are the same data with the same ledger, and would count everybody twice",
					before.Server, o.Server)
			}
		}
		if err := o.checkShape(offers[0]); err != nil {
			return err
		}
	}
	return nil
}

// namePart names a server that alone, or with some others, says that it cannot be.
func namePart(offers []Offer, o Offer) string {
	for _, other := range offers {
		if other.Makeup != nil && other.Makeup.Apart != o.Makeup.Apart {
			return "at " + o.Server + " "
		}
	}
	return ""
}

// strangeServerError is what is told of a server that says what no server of this kind says.
func strangeServerError(server string) error {
	return fmt.Errorf("%s says something that cannot be: it is another kind of server, or another version", server)
}

// Kinds of columns that can be added up.
var numericKinds = []string{"integer", "decimal", "real"}

// checkShape refuses columns that are others than those of the first server.
func (o Offer) checkShape(first Offer) error {
	mine, theirs := o.Makeup.Columns, first.Makeup.Columns
	if len(mine) != len(theirs) {
		return strangeServerError(o.Server)
	}
	for i, c := range mine {
		d := theirs[i]
		isKey := c.Of == api.OfKey
		switch {
		case !slices.Contains([]string{api.OfKey, api.OfCount, api.OfSum, api.OfAverage}, c.Of),
			!isKey && !slices.Contains(numericKinds, c.Kind):
			return strangeServerError(o.Server)
		case c.Name != d.Name || c.Of != d.Of:
			return api.Refuse("ask each by itself", "column %d is %s, a %s, at %s and %s, a %s, at %s", i+1, d.Name, d.Of, first.Server,
				c.Name, c.Of, o.Server)
		case isKey && c.Kind != d.Kind:
			return api.Refuse("ask each by itself, or cast it to one type", "the key %s is %s at %s and %s at %s", c.Name, d.Kind,
				first.Server, c.Kind, o.Server)
		}
	}
	return nil
}

// Expect returns the error bars that the total would have, for each column; nil for keys and
// averages, whose error nobody can know before.
func Expect(offers []Offer, confidence float64) ([]*float64, error) {
	out := make([]*float64, len(offers[0].Makeup.Columns))
	for i, c := range offers[0].Makeup.Columns {
		if c.Of != api.OfCount && c.Of != api.OfSum {
			continue
		}
		t := newTotal()
		for _, o := range offers {
			at := o.Makeup.Columns[i]
			if t.add(api.NoisyNumber{Step: at.Step, Noise: at.Noise}, oneRat()) != nil {
				return nil, strangeServerError(o.Server)
			}
		}
		half, err := halfWidths{}.of(t, 1-confidence)
		if err != nil {
			return nil, err
		}
		if half != nil {
			width := roundUp(half)
			out[i] = &width
		}
	}
	return out, nil
}
