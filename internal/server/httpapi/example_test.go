package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"time"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/server/admission"
	"github.com/discreet-dp/discreet/internal/server/httpapi"
	"github.com/discreet-dp/discreet/internal/server/users"
)

// An analyst asks for a price, and asks a question that cannot be asked.
func Example() {
	if err := run(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// 200 application/json
	// it would cost epsilon 0.1 and be right within 30, with probability 0.95
	// 422 application/problem+json
	// refused: there is no column "name"; nothing was spent
}

func run(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "discreet-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := hospital.New(200, 1).Write(filepath.Join(dir, "data")); err != nil {
		return err
	}
	policy := filepath.Join(dir, "hospital.yaml")
	text := "datasets:\n" + hospital.Dataset("hospital", "data", "{epsilon: 1}") + "    release: immediate\n"
	if err := os.WriteFile(policy, []byte(text), 0o600); err != nil {
		return err
	}
	db, err := discreet.Open(ctx, policy)
	if err != nil {
		return err
	}
	defer db.Close()
	store, err := users.Open(filepath.Join(dir, "users.db"))
	if err != nil {
		return err
	}
	defer store.Close()
	if _, err := store.Add(ctx, "ana", users.Analyst, ""); err != nil {
		return err
	}
	token, _, err := store.NewToken(ctx, "ana", "example", time.Time{})
	if err != nil {
		return err
	}
	server := httptest.NewServer(httpapi.New(httpapi.Options{Dispatcher: admission.New(db, admission.Options{}), Users: store}))
	defer server.Close()

	// curl -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" -d '{"sql":
	// "..."}' $SERVER/v1/explain
	ask := func(path, sql string, answer any) error {
		question, err := json.Marshal(map[string]any{"sql": sql, "epsilon": 0.1})
		if err != nil {
			return err
		}
		r, err := http.NewRequestWithContext(ctx, "POST", server.URL+path, bytes.NewReader(question))
		if err != nil {
			return err
		}
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Content-Type", "application/json")
		response, err := server.Client().Do(r)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		fmt.Println(response.StatusCode, response.Header.Get("Content-Type"))
		text, err := io.ReadAll(response.Body)
		if err != nil {
			return err
		}
		return json.Unmarshal(text, answer)
	}
	var price struct {
		Cost       struct{ Epsilon float64 }
		Confidence float64
		Questions  []struct{ Measures []struct{ Error float64 } }
	}
	if err := ask("/v1/explain", "SELECT COUNT(*) FROM patients", &price); err != nil {
		return err
	}
	fmt.Printf("it would cost epsilon %v and be right within %v, with probability %v\n", price.Cost.Epsilon,
		price.Questions[0].Measures[0].Error, price.Confidence)
	var problem httpapi.Problem
	if err := ask("/v1/query", "SELECT name FROM patients", &problem); err != nil {
		return err
	}
	if problem.Spent != nil && !*problem.Spent {
		fmt.Printf("%s: %s; nothing was spent\n", problem.Kind, problem.Detail)
	}
	return nil
}
