package curator

import (
	"encoding/json"
	"math"
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/hospital"
	"github.com/discreet-dp/discreet/internal/pricing"
)

// An average of twins has half the variance that a sum and a count for the same price have, and
// error bars that hold.
func TestAverageOfTwins(t *testing.T) {
	h := hospital.New(400, 3)
	w := build(t, h, hospital.Dataset("hospital", "data", plenty), 5)
	p, err := w.prepare(ctx, api.Question{Analyst: "ana", SQL: "SELECT AVG(age) FROM patients", Epsilon: amount("0.5")})
	w.check(err)
	b := p.Purchases[0]
	// Both sums have noise of scale 110/0.5, and one price. The loss of the pair is what both move
	// by over that scale, for every age: 110 together.
	if got := b.Noise[0].Parameter(); len(b.Twins) != 1 || got.Cmp(big.NewRat(220, 1)) != 0 || b.Noise[1].Parameter().Cmp(got) != 0 ||
		b.Cost().Epsilon != amount("0.5") || pricing.Cost(p.Purchases).Epsilon != amount("0.5") {
		t.Fatalf("%v, scale %v, cost %v", b.Twins, got, b.Cost())
	}
	for age := int64(0); age <= 110; age++ {
		loss := new(big.Rat).Quo(big.NewRat(age+(110-age), 1), b.Noise[0].Parameter())
		if loss.Cmp(dp.Amount(amount("0.5")).Rat()) > 0 {
			t.Errorf("somebody of %d loses %v", age, loss)
		}
	}
	exactly, err := w.data.Run(ctx, query(p))
	w.check(err)
	truth := 0.0
	for _, x := range h.Patients {
		truth += float64(x.Age) / float64(len(h.Patients))
	}
	const n = 6000
	sum, hits := 0.0, 0.0
	for range n {
		a := w.release(p, p, exactly)
		x, err := a.Rows[0][0].(json.Number).Float64()
		w.check(err)
		sum += (x - truth) * (x - truth) / n
		if math.Abs(x-truth) <= *a.Errors[0][0]+1e-9 {
			hits += 1.0 / n
		}
	}
	far := truth/55 - 1
	want := 110 / 0.5 / 400 * math.Sqrt(1+far*far)
	if got := math.Sqrt(sum); math.Abs(got/want-1) > 0.06 {
		t.Errorf("the error is %.4f, and %.4f was expected", got, want)
	}
	if slack := 4 * math.Sqrt(0.95*0.05/n); hits < 0.95-slack {
		t.Errorf("the error bar holds in %.4f of the answers", hits)
	}
	t.Logf("error %.4f, covered %.4f", math.Sqrt(sum), hits)
	// A sum and a count of everybody, as they were before.
	old, err := w.prepare(ctx, api.Question{Analyst: "ana", SQL: "SELECT AVG(age), COUNT(*) FROM patients", Epsilon: amount("0.5")})
	w.check(err)
	if len(old.Purchases[0].Twins) != 0 {
		t.Error("a count that is shown is a release of its own")
	}
}
