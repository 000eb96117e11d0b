package model

import (
	"encoding/json"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/detrand"
)

// TestAmounts: every amount reads back as itself.
func TestAmounts(t *testing.T) {
	dice := detrand.New("amounts", 1)
	all := []dp.Amount{0, 1, 2, dp.One, dp.One - 1, dp.One + 1, dp.One << 20, dp.Unbounded}
	for range 2000 {
		all = append(all, dp.Amount(dice.Below(1<<dice.Below(60))+0)+1)
	}
	for _, a := range all {
		if a > dp.One<<20 && a != dp.Unbounded {
			continue
		}
		text, err := json.Marshal(amount(a))
		var back amount
		if err != nil || json.Unmarshal(text, &back) != nil || dp.Amount(back) != a {
			t.Errorf("%d is %s is %d", a, text, back)
		}
	}
	eps := func(text string) dp.Amount {
		return must(dp.Parse(text))
	}
	text, err := json.Marshal(Spec{Budget: Budget{Epsilon: eps("0.1"), Delta: eps("1e-6")}, Evaluate: eps("0.05")})
	if err != nil || string(text) != `{"budget":{"epsilon":0.1,"delta":1e-06},"evaluate":0.05}` {
		t.Errorf("%s %v", text, err)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
