package learn

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"sort"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/detrand"
	"github.com/discreet-dp/discreet/internal/mechanism/learn/solve"
)

// TestAddIsTotal adds rows of any codes: every one that counts is at most the radius long, and
// nothing panics.
func TestAddIsTotal(t *testing.T) {
	codes := []int64{Null, math.MaxInt64, -math.MaxInt64, -1, 0, 1, 2, 3, 50, 1 << 40}
	for _, classes := range []int{0, 2, 4} {
		for _, radius := range []float64{0, 1, 0.01, 100} {
			p := prepared(encoding(classes), Spec{Budget: Budget{Epsilon: dp.One}, Radius: radius, Tune: []float64{1e5, 2e5}}, one)
			table, dice := p.NewTable(), detrand.New("codes", 1)
			for range 300 {
				table.Add([]int64{detrand.Pick(dice, codes), detrand.Pick(dice, codes), detrand.Pick(dice, codes),
					detrand.Pick(dice, codes)})
			}
			for _, short := range [][]int64{nil, {1}, {1, 2, 3}, {1, 1, 1, 1, 1}} {
				table.Add(short)
			}
			c := table.open()
			if len(c.parts) != c.rows.Len() {
				t.Error("rows and parts differ")
			}
			for i := range c.rows.Len() {
				square := 0.0
				for _, v := range c.rows.Row(i) {
					square += float64(v) * float64(v)
				}
				if !(square <= p.Radius()*p.Radius()) {
					t.Fatalf("a row is %v long, and the radius %v", math.Sqrt(square), p.Radius())
				}
				if y := c.rows.Target(i); classes == 0 && !(y >= -1 && y <= 1) || classes > 0 && !(y >= 0 && y < float32(classes)) {
					t.Fatalf("a target is %v", y)
				}
			}
			n := c.rows.Len()
			table.Add([]int64{1, 1, 1, 1}) // too late
			if table.open().rows.Len() != n {
				t.Error("a table grew after it was read")
			}
			fitted(p, table, 3)
		}
	}
}

// TestFeatures says what codes become.
func TestFeatures(t *testing.T) {
	e := encoding(2)
	x := make([]float64, e.Dim())
	for _, c := range []struct {
		codes []int64
		want  string
	}{
		{[]int64{0, 0, -1000}, "[-1 1 0 0 -1 1]"},
		{[]int64{100, 2, 3000}, "[1 0 0 1 1 1]"},
		{[]int64{Null, Null, Null}, "[0 0 0 0 0 1]"},
		{[]int64{1000, -1, -math.MaxInt64}, "[1 0 0 0 -1 1]"},
		{[]int64{75, 3, 1000}, "[0.5 0 0 0 0 1]"},
	} {
		if e.Encode(c.codes, x); fmt.Sprint(x) != c.want {
			t.Errorf("%v: %v", c.codes, x)
		}
	}
	for code, want := range map[int64]bool{Null: false, -1: false, 0: true, 1: true, 2: false} {
		if _, ok := e.TargetOf(code); ok != want {
			t.Errorf("class %d: %v", code, ok)
		}
	}
	// The intercept is clipped with the rest.
	p := prepared(e, Spec{Budget: Budget{Epsilon: dp.One}, Radius: 1}, one)
	table := p.NewTable()
	table.Add([]int64{100, 1, 3000, 1})
	if row := table.open().rows.Row(0); math.Abs(float64(row[5])-0.5) > 1e-5 {
		t.Errorf("the intercept is %v", row[5])
	}
}

func TestTableIsSealed(t *testing.T) {
	p := prepared(encoding(2), Spec{Budget: Budget{Epsilon: dp.One}}, one)
	table := randomTable(p, 3, 1)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%d", "%x", "%q"} {
		for _, v := range []any{table, *table, struct{ T *Table }{table}, table.Collector()} {
			if text := fmt.Sprintf(verb, v); strings.ContainsAny(strings.ReplaceAll(text, "0x", ""), "123456789") &&
				!strings.Contains(text, hiddenRows) {
				t.Errorf("%s shows %q", verb, text)
			}
		}
		// Not even how many there are.
		if a, b := fmt.Sprintf(verb, table), fmt.Sprintf(verb, *table); a != hiddenRows || b != hiddenRows {
			t.Errorf("%s shows %q and %q", verb, a, b)
		}
	}
	if _, err := json.Marshal(table); err == nil {
		t.Error("a table was encoded")
	}
}

// placed are rows with their parts, in no order.
func placed(rows [][]int64) map[string]int {
	s, out := newSplitter(4), map[string]int{}
	for _, r := range rows {
		out[fmt.Sprint(r, s.part(r))]++
	}
	return out
}

// TestSplit: the order of rows does not matter, and a row more changes nothing else.
func TestSplit(t *testing.T) {
	dice := detrand.New("split", 1)
	var rows [][]int64
	for range 4000 {
		rows = append(rows, []int64{int64(dice.Below(3)), int64(dice.Below(2))})
	}
	before := placed(rows)
	sort.Slice(rows, func(i, j int) bool { return fmt.Sprint(rows[i]) < fmt.Sprint(rows[j]) })
	if after := placed(rows); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Error("the order of rows matters")
	}
	changed := 0
	more := append([][]int64{{1, 1}}, rows...)
	for key, n := range placed(more) {
		if d := n - before[key]; d != 0 {
			changed += d
		}
	}
	if changed != 1 {
		t.Errorf("one row more changes %d", changed)
	}
	if len(before) != 24 {
		t.Errorf("equal rows are in one part: %v", before)
	}
	for key, n := range before {
		if n < 100 || n > 240 {
			t.Errorf("%s: %d rows of about 167", key, n)
		}
	}
}

// Without a random linear term rows can have a minimiser in the middle between two steps. Where
// float64 does not show that a gradient is short, which is so for many millions of rows, such a
// training must not fail: whether it does would tell these rows from their neighbours, always.
func TestMinimiserInTheMiddle(t *testing.T) {
	e := &Encoding{
		Features: []Column{{Name: "x", Lo: -2048, Hi: 2048, Step: big.NewRat(1, 1)}},
		Target:   Column{Name: "y", Lo: -1, Hi: 1, Step: big.NewRat(1, 1)},
	}
	p := prepared(e, Spec{Method: Output, Budget: Budget{Epsilon: eps("1")}, Regulariser: 1, Residual: 0x1p-10, Radius: 2}, one)
	if far := p.recipe.tolerance / (p.recipe.lambda * p.recipe.step); far < solve.NearlySteps {
		t.Fatalf("the sensitivity has room for %g steps", far)
	}
	p.recipe.tolerance = 1e-300 // as if there were many millions of rows
	for _, code := range []int64{1, 2} {
		// Far from its target a row pulls with all its slope, 2^-10, so the minimiser is 2^-10 x:
		// 2^-21 for the code 1.
		if ratio := 0x1p-21 / p.recipe.step; ratio != 0.5 {
			t.Fatalf("this is %g steps, and not in the middle", ratio)
		}
		table := p.NewTable()
		table.Add([]int64{code, 1})
		if _, err := Fit(context.Background(), p, table, mech.NewReleaser(detrand.Noise("middle", 1)), nil); err != nil {
			t.Errorf("code %d: %v", code, err)
		}
	}
}

// What is rounded where the tolerance cannot be shown is within what the sensitivity has room for.
func TestRoomForSlack(t *testing.T) {
	for _, method := range []string{Output, Minima} {
		for _, b := range []Budget{{Epsilon: eps("0.1")}, {Epsilon: eps("20"), Delta: eps("1e-9")}, {Rho: eps("0.01")}} {
			for _, tune := range [][]float64{nil, {1, 1e6, 30}} {
				for _, radius := range []float64{0, 0x1p-30, 0x1p20} {
					p, err := Prepare(encoding(4), Spec{Method: method, Budget: b, Tune: tune, Radius: radius}, one)
					if err != nil {
						continue
					}
					if far := p.recipe.tolerance / (p.recipe.lambda * p.recipe.step); far < 2*solve.NearlySteps {
						t.Errorf("%s, %v, %v, radius %g: %g steps", method, b, tune, radius, far)
					}
				}
			}
		}
	}
}
