package admission

import (
	"context"
	"testing"

	"github.com/discreet-dp/discreet/api"
)

// BenchmarkDispatcher is what the dispatcher adds to a question, with nobody else there and with
// many.
func BenchmarkDispatcher(b *testing.B) {
	library := fake{ask: func(context.Context, api.Question) (*api.Answer, error) { return paidFor(), nil }}
	b.Run("alone", func(b *testing.B) {
		d := newDispatcher(people(b, "immediate"), library, Options{Rate: 1e12})
		for b.Loop() {
			if _, err := d.Ask(b.Context(), from("ana")); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("crowd", func(b *testing.B) {
		d := newDispatcher(people(b, "immediate"), library, Options{Rate: 1e12, Waiting: 1e6})
		b.SetParallelism(100)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if _, err := d.Ask(b.Context(), from("ana")); err != nil {
					b.Error(err)
				}
			}
		})
	})
}
