package stream

import (
	"context"

	"github.com/discreet-dp/discreet/internal/stream/histogram"
	"github.com/discreet-dp/discreet/internal/stream/linear"
	"github.com/discreet-dp/discreet/mech"
)

// Attribute is one factor of a domain, with the names of its values.
type Attribute = linear.Attribute

// NewDomain returns the domain of all combinations of values, for [Config]. Its method Where makes the
// questions. Cells are numbered from 0; the last attribute changes fastest.
func NewDomain(attributes ...Attribute) (*linear.Domain, error) {
	return linear.NewDomain(attributes...)
}

// Counts is a [Loader] of how many people are in each cell of the domain, in the order of the cells.
func Counts(d *linear.Domain, read func(context.Context) (mech.Exact, error)) Loader {
	return func(ctx context.Context) (*histogram.Table, error) {
		counts, err := read(ctx)
		if err != nil {
			return nil, err
		}
		return histogram.Dense(d, counts)
	}
}
