package learn

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/detrand"
)

// TestAddIsTotal adds rows of any codes: every one that counts is at most the radius long, and
// nothing panics.
func TestAddIsTotal(t *testing.T) {
	codes := []int64{Null, math.MaxInt64, -math.MaxInt64, -1, 0, 1, 2, 3, 50, 1 << 40}
	for _, classes := range []int{0, 2, 4} {
		for _, radius := range []float64{0, 1, 0.01, 100} {
			p := prepared(t, made(classes), Spec{Budget: Budget{Epsilon: dp.One}, Radius: radius, Tune: []float64{1e5, 2e5}}, one)
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
			fitted(t, p, table, 3)
		}
	}
}

// TestFeatures says what codes become.
func TestFeatures(t *testing.T) {
	e := made(2)
	x := make([]float64, e.dim())
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
		if e.features(c.codes, x); fmt.Sprint(x) != c.want {
			t.Errorf("%v: %v", c.codes, x)
		}
	}
	for code, want := range map[int64]bool{Null: false, -1: false, 0: true, 1: true, 2: false} {
		if _, ok := e.target(code); ok != want {
			t.Errorf("class %d: %v", code, ok)
		}
	}
	// The intercept is clipped with the rest.
	p := prepared(t, e, Spec{Budget: Budget{Epsilon: dp.One}, Radius: 1}, one)
	table := p.NewTable()
	table.Add([]int64{100, 1, 3000, 1})
	if row := table.open().rows.Row(0); math.Abs(float64(row[5])-0.5) > 1e-5 {
		t.Errorf("the intercept is %v", row[5])
	}
}

func TestTableIsSealed(t *testing.T) {
	p := prepared(t, made(2), Spec{Budget: Budget{Epsilon: dp.One}}, one)
	table := madeTable(p, 3, 1)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%d", "%x", "%q"} {
		for _, v := range []any{table, *table, struct{ T *Table }{table}, table.Collector()} {
			if text := fmt.Sprintf(verb, v); strings.ContainsAny(strings.ReplaceAll(text, "0x", ""), "123456789") &&
				!strings.Contains(text, sealed) {
				t.Errorf("%s shows %q", verb, text)
			}
		}
	}
	if _, err := json.Marshal(table); err == nil {
		t.Error("a table was encoded")
	}
}
