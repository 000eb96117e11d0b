package stream

import (
	"context"
	"testing"

	"github.com/discreet-dp/discreet/internal/detrand"
	"github.com/discreet-dp/discreet/internal/stream/predict"
	"github.com/discreet-dp/discreet/mech"
)

// A stream that is told what was released elsewhere has less to pay for: here every cell, with
// noise that is far below the error that it promises.
func TestLearnedElsewhereIsCheaper(t *testing.T) {
	d, counts := patients(t)
	data := dense(t, d, counts)
	alarms := func(told bool) int {
		c := Config{Domain: d, Size: 1_003_117, Alpha: 0.02, Beta: 0.001, Queries: 5000, Steps: 1, Currency: mech.Pure,
			Budget: amountOf(t, "10"), Predictor: Weights}
		s := openDear(t, c, data, 1)
		if told {
			var all []predict.Released
			for cell, n := range counts {
				sets := make([]uint64, 4)
				for i, v := range d.Codes(cell) {
					sets[i] = 1 << v
				}
				all = append(all, predict.Released{Query: subsets(t, d, 1, sets...), Answer: n, Scale: 300})
			}
			for _, r := range all {
				if err := s.Learn(context.Background(), r); err != nil {
					t.Fatal(err)
				}
			}
		}
		dice := detrand.New("learned", 1)
		for range 2000 {
			if _, err := s.Ask(context.Background(), anySubsets(t, dice, d, 1)); err != nil {
				t.Fatal(err)
			}
		}
		return s.Report().Paid
	}
	without, with := alarms(false), alarms(true)
	t.Logf("%d alarms, and %d where the cells were known", without, with)
	if with >= without {
		t.Errorf("a stream that was told all cells set off %d alarms, and one that was told nothing %d", with, without)
	}
}
