package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
)

//go:embed policy.yaml
var policy string

// engines is everything that is asked about the same data.
type engines struct {
	duck     duck
	postgres postgres
	file     *private // from the DuckDB file
	copied   *private // from PostgreSQL
}

func tpch(ctx context.Context, parquet, file, host, database string) error {
	all, err := questions()
	if err != nil {
		return err
	}
	if err := load(ctx, parquet, file); err != nil {
		return err
	}
	var e engines
	if e.duck, err = attach(ctx, file); err != nil {
		return err
	}
	if e.postgres, err = dial(ctx, host, database); err != nil {
		return err
	}
	if e.file, err = open(ctx, strings.Replace(policy, "SOURCE", strconv.Quote(file), 1)); err != nil {
		return err
	}
	defer e.file.close(nil)
	if e.copied, err = open(ctx, strings.Replace(policy, "SOURCE", strconv.Quote(address(host, "discreet", database)), 1)); err != nil {
		return err
	}
	defer e.copied.close(nil)
	fmt.Printf("opened: the DuckDB file in %.2f s, PostgreSQL, copied, in %.2f s\n\n", e.file.opened.Seconds(), e.copied.opened.Seconds())
	fmt.Println("| question | plain, DuckDB | plain, PostgreSQL | private, DuckDB file | private, PostgreSQL | times DuckDB | times PostgreSQL | numbers | median relative error |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|")
	for _, q := range all {
		if err := e.measure(ctx, q); err != nil {
			return fmt.Errorf("%s: %w", q.name, err)
		}
	}
	return nil
}

// measure asks one question in all ways, in turn, and prints its line. The first ratio is of the
// question about the DuckDB file with the plain query there, the second of the question about
// PostgreSQL's data with the plain query there.
func (e *engines) measure(ctx context.Context, q question) error {
	var ducks, postgreses, files, copies []time.Duration
	var errors []float64
	for _, text := range q.texts {
		took, err := e.duck.query(ctx, text)
		if err != nil {
			return err
		}
		ducks = append(ducks, took)
		exact, took, err := e.postgres.query(ctx, text)
		if err != nil {
			return err
		}
		postgreses = append(postgreses, took)
		for _, one := range []struct {
			p    *private
			took *[]time.Duration
		}{{e.file, &files}, {e.copied, &copies}} {
			answer, took, err := one.p.ask(ctx, text, q.settings, dp.One)
			if err != nil {
				return err
			}
			*one.took = append(*one.took, took)
			off, err := relative(answer, exact)
			if err != nil {
				return err
			}
			errors = append(errors, off...)
		}
	}
	fmt.Printf("| %s | %s ms | %s ms | %s ms | %s ms | %s | %s | %d | %.2g %% |\n", q.name, ms(median(ducks)), ms(median(postgreses)),
		ms(median(files)), ms(median(copies)), ratio(median(files), median(ducks)), ratio(median(copies), median(postgreses)),
		len(errors)/len(files)/2, 100*median(errors))
	return nil
}

// relative returns how far each noisy number is off, as a part of the exact one. Rows that the exact
// answer does not have, and numbers that are 0 there, have no relative error.
func relative(a *api.Answer, exact [][][]byte) ([]float64, error) {
	noisy := map[string][]any{}
	for _, row := range a.Rows {
		var key []string
		for i, c := range a.Columns {
			if !c.Noisy {
				key = append(key, fmt.Sprint(row[i]))
			}
		}
		noisy[strings.Join(key, "|")] = row
	}
	var out []float64
	for _, row := range exact {
		var key []string
		for i, c := range a.Columns {
			if !c.Noisy {
				key = append(key, strings.TrimRight(string(row[i]), " "))
			}
		}
		found := noisy[strings.Join(key, "|")]
		for i, c := range a.Columns {
			if !c.Noisy {
				continue
			}
			is, err := strconv.ParseFloat(string(row[i]), 64)
			if err != nil {
				return nil, err
			}
			said := 0.0 // a group that the answer does not have
			if number, there := value(found, i); there {
				said = number
			}
			if is != 0 {
				out = append(out, math.Abs(said-is)/math.Abs(is))
			}
		}
	}
	return out, nil
}

// value is a number of a row, and whether it is there: an average of nothing is NULL.
func value(row []any, i int) (float64, bool) {
	if i >= len(row) {
		return 0, false
	}
	n, ok := row[i].(json.Number)
	if !ok {
		return 0, false
	}
	x, err := n.Float64()
	return x, err == nil
}
