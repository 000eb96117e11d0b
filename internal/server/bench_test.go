package server

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/discreet-dp/discreet/api"
)

// BenchmarkOverhead asks the same questions of the library, over the wire and over HTTP, in turn,
// and reports medians: what a listener adds is the difference. New questions are paid for; the same
// one again is free.
func BenchmarkOverhead(b *testing.B) {
	for _, kind := range []string{"new", "free"} {
		b.Run(kind, func(b *testing.B) { overhead(b, kind == "new") })
	}
}

func overhead(b *testing.B, fresh bool) {
	g := hostOf(b, "{epsilon: 100, delta: 1e-6, per_query: {default: 0.0001}}", 20_000)
	at := fmt.Sprintf("postgres://ana:%s@127.0.0.1:%d/hospital?sslmode=disable", g.password, g.port)
	extended, err := pgx.Connect(b.Context(), at)
	must(b, err)
	defer extended.Close(b.Context())
	simple, err := pgx.Connect(b.Context(), at+"&default_query_exec_mode=simple_protocol")
	must(b, err)
	defer simple.Close(b.Context())
	n := 0
	text := func() string {
		if fresh {
			n++
		}
		return fmt.Sprintf("SELECT sex, COUNT(*) FROM patients WHERE age >= 18 AND cost < %d.%02d GROUP BY sex", n/100, n%100)
	}
	rows := func(r pgx.Rows, err error) error {
		if err != nil {
			return err
		}
		for r.Next() {
			if _, err := r.Values(); err != nil {
				return err
			}
		}
		return r.Err()
	}
	ways := []struct {
		name string
		ask  func(sql string) error
	}{
		{"library", func(sql string) error {
			_, err := g.db.Ask(b.Context(), api.Question{Dataset: "hospital", Analyst: "ana", SQL: sql})
			return err
		}},
		{"simple", func(sql string) error { return rows(simple.Query(b.Context(), sql)) }},
		{"extended", func(sql string) error { return rows(extended.Query(b.Context(), sql, pgx.QueryExecModeDescribeExec)) }},
		{"http", func(sql string) error {
			return g.post("/v1/query", fmt.Sprintf("{\"dataset\":\"hospital\",\"sql\":%q}", sql))
		}},
		{"mcp", func(sql string) error {
			return g.post("/mcp", fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask","arguments":{"sql":%q}}}`, sql))
		}},
	}
	took := map[string][]time.Duration{}
	for b.Loop() {
		for _, w := range ways {
			sql := text()
			begin := time.Now()
			if err := w.ask(sql); err != nil {
				b.Fatalf("%s: %v", w.name, err)
			}
			took[w.name] = append(took[w.name], time.Since(begin))
		}
	}
	median := func(name string) float64 {
		all := slices.Sorted(slices.Values(took[name]))
		return float64(all[len(all)/2].Microseconds()) / 1000
	}
	b.ReportMetric(0, "ns/op") // the sum of all ways says nothing
	for _, w := range ways {
		b.ReportMetric(median(w.name), w.name+"-ms")
	}
	b.ReportMetric(median("simple")-median("library"), "simple-adds-ms")
	b.ReportMetric(median("extended")-median("library"), "extended-adds-ms")
	b.ReportMetric(median("http")-median("library"), "http-adds-ms")
	b.ReportMetric(median("mcp")-median("http"), "mcp-adds-to-http-ms")
}

// post sends a question as Ana, and wants an answer.
func (g inn) post(path, body string) error {
	r, err := http.NewRequest("POST", "http://"+g.HTTPAddr().String()+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+g.token)
	r.Header.Set("Content-Type", "application/json")
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	if err != nil || a.StatusCode != http.StatusOK || strings.Contains(string(text), `"isError":true`) {
		return fmt.Errorf("%d %s %v", a.StatusCode, text, err)
	}
	return nil
}
