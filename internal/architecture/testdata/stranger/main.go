// A program outside of the module: it names public packages only.
package main

import (
	"context"
	"fmt"
	"log"
	"math/big"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/account"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/dp/noise"
	"github.com/discreet-dp/discreet/internal/mechanism/holdout"
	"github.com/discreet-dp/discreet/internal/mechanism/learn"
	"github.com/discreet-dp/discreet/internal/mechanism/session"
	"github.com/discreet-dp/discreet/internal/mechanism/stream"
)

var (
	ctx      = context.Background()
	releaser = mech.NewReleaser(noise.NewSource())
)

func main() {
	for _, run := range []func() error{counts, scores, model} {
		if err := run(); err != nil {
			log.Fatal(err)
		}
	}
}

func counts() error {
	domain, err := stream.NewDomain(stream.Attribute{Name: "sex", Values: []string{"f", "m"}})
	if err != nil {
		return err
	}
	config := stream.Config{Domain: domain, Size: 100_000, Alpha: 0.02, Beta: 0.001, Queries: 10, Steps: 1, Currency: mech.Pure, Budget: dp.One}
	data := stream.Counts(domain, func(context.Context) (mech.Exact, error) { return mech.Exactly(40_000, 60_000), nil })
	s, err := stream.Open(ctx, config, data, releaser, session.NewMemory(account.PureFilter(dp.One)))
	if err != nil {
		return err
	}
	q, err := domain.Where(map[string][]string{"sex": {"f"}})
	if err != nil {
		return err
	}
	a, err := s.Ask(ctx, q)
	if err == nil {
		fmt.Println("stream:", a.Way, a.Value > 38_000 && a.Value < 42_000)
	}
	return err
}

func scores() error {
	c := holdout.Config{Size: 1_000_000, Steps: 1, Threshold: big.NewRat(4, 100), Noise: big.NewRat(1, 10_000), Answers: 10, Currency: mech.Pure}
	s, err := holdout.Open(ctx, c, releaser, session.NewMemory(account.PureFilter(dp.One)))
	if err != nil {
		return err
	}
	right := func(context.Context) (mech.Exact, error) { return mech.Exactly(540_000), nil }
	a, err := s.Ask(ctx, holdout.Question{Key: "a model", Holdout: right, Training: big.NewRat(9, 10)})
	if err == nil {
		fmt.Println("holdout:", a.Score.FloatString(2), a.Spent)
	}
	return err
}

func model() error {
	encoding := &learn.Encoding{
		Features: []learn.Column{{Name: "age", Lo: 0, Hi: 100, Step: big.NewRat(1, 1)}},
		Target:   learn.Column{Name: "back", Values: []string{"no", "yes"}},
	}
	plan, err := learn.Prepare(encoding, learn.Spec{Budget: learn.Budget{Epsilon: dp.One}}, learn.Group{Neighbours: dp.AddRemove, MaxRows: 1})
	if err != nil {
		return err
	}
	table := plan.NewTable()
	for i := range int64(10_000) {
		table.Add([]int64{i % 101, i % 101 / 51})
	}
	m, err := learn.Fit(ctx, plan, table, releaser, nil)
	if err != nil {
		return err
	}
	p, err := m.Predict(map[string]string{"age": "90"})
	fmt.Println("learn:", p.Class)
	return err
}
