package predict

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Over many random streams no more is paid for than log2 of the number of candidates, half of them
// go each time, and the true database stays. The session here pays where the prediction is off by
// more than alpha, and has noise up to half of alpha, of the worst kind: at the bound, or against
// halving.
func TestHalving(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for stream := range 1000 {
		shapes := [][]int{{2, 2}, {2, 3}, {5}, {2, 1, 4}, {3, 3}, {30}}
		d := domain(t, shapes[r.IntN(len(shapes))]...)
		size := int64(1 + r.IntN(10))
		if d.Cells() == 30 {
			size = 1 + size%3
		}
		alpha := []float64{0.05, 0.1, 0.3, 0.5}[r.IntN(4)]
		p, err := NewHalving(d, size, alpha)
		if err != nil {
			t.Fatal(err)
		}
		h := p.(*halving)
		counts := make([]float64, d.Cells())
		for range size {
			counts[r.IntN(len(counts))]++
		}
		steps := []int64{1, 100}[r.IntN(2)]
		first := h.number()
		paid := 0
		for range 200 {
			q := random(r, d, steps)
			v, _ := p.Predict(q)
			exact := truth(q, counts)
			bound := alpha * float64(size) * float64(steps)
			if math.Abs(v-exact) <= bound {
				continue
			}
			var noise float64
			switch r.IntN(3) {
			case 0:
				noise = (2*r.Float64() - 1) * bound / 2
			case 1:
				noise = math.Copysign(bound/2, v-exact) // towards the prediction
			default:
				noise = math.Copysign(bound/2, exact-v)
			}
			before := h.number()
			p.Learn(Released{q, int64(exact + math.Trunc(noise)), 0})
			paid++
			if h.number()*2 > before {
				t.Fatalf("stream %d: %d candidates, and %d afterwards", stream, before, h.number())
			}
			if !h.has(counts) {
				t.Fatalf("stream %d: the true database is gone", stream)
			}
		}
		if float64(paid) > math.Log2(float64(first)) {
			t.Fatalf("stream %d: %d paid, with %d candidates", stream, paid, first)
		}
	}
}

func (h *halving) number() int { return len(h.candidates) / h.width }

func (h *halving) has(counts []float64) bool {
	for i := 0; i < len(h.candidates); i += h.width {
		rest := append([]float64{}, counts...)
		for k, c := range h.candidates[i : i+h.width] {
			if h.counts {
				rest[k] -= float64(c)
			} else {
				rest[c]--
			}
		}
		same := true
		for _, c := range rest {
			same = same && c == 0
		}
		if same {
			return true
		}
	}
	return false
}
