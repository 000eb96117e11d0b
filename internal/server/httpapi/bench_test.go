package httpapi

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
)

// BenchmarkOverhead asks a question that is paid for, over HTTP and at the dispatcher: the
// difference is the interface's.
func BenchmarkOverhead(b *testing.B) {
	w := newWorld(b)
	w.want(w.call("POST", "/v1/query", "ana", count), 200)
	b.Run("http", func(b *testing.B) {
		for b.Loop() {
			r, err := http.NewRequest("POST", w.server.URL+"/v1/query", strings.NewReader(count))
			must(b, err)
			r.Header.Set("Authorization", "Bearer "+w.tokens["ana"])
			r.Header.Set("Content-Type", "application/json")
			response, err := w.server.Client().Do(r)
			must(b, err)
			if _, err := io.Copy(io.Discard, response.Body); err != nil || response.StatusCode != 200 {
				b.Fatal(response.Status, err)
			}
			response.Body.Close()
		}
	})
	b.Run("dispatcher", func(b *testing.B) {
		for b.Loop() {
			if _, err := w.options.Dispatcher.Ask(context.Background(),
				api.Question{Dataset: "hospital", Analyst: "ana", SQL: "SELECT COUNT(*) FROM patients", Epsilon: dp.One / 2}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
