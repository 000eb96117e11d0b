package solve

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/mechanism/learn/vector"
)

// longer says whether a row is longer than radius, in numbers that do not round.
func longer(row []float32, radius float64) bool {
	sum := new(big.Rat)
	for _, v := range row {
		x := new(big.Rat).SetFloat64(float64(v))
		sum.Add(sum, x.Mul(x, x))
	}
	r := new(big.Rat).SetFloat64(radius)
	return sum.Cmp(r.Mul(r, r)) > 0
}

// No row is longer than the radius, whatever comes in.
func TestClipped(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	special := []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, 5e-324, 1e-46, 1e-38, math.MaxFloat32, 0, 1, -1}
	for _, radius := range []float64{0x1p-100, 1e-3, 1, math.Sqrt2, math.Sqrt(14), 10, 0x1p100, 1e200} {
		for _, dim := range []int{1, 2, 14, 300} {
			b := NewBuilder(dim, radius)
			for k := range 40 {
				x := make([]float64, dim)
				for j := range x {
					switch k % 4 {
					case 0:
						x[j] = special[r.IntN(len(special))]
					case 1:
						x[j] = r.NormFloat64() * radius / math.Sqrt(float64(dim))
					case 2:
						x[j] = radius / math.Sqrt(float64(dim)) // on the boundary, about
					case 3:
						x[j] = r.NormFloat64() * math.Exp(100*r.NormFloat64())
					}
				}
				b.Add(x, float32(k))
			}
			rows := b.Rows()
			for i := range rows.Len() {
				if longer(rows.Row(i), radius) {
					t.Errorf("a row of %d is longer than %v", dim, radius)
				}
			}
		}
	}
}

// What is short enough stays as it is, and what is too long keeps its direction and nearly all of
// the length it may have.
func TestClippedLittle(t *testing.T) {
	b := NewBuilder(2, 5)
	b.Add([]float64{3, -3.9}, 1)
	b.Add([]float64{30, -40}, -1)
	b.Add32([]float32{1, 2}, 7)
	b.Add([]float64{1}, 0)
	b.Add([]float64{1, 2, 100}, 0)
	b.Add([]float64{math.NaN(), 2}, 0)
	r := b.Rows()
	if r.Len() != 6 || r.Dim() != 2 || r.Radius() != 5 || r.Target(1) != -1 || r.Target(2) != 7 {
		t.Error(r.Len(), r.Dim(), r.Radius())
	}
	for i, want := range [][2]float64{{3, float64(float32(-3.9))}, {3, -4}, {1, 2}, {1, 0}, {1, 2}, {0, 2}} {
		for j, v := range want {
			if got := float64(r.Row(i)[j]); math.Abs(got-v) > 1e-5 || i != 1 && got != v {
				t.Errorf("row %d is %v", i, r.Row(i))
			}
		}
	}
	if got := vector.Clip([]float64{30, -40}, 5); got[0] != r.Row(1)[0] || got[1] != r.Row(1)[1] {
		t.Errorf("Clip: %v", got)
	}
	if b.Rows().Len() != 0 {
		t.Error("the builder was not emptied")
	}
}

func TestManyPieces(t *testing.T) {
	const dim = 60_000 // four rows to a piece
	b := NewBuilder(dim, 100)
	for i := range 11 {
		b.Add([]float64{float64(i)}, float32(i))
	}
	r := b.Rows()
	for i := range r.Len() {
		if r.Row(i)[0] != float32(i) || r.Target(i) != float32(i) || len(r.Row(i)) != dim {
			t.Error(i)
		}
	}
}

func TestBadRadius(t *testing.T) {
	for _, radius := range []float64{math.NaN(), 0, -1, 0x1p-600} {
		b := NewBuilder(2, radius)
		b.Add([]float64{1, 2}, 1)
		if r := b.Rows(); r.Row(0)[0] != 0 || r.Row(0)[1] != 0 {
			t.Errorf("%v: %v", radius, r.Row(0))
		}
	}
}

// Rows do not show.
func TestHidden(t *testing.T) {
	const secret = 987_654
	b := NewBuilder(1, 1e9)
	b.Add([]float64{secret}, secret)
	c := NewBuilder(1, 1e9)
	c.Add([]float64{secret}, secret)
	r := b.Rows()
	type holder struct {
		Public  any
		private *Rows
		value   Rows
		builder Builder
	}
	h := holder{r, r, *r, *c}
	for _, x := range []any{r, *r, c, *c, h, &h, []any{h}, []*Rows{r}, map[string]Rows{"r": *r}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%d", "%s", "%x", "%g", "%f"} {
			if text := fmt.Sprintf(verb, x); strings.Contains(text, fmt.Sprint(secret)) || strings.Contains(text, "9.87654e") ||
				strings.Contains(text, fmt.Sprintf("%x", float32(secret))) {
				t.Errorf("%s of a %T: %s", verb, x, text)
			}
		}
		if text, _ := json.Marshal(x); strings.Contains(string(text), "98765") {
			t.Errorf("JSON of a %T: %s", x, text)
		}
		var buffer bytes.Buffer
		slog.New(slog.NewJSONHandler(&buffer, nil)).Info("oops", "x", x)
		slog.New(slog.NewTextHandler(&buffer, nil)).Info("oops", "x", x)
		if strings.Contains(buffer.String(), "98765") || strings.Contains(buffer.String(), "9.8765") {
			t.Errorf("a log of a %T: %s", x, buffer.String())
		}
	}
	if err := gob.NewEncoder(&bytes.Buffer{}).Encode(r); err == nil {
		t.Error("gob encodes rows")
	}
	if fmt.Sprint(r) != "[rows]" || fmt.Sprint(*r) != "[rows]" {
		t.Error(r)
	}
	if (&Rows{}).Len() != 0 || (*Rows)(nil).Dim() != 0 {
		t.Error("no rows")
	}
}

func Example_rows() {
	b := NewBuilder(2, 1)
	b.Add([]float64{0.6, 0.8}, 1)
	b.Add([]float64{6, 8}, -1)
	rows := b.Rows()
	fmt.Println(rows, rows.Dim(), rows.Radius())
	// Output:
	// [rows] 2 1
}
