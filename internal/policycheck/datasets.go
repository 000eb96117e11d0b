package policycheck

import (
	"errors"
	"fmt"

	"github.com/discreet-dp/discreet/internal/curator"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/policy"
)

// Views says what is wrong with each view that no question can use.
func Views(p *policy.Policy) error { return checkDatasets(p, plan.CheckViews) }

// Streams prices the streams, and says what is wrong with each that nobody could ask.
func Streams(p *policy.Policy) error {
	return checkDatasets(p, func(ds *policy.Dataset) error { return curator.New(ds, nil, nil, nil).Streams.Check() })
}

// Holdouts reads the labels of holdouts and prices them, and says what is wrong with each that
// nobody could ask.
func Holdouts(p *policy.Policy) error {
	return checkDatasets(p, func(ds *policy.Dataset) error { return curator.New(ds, nil, nil, nil).Holdouts.Check() })
}

// checkDatasets checks all datasets, in the order of their names.
func checkDatasets(p *policy.Policy, check func(*policy.Dataset) error) error {
	var all []error
	for _, name := range p.Names() {
		if err := check(p.Datasets[name]); err != nil {
			all = append(all, fmt.Errorf("dataset %s: %w", name, err))
		}
	}
	return errors.Join(all...)
}
