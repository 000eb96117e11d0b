package main

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/dp"
)

// clustered prints the table of the questions to a Trino cluster, about the tables of one schema.
func clustered(ctx context.Context, t trino, user string, asked int) error {
	all, err := questions()
	if err != nil {
		return err
	}
	at, err := url.Parse(t.url)
	if err != nil {
		return err
	}
	source := fmt.Sprintf("trino://%s@%s/%s/%s?sslmode=disable", user, at.Host, t.catalog, t.schema)
	text := strings.Replace(strings.Replace(policy, "SOURCE", strconv.Quote(source), 1), "    engine: duckdb\n", "", 1)
	p, err := open(ctx, text)
	if err != nil {
		return err
	}
	defer p.close(nil)
	fmt.Printf("opened %s.%s in %.1f s\n\n", t.catalog, t.schema, p.opened.Seconds())
	fmt.Println("| question | plain | processor | exchanged | private | processor | exchanged | memory | times processor | numbers | median relative error |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|---|---|")
	for _, q := range all {
		if err := t.measure(ctx, p, q, asked); err != nil {
			fmt.Printf("| %s | %v |\n", q.name, err)
		}
	}
	return nil
}

// measure asks a question so many times beside the plain query, and prints the middle of each
// figure.
func (t trino) measure(ctx context.Context, p *private, q question, asked int) error {
	var plains, privates costs
	var errors []float64
	for _, text := range q.texts[:asked] {
		// Trino does not know the name of a column in GROUP BY.
		exact, c, err := t.query(ctx, strings.Replace(text, "group by month", "group by 1", 1))
		if err != nil {
			return err
		}
		plains = append(plains, c)
		start := time.Now()
		answer, took, err := p.ask(ctx, text, q.settings, dp.One)
		if err != nil {
			return err
		}
		if c, err = t.since(ctx, start.Truncate(time.Millisecond)); err != nil {
			return err
		}
		c.took = took
		privates = append(privates, c)
		off, err := relative(answer, exact)
		if err != nil {
			return err
		}
		errors = append(errors, off...)
	}
	fmt.Printf("| %s | %s | %s | %.0f MB | %.1f | %d | %.2g %% |\n", q.name, plains, privates, privates.most()/1e6,
		float64(privates.cpu())/float64(plains.cpu()), len(errors)/asked, 100*median(errors))
	return nil
}

type costs []cost

func (all costs) middle(of func(cost) float64) float64 {
	var out []float64
	for _, c := range all {
		out = append(out, of(c))
	}
	return median(out)
}

func (all costs) cpu() time.Duration {
	return time.Duration(all.middle(func(c cost) float64 { return float64(c.cpu) }))
}

func (all costs) most() float64 { return all.middle(func(c cost) float64 { return c.memory }) }

func (all costs) String() string {
	return fmt.Sprintf("%.2f s | %.2f s | %.1f MB", all.middle(func(c cost) float64 { return c.took.Seconds() }), all.cpu().Seconds(),
		all.middle(func(c cost) float64 { return c.sent })/1e6)
}
