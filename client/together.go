package client

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/internal/federate"
)

// Group are servers that are asked together.
type Group struct{ servers []*Server }

// Together returns servers that are asked together: two of them at least, each once.
func Together(servers ...*Server) *Group { return &Group{servers} }

// Quote says what a question would cost at each server, and how exact the total would be.
type Quote struct {
	Confidence float64 `json:"confidence"`
	// Columns are those of the answer, and Errors the error bars of the total; null for keys, and
	// for averages, whose error nobody can know before.
	Columns api.Columns  `json:"columns"`
	Errors  []*float64   `json:"errors"`
	Servers []QuoteShare `json:"servers"`
}

// QuoteShare is the price at one server.
type QuoteShare struct {
	Server  string           `json:"server"`
	Dataset string           `json:"dataset,omitempty"`
	Price   *api.Explanation `json:"price"`
}

// Answer is what several servers have answered together.
type Answer struct {
	Columns    api.Columns      `json:"columns"`
	Rows       [][]any          `json:"rows"`
	Errors     [][]*float64     `json:"errors"`
	Shown      bool             `json:"-"` // error bars are among the columns, as dp.errors asked for
	Confidence float64          `json:"confidence"`
	Notes      api.List[string] `json:"notes"`
	// Of says, for each row, of how many servers it is: of those that list its keys.
	Of api.List[int] `json:"of"`
	// Request names the question, and Servers are what each server has answered and charged.
	Request string  `json:"request"`
	Servers []Share `json:"servers"`
}

// Share is what one server has answered and charged.
type Share struct {
	Server  string      `json:"server"`
	Dataset string      `json:"dataset,omitempty"`
	Answer  *api.Answer `json:"answer"`
}

// Price says what a question would cost. It is free. Where a server cannot be asked the error is an
// [*Unasked], and an [*api.Refusal] where answers to it cannot be put together.
func (g *Group) Price(ctx context.Context, q Question) (*Quote, error) {
	quote, _, err := g.price(ctx, q)
	return quote, err
}

// priceTimeout is how long a server may take to say a price: those whose data is being opened make
// one wait for 20 seconds.
const priceTimeout = time.Minute

func (g *Group) price(ctx context.Context, q Question) (*Quote, []federate.Offer, error) {
	s, err := q.check()
	if err != nil {
		return nil, nil, err
	}
	if err := g.check(); err != nil {
		return nil, nil, err
	}
	prices := make([]*api.Explanation, len(g.servers))
	failures := each(g.servers, func(i int, at *Server) (err error) {
		ctx, cancel := context.WithTimeout(ctx, priceTimeout)
		defer cancel()
		prices[i], err = at.explain(ctx, q)
		return err
	})
	if len(failures) > 0 {
		return nil, nil, &Unasked{failures}
	}
	quote, offers := &Quote{Confidence: s.Level()}, []federate.Offer{}
	for i, at := range g.servers {
		offers = append(offers, federate.Offer{Server: at.Name, Makeup: prices[i].Makeup})
		quote.Servers = append(quote.Servers, QuoteShare{at.Name, at.Dataset, prices[i]})
	}
	if err := federate.Check(offers); err != nil {
		return nil, nil, err
	}
	for _, c := range offers[0].Makeup.Columns {
		quote.Columns = append(quote.Columns, api.Column{Name: c.Name, Kind: c.Kind, Noisy: c.Of != api.OfKey, Decimals: c.Decimals})
	}
	quote.Errors, err = federate.Expect(offers, s.Level())
	return quote, offers, err
}

// check refuses servers that are not several.
func (g *Group) check() error {
	if len(g.servers) < 2 {
		return api.Refuse("name at least two servers, or ask the one directly", "there is nothing to combine")
	}
	for i, s := range g.servers {
		for _, other := range g.servers[:i] {
			if s.Name == other.Name {
				return api.Refuse("name it once", "%s is named twice", s.Name)
			}
			if s.token == other.token && s.host() != other.host() {
				return api.Refuse("get a separate token from each server", "%s and %s have the same token, and anybody who has it can "+
					"ask and pay in your name", s.Name, other.Name)
			}
		}
	}
	return nil
}

// Ask asks all servers, and puts their answers together. Prices come first: where one of the
// servers is away, refuses or has not enough left, nobody is asked and nothing is charged, which is
// an [*Unasked] or an [*api.Refusal]. Where one of them fails after that, the error is a
// [*Partial].
func (g *Group) Ask(ctx context.Context, q Question) (*Answer, error) {
	quote, offers, err := g.price(ctx, q)
	if err != nil {
		return nil, err
	}
	if failures := unpayable(quote); len(failures) > 0 {
		return nil, &Unasked{failures}
	}
	if q.Request == "" {
		q.Request = entropy.New().Name()
	}
	answers := make([]*api.Answer, len(g.servers))
	failures := each(g.servers, func(i int, at *Server) (err error) {
		// One key for each source: two datasets may be in one ledger, which knows a key once.
		answers[i], err = at.persist(ctx, q, q.Request+"-"+offers[i].Makeup.Source[:min(12, len(offers[i].Makeup.Source))])
		return err
	})
	out := &Answer{Request: q.Request, Confidence: quote.Confidence}
	var given []federate.Given
	for i, at := range g.servers {
		if answers[i] != nil {
			given = append(given, federate.Given{Offer: offers[i], Answer: answers[i]})
			out.Servers = append(out.Servers, Share{at.Name, at.Dataset, answers[i]})
		}
	}
	if len(failures) > 0 {
		return nil, &Partial{Request: q.Request, Answered: out.Servers, Failures: failures}
	}
	s, _ := q.check()
	joined, err := federate.Join(ctx, given, federate.Settings{Confidence: s.Level(), Nonnegative: s.Counts != ""})
	if err != nil {
		return nil, fmt.Errorf("%w. Every server has answered, and what each charged stays paid; the request is %s", err, q.Request)
	}
	out.Columns, out.Rows, out.Errors, out.Of, out.Notes = joined.Columns, joined.Rows, joined.Errors, joined.Servers, joined.Notes
	shown := &api.Answer{Columns: out.Columns, Rows: out.Rows, Errors: out.Errors}
	shown.ShowErrors(s.Errors)
	out.Columns, out.Rows, out.Errors, out.Shown = shown.Columns, shown.Rows, shown.Errors, shown.Shown
	return out, nil
}

// unpayable are the servers that would refuse to be paid.
func unpayable(quote *Quote) (out []Failure) {
	for _, s := range quote.Servers {
		switch {
		case s.Price.Known:
		case s.Price.Closed:
			out = append(out, Failure{Server: s.Server, Kind: "closed",
				Detail: "questions failed after they were charged, and there are no new answers until the owner has released them"})
		case !s.Price.Affordable:
			out = append(out, Failure{Server: s.Server, Kind: "budget",
				Detail: fmt.Sprintf("it costs epsilon %v, which is more than what is left there", s.Price.Pay.Epsilon)})
		}
	}
	return out
}

// each does something with all servers at once, and returns who failed.
func each(servers []*Server, do func(int, *Server) error) (out []Failure) {
	errs := make([]error, len(servers))
	var all sync.WaitGroup
	for i, s := range servers {
		all.Go(func() { errs[i] = do(i, s) })
	}
	all.Wait()
	for i, err := range errs {
		if err != nil {
			out = append(out, failureOf(servers[i], err))
		}
	}
	return out
}

// maxTries is how often a server is asked that could not be reached, or is busy.
const maxTries = 4

// firstWait is how long to wait before a server is asked again; the next waits are longer by as
// much. Tests do not wait so long.
var firstWait = time.Second

// persist asks a server, and once more where the connection breaks: under its name a question is
// charged once, so that nobody pays for a broken wire.
func (s *Server) persist(ctx context.Context, q Question, request string) (a *api.Answer, err error) {
	for try := 1; ; try++ {
		if a, err = s.ask(ctx, q, request); err == nil || try == maxTries || ctx.Err() != nil {
			return a, err
		}
		wait := time.Duration(try) * firstWait
		var said *ServerError
		if errors.As(err, &said) {
			if said.status != 429 && said.status != 503 {
				return nil, err
			}
			wait = max(wait, min(said.after, 5*time.Second))
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(wait):
		}
	}
}
