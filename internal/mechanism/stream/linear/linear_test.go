package linear

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func domain(t *testing.T, sizes ...int) *Domain {
	t.Helper()
	var attributes []Attribute
	for i, n := range sizes {
		a := Attribute{Name: fmt.Sprint("a", i)}
		for v := range n {
			a.Values = append(a.Values, fmt.Sprint(v))
		}
		attributes = append(attributes, a)
	}
	return must(NewDomain(attributes...))
}

// dense returns the weights of all cells, from the definition.
func dense(d *Domain, steps int64, factors []Factor) []int64 {
	scale := steps
	for _, f := range factors {
		if len(f.Attributes) == 0 || slices.Max(f.Weights) > 1 {
			scale = 1
		}
	}
	out := make([]int64, d.Cells())
	for i := range out {
		codes := d.Codes(i)
		out[i] = scale
		for _, f := range factors {
			at := 0
			for _, a := range f.Attributes {
				at = at*d.size(a) + codes[a]
			}
			out[i] *= f.Weights[at]
		}
	}
	return out
}

func runs(q *Query) []int64 {
	out := make([]int64, q.Domain().Cells())
	last := 0
	q.Runs(func(from, to int, weight int64) {
		if from < last || to <= from || weight == 0 {
			panic("runs do not rise")
		}
		last = to
		for i := from; i < to; i++ {
			out[i] = weight
		}
	})
	return out
}

// randomFactors returns factors over a few attributes, some of them products in disguise.
func randomFactors(r *rand.Rand, d *Domain, steps int64) []Factor {
	var out []Factor
	for range r.IntN(5) {
		var f Factor
		for a := range d.all {
			if r.IntN(3) == 0 {
				f.Attributes = append(f.Attributes, a)
			}
		}
		if len(f.Attributes) == 0 && r.IntN(3) > 0 {
			continue
		}
		f.Weights = make([]int64, d.Size(f.Attributes))
		top := int64(1)
		if r.IntN(3) == 0 {
			top = 1 + r.Int64N(3)
		}
		parts := 1 + r.IntN(3)
		for i := range f.Weights {
			f.Weights[i] = 1
		}
		for p := range parts {
			var of []int
			for _, a := range f.Attributes {
				if parts == 1 || mixed(a, parts) == p {
					of = append(of, a)
				}
			}
			table := make([]int64, d.Size(of))
			for i := range table {
				table[i] = r.Int64N(top + 1)
				if r.IntN(3) > 0 && table[i] == 0 {
					table[i] = 1
				}
			}
			for i, o := range d.indexInto(f.Attributes, of) {
				f.Weights[i] = min(f.Weights[i]*table[o], steps)
			}
		}
		out = append(out, f)
	}
	return out
}

func total(v []int64) (sum int64) {
	for _, x := range v {
		sum += x
	}
	return sum
}

func mixed(a, parts int) int { return (a*7 + 3) / 2 % parts }

// Whatever is written, the query weighs as the product of its factors does; and two have one key
// where and only where they weigh alike.
func TestCanonical(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, sizes := range [][]int{{2, 3}, {2, 2, 2, 2}, {2, 1, 3, 2, 2}, {2, 2, 2, 2, 2, 2}, {3, 5, 2, 20, 2, 4}} {
		rounds := 6000
		if len(sizes) == 6 && sizes[3] == 20 {
			rounds = 300 // wider than a block
		}
		d := domain(t, sizes...)
		var blocks Blocks
		keys, written := map[string]string{}, map[string]string{}
		for range rounds {
			steps := []int64{1, 2, 12}[r.IntN(3)]
			factors := randomFactors(r, d, steps)
			for i := range factors {
				for k := range factors[i].Weights {
					factors[i].Weights[k] = min(factors[i].Weights[k], steps)
				}
			}
			want := dense(d, steps, factors)
			q, err := d.Query(steps, factors...)
			if (err != nil) != (slices.Max(want) > steps) {
				t.Fatalf("%v: error %v", factors, err)
			}
			if err != nil {
				continue
			}
			if got := runs(q); !slices.Equal(got, want) {
				t.Fatalf("%v weighs %v, want %v", factors, got, want)
			}
			for i, w := range want {
				if q.Weight(d.Codes(i)) != w {
					t.Fatalf("%v weighs cell %d with %d, not %d", factors, i, q.Weight(d.Codes(i)), w)
				}
			}
			name := fmt.Sprint(steps, want)
			if k, ok := keys[name]; ok && k != q.Key() {
				t.Fatalf("%v has two keys: %v", name, q.Factors())
			}
			if w, ok := written[q.Key()]; ok && w != name {
				t.Fatalf("%v and %v have one key", name, w)
			}
			keys[name], written[q.Key()] = q.Key(), name
			// As one table, as it is stored, and as what its complement lacks.
			if _, err := d.Query(steps, Factor{}, Factor{d.all, want}); err == nil {
				t.Fatal("a factor without its weight was taken")
			}
			whole, err := d.Query(steps, Factor{Weights: []int64{1}}, Factor{d.all, want})
			if err != nil || whole.Key() != q.Key() {
				t.Fatalf("%v as one table is %v, not %v (%v)", factors, whole.Factors(), q.Factors(), err)
			}
			again, err := d.Query(steps, q.Factors()...)
			if err != nil || again.Key() != q.Key() {
				t.Fatalf("%v is stored as %v (%v)", factors, q.Factors(), err)
			}
			c := must(q.Complement())
			for i, w := range runs(c) {
				if w+want[i] != steps {
					t.Fatalf("the complement of %v weighs cell %d with %d", want, i, w)
				}
			}
			if back, err := c.Complement(); err != nil || back.Key() != q.Key() {
				t.Fatalf("the complement of the complement of %v is %v (%v)", factors, back, err)
			}
			// As blocks, where it is a conjunction.
			numbers, sum := make([]int64, d.Cells()), int64(0)
			for i, w := range want {
				numbers[i] = r.Int64N(1000)
				sum += w * numbers[i]
			}
			if q.Blocks(d.all, &blocks) != q.Conjunction() {
				t.Fatalf("%v is a conjunction or not", factors)
			}
			if level, _ := q.Level(); q.Conjunction() &&
				(blocks.Sum(numbers)*level != sum || level > 0 && int64(blocks.Len())*level != total(want)) {
				t.Fatalf("%v: blocks %v", factors, blocks)
			}
			// Over its own attributes alone.
			small := make([]int64, d.Size(q.Attributes()))
			q.RunsOver(q.Attributes(), func(from, to int, weight int64) {
				for i := from; i < to; i++ {
					small[i] = weight
				}
			})
			for i, o := range d.indexInto(d.all, q.Attributes()) {
				if small[o] != want[i] {
					t.Fatalf("%v over %v is %v", factors, q.Attributes(), small)
				}
			}
		}
		if len(keys) < 50 {
			t.Errorf("only %d different queries", len(keys))
		}
	}
}

// Two pairs of attributes that depend on each other, and a parity of three that no pair shows.
func TestBlocks(t *testing.T) {
	d := domain(t, 2, 2, 2, 2, 2, 3)
	equal := []int64{1, 0, 0, 1}
	parity := []int64{0, 1, 1, 0, 1, 0, 0, 1}
	pair, err := d.Query(1, Factor{[]int{0, 3}, equal}, Factor{[]int{1, 4}, equal})
	if err != nil || len(pair.groups) != 2 {
		t.Fatal(pair.Factors(), err)
	}
	whole, err := d.Query(1, Factor{d.all, runs(pair)})
	if err != nil || whole.Key() != pair.Key() || len(whole.Factors()) != 2 {
		t.Errorf("%v, %v", whole.Factors(), err)
	}
	odd, err := d.Query(1, Factor{[]int{0, 2, 4}, parity}, Factor{[]int{1, 3}, equal}, Factor{[]int{5}, []int64{1, 0, 1}})
	if err != nil || len(odd.groups) != 3 {
		t.Fatal(odd, err)
	}
	if whole, err = d.Query(1, Factor{d.all, runs(odd)}); err != nil || whole.Key() != odd.Key() {
		t.Errorf("%v, %v", whole.Factors(), err)
	}
}

func TestWhere(t *testing.T) {
	d := domain(t, 2, 3)
	for _, c := range []struct {
		values map[string][]string
		want   string
	}{
		{nil, "[1 1 1 1 1 1]"},
		{map[string][]string{"a0": {"1"}}, "[0 0 0 1 1 1]"},
		{map[string][]string{"a0": {"0", "1", "0"}, "a1": {"0", "2"}}, "[1 0 1 1 0 1]"},
		{map[string][]string{"a0": {}}, "[0 0 0 0 0 0]"},
		{map[string][]string{"a2": {"0"}}, `not a query of this domain: there is no attribute "a2": outside the domain`},
		{map[string][]string{"a1": {"0", "3"}}, `not a query of this domain: attribute "a1" has no value "3": outside the domain`},
	} {
		q, err := d.Where(c.values)
		got := ""
		if err == nil {
			got = fmt.Sprint(runs(q))
		} else if got = err.Error(); !errors.Is(err, ErrQuery) {
			t.Errorf("%v is no ErrQuery", err)
		}
		if got != c.want {
			t.Errorf("%v: %s, want %s", c.values, got, c.want)
		}
	}
}

func TestBadQueries(t *testing.T) {
	d := domain(t, 2, 3, 2000, 2000)
	for _, c := range []struct {
		steps   int64
		factors []Factor
		want    string
	}{
		{0, nil, "0 steps"},
		{MaxSteps + 1, nil, "1073741825 steps"},
		{1, []Factor{{[]int{4}, []int64{1}}}, "attribute 4 is outside the domain"},
		{1, []Factor{{[]int{-1}, []int64{1}}}, "attribute -1 is outside the domain"},
		{1, []Factor{{[]int{1, 0}, make([]int64, 6)}}, "must rise"},
		{1, []Factor{{[]int{0, 0}, make([]int64, 4)}}, "must rise"},
		{1, []Factor{{[]int{0}, []int64{1}}}, "1 weights, and its attributes have 2"},
		{1, []Factor{{[]int{0}, []int64{0, 2}}}, "weight 2 is not between 0 and 1"},
		{5, []Factor{{[]int{0}, []int64{0, -1}}}, "weight -1 is not between 0 and 5"},
		{5, []Factor{{[]int{0}, []int64{0, 2}}, {[]int{1}, []int64{0, 2, 3}}}, "weights above 5"},
		{5, []Factor{{[]int{0}, []int64{0, 2}}, {[]int{0}, []int64{0, 3}}}, "weights above 5"},
		{MaxSteps, []Factor{{[]int{0}, []int64{0, MaxSteps}}, {[]int{0}, []int64{0, MaxSteps}}, {[]int{1}, []int64{0, MaxSteps, 1}}},
			"weights above 1073741824"},
		{1, []Factor{{[]int{2, 3}, make([]int64, 4000000)}}, "table of 4000000 weights"},
	} {
		if _, err := d.Query(c.steps, c.factors...); !errors.Is(err, ErrQuery) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	// Two tables that are small, and large together.
	links := func(a, n int) Factor {
		f := Factor{[]int{a, 3}, make([]int64, n*2000)}
		for i := range f.Weights {
			f.Weights[i] = int64(i/2000+i%2000) % 2
		}
		return f
	}
	big := domain(t, 60, 60, 2, 2000)
	if _, err := big.Query(1, links(0, 60), links(1, 60)); err == nil || !strings.Contains(err.Error(), "table of 7200000 weights") {
		t.Error(err)
	}
	if q, err := big.Query(1, links(0, 60)); err != nil {
		t.Error(err)
	} else if _, err := q.Complement(); err != nil {
		t.Error(err)
	}
	// A weight that is too large where nothing is selected is not there.
	if q, err := d.Query(5, Factor{[]int{0}, []int64{0, 4}}, Factor{[]int{0}, []int64{4, 0}}); err != nil || !q.Everything() {
		t.Error(q, err)
	}
}

func TestBadDomains(t *testing.T) {
	many := make([]string, 1<<14)
	for i := range many {
		many[i] = fmt.Sprint(i)
	}
	for _, c := range []struct {
		attributes []Attribute
		want       string
	}{
		{nil, "no attributes"},
		{[]Attribute{{"", []string{"1"}}}, "has no name"},
		{[]Attribute{{"a", []string{"1"}}, {"a", []string{"1"}}}, `"a" appears twice`},
		{[]Attribute{{"a", nil}}, `"a" has no values`},
		{[]Attribute{{"a", []string{"1", "2", "1"}}}, `the value "1" twice`},
		{[]Attribute{{"a", many}, {"b", many}}, "268435456 cells, and at most 67108864"},
		{[]Attribute{{"a", many}, {"b", many}, {"c", many}, {"d", many}, {"e", many}}, "1180591620717411303424 cells"},
	} {
		if _, err := NewDomain(c.attributes...); !errors.Is(err, errDomain) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	d := domain(t, 2, 3, 4)
	for i := range d.Cells() {
		if d.Cell(d.Codes(i)...) != i {
			t.Errorf("cell %d has codes %v", i, d.Codes(i))
		}
	}
	if d.Cell(0, 0) != -1 || d.Cell(0, 3, 0) != -1 || d.Cell(0, -1, 0) != -1 || d.Codes(24) != nil || d.Codes(-1) != nil {
		t.Error("a cell that is none")
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
