package stream_test

import (
	"context"
	"fmt"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/account"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/dp/noise"
	"github.com/discreet-dp/discreet/internal/mechanism/session"
	"github.com/discreet-dp/discreet/internal/mechanism/stream"
	"github.com/discreet-dp/discreet/internal/mechanism/stream/histogram"
	"github.com/discreet-dp/discreet/internal/mechanism/stream/linear"
)

// A hospital with 100,000 patients answers every question about sex and age within 2,000 of them.
// The same question, however it is put, is paid for once.
func Example() {
	domain, _ := linear.NewDomain(
		linear.Attribute{Name: "sex", Values: []string{"f", "m"}},
		linear.Attribute{Name: "age", Values: []string{"young", "middle", "old"}},
	)
	budget, _ := dp.Parse("1")
	config := stream.Config{
		Domain: domain, Size: 100_000, Alpha: 0.02, Beta: 0.001, Queries: 1000, Steps: 1,
		Currency: mech.Pure, Budget: budget,
	}
	tariff, err := stream.Price(config)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("answers are within", tariff.Error, "and cost", tariff.Plain.Epsilon.Short(), "or nothing")

	// The data is read when something has been charged.
	data := func(context.Context) (*histogram.Table, error) {
		return histogram.Dense(domain, mech.Seal(20_000, 25_000, 10_000, 18_000, 22_000, 5_000))
	}
	host := session.NewMemory(account.PureFilter(budget))
	s, err := stream.Open(context.Background(), config, data, mech.NewReleaser(noise.NewSource()), host)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, where := range []map[string][]string{
		{"sex": {"f"}, "age": {"young", "middle"}},
		{"age": {"middle", "young"}, "sex": {"f"}},
	} {
		q, err := domain.Where(where)
		if err != nil {
			fmt.Println(err)
			return
		}
		a, err := s.Ask(context.Background(), q)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(a.Way, a.Value > 43_000-1 && a.Value < 47_000+1, a.Cost.Epsilon.Short())
	}
	// Output:
	// answers are within 2000 and cost 0.0060096 or nothing
	// plain true 0.0060096
	// cached true 0
}
