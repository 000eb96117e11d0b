package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/planner/grammar"
	"github.com/discreet-dp/discreet/internal/server/users"
)

func furnish(t *testing.T) (dir, policy string) {
	t.Helper()
	dir = t.TempDir()
	policy = filepath.Join(dir, "policy.yaml")
	text := "datasets:\n" + hospital.Dataset("hospital", "data", "{epsilon: 10}") + "    release: immediate\n"
	if err := errors.Join(hospital.New(100, 1).Write(filepath.Join(dir, "data")), os.WriteFile(policy, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
	return dir, policy
}

// once fails unless something has a number of texts parsed.
func once(t *testing.T, name string, want int64, ask func() error) {
	t.Helper()
	before := grammar.Parses()
	if err := ask(); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if n := grammar.Parses() - before; n != want {
		t.Errorf("%s: parsed %d times, not %d", name, n, want)
	}
}

const (
	plain     = "SELECT COUNT(*) FROM patients WHERE age > 40"
	parameter = "SELECT sex, COUNT(*) FROM patients WHERE age > $1 AND zip <> $2 GROUP BY sex"
	aged      = "SELECT COUNT(*) FROM patients WHERE age > 1" // its profile is parsed then
	outer     = "SELECT 2 * n FROM (SELECT COUNT(*) AS n FROM patients WHERE age > $1) AS t"
)

// TestParsedOnceByTheLibrary: a question is parsed once, whatever is done with it, and not again
// when it is asked after its price was.
func TestParsedOnceByTheLibrary(t *testing.T) {
	_, policy := furnish(t)
	db, err := discreet.Open(t.Context(), policy)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Warm(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Ask(t.Context(), api.Question{Analyst: "ana", SQL: aged}); err != nil {
		t.Fatal(err)
	}
	values := []api.Parameter{{Kind: "integer", Text: "30"}, {Text: "1003A"}}
	for name, q := range map[string]api.Question{
		"plain": {SQL: plain}, "with values": {SQL: parameter, Parameters: values}, "outer": {SQL: outer, Parameters: values[:1]},
	} {
		q.Analyst = "ana"
		once(t, name+", explained", 1, func() error { _, err := db.Explain(t.Context(), q); return err })
		once(t, name+", asked", 0, func() error { _, err := db.Ask(t.Context(), q); return err })
		once(t, name+", described", 1, func() error { _, err := db.Describe(t.Context(), q); return err })
		q.Parameters = nil
		once(t, name+", described without values", 1, func() error { _, err := db.Describe(t.Context(), q); return err })
	}
	once(t, "refused", 1, func() error {
		if _, err := db.Ask(t.Context(), api.Question{Analyst: "ana", SQL: "SELECT age FROM"}); !errors.As(err, new(*api.Refusal)) {
			return fmt.Errorf("asked: %v", err)
		}
		return nil
	})
}

// TestParsedOnceByListeners: the wire parses a text to find out whom it is for, and nobody does
// after it: not for Describe, not for Bind, not to ask. HTTP hands the text on.
func TestParsedOnceByListeners(t *testing.T) {
	dir, policy := furnish(t)
	file := filepath.Join(dir, "users")
	store, err := users.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	password, err := store.Add(t.Context(), "ana", users.Analyst, "")
	if err != nil {
		t.Fatal(err)
	}
	token, _, err := store.NewToken(t.Context(), "ana", "", time.Time{})
	if err := errors.Join(err, store.Close()); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), Config{Policy: policy, Users: file, Listen: "127.0.0.1:0", HTTP: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve() }()
	defer func() {
		if err := errors.Join(s.Shutdown(context.Background()), <-served); err != nil {
			t.Error(err)
		}
	}()
	c, err := pgx.Connect(t.Context(), fmt.Sprintf("postgres://ana:%s@%s/hospital?sslmode=disable", password, s.WireAddr()))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.Background())
	ask := func(sql string, args ...any) func() error {
		return func() error {
			rows, err := c.Query(t.Context(), sql, args...)
			if err != nil {
				return err
			}
			rows.Close()
			return rows.Err()
		}
	}
	if err := ask(aged)(); err != nil {
		t.Fatal(err)
	}
	once(t, "simple", 1, ask(plain, pgx.QueryExecModeSimpleProtocol))
	// The first answer about visits, whose people are cut, parses the question of its profile too,
	// and the first that reads a column with bounds that of the column's.
	once(t, "visits", 3, ask("SELECT COUNT(*) FROM visits WHERE cost > 0", pgx.QueryExecModeSimpleProtocol))
	once(t, "two at once", 1, ask(plain+"; SELECT COUNT(*) FROM visits", pgx.QueryExecModeSimpleProtocol))
	once(t, "extended", 1, ask(parameter, pgx.QueryExecModeDescribeExec, 30, "1003A"))
	once(t, "extended, outer", 1, ask(outer, pgx.QueryExecModeDescribeExec, 31))
	once(t, "extended, kept", 1, ask(parameter+" ", pgx.QueryExecModeCacheStatement, 30, "1003A"))
	once(t, "extended, kept, again", 0, ask(parameter+" ", pgx.QueryExecModeCacheStatement, 32, "1003A"))
	once(t, "explained", 1, ask("EXPLAIN "+parameter, pgx.QueryExecModeDescribeExec, 33, "1003A"))
	once(t, "http", 1, func() error {
		body := fmt.Sprintf(`{"dataset": "hospital", "sql": %q, "parameters": [34, "1003A"]}`, parameter)
		at := "http://" + s.HTTPAddr().String() + "/v1/query"
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, at, strings.NewReader(body))
		if err != nil {
			return err
		}
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Content-Type", "application/json")
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			return err
		}
		defer a.Body.Close()
		if text, err := io.ReadAll(a.Body); err != nil || a.StatusCode != http.StatusOK {
			return fmt.Errorf("%d %s %v", a.StatusCode, text, err)
		}
		return nil
	})
}
