package noise

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/internal/entropy"
)

func seededSource(seed byte) *Source {
	return entropy.FromReader(rand.NewChaCha8([32]byte{seed, 'r'}))
}

var makers = map[string]func(*Source, int) *Reals{"radial": NewRadial, "normals": NewNormals}

func bound(bits uint) *big.Float { return new(big.Float).SetMantExp(big.NewFloat(1), -int(bits)) }

func apart(a, b *big.Float) *big.Float {
	d := new(big.Float).SetPrec(max(a.Prec(), b.Prec())+64).Sub(a, b)
	return d.Abs(d)
}

// TestRefinement: every approximation is within its bound of a much better one, which
// others asked for in another order. Two errors add up.
func TestRefinement(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Byte().Draw(t, "seed")
		name := rapid.SampledFrom([]string{"radial", "normals"}).Draw(t, "kind")
		n := rapid.IntRange(0, 6).Draw(t, "n")
		const best = 700
		at := makers[name](seededSource(seed), n)
		want := at.Approximate(best)
		r := makers[name](seededSource(seed), n)
		for _, bits := range rapid.SliceOfN(rapid.UintRange(0, 600), 1, 5).Draw(t, "bits") {
			if rapid.Bool().Draw(t, "round") {
				r.Round(big.NewRat(1, 3))
			}
			got := r.Approximate(bits)
			if len(got) != n || r.Len() != n {
				t.Fatalf("%d numbers, want %d", len(got), n)
			}
			most := new(big.Float).Add(bound(bits), bound(best))
			for i := range got {
				if d := apart(got[i], want[i]); d.Cmp(most) > 0 {
					t.Fatalf("%s: number %d at %d bits is off by %v", name, i, bits, d)
				}
			}
		}
		last := r.Approximate(best)
		for i := range last {
			if last[i].Cmp(want[i]) != 0 {
				t.Fatalf("%s: number %d depends on who asked before", name, i)
			}
		}
	})
}

// TestApproximateIsWithin: the errors are within their bounds where these are about as long as the
// intervals that the digits tell.
func TestApproximateIsWithin(t *testing.T) {
	for seed := range byte(40) {
		want := NewRadial(seededSource(seed), 6).Approximate(700)
		for bits := uint(50); bits < 66; bits++ {
			for i, x := range NewRadial(seededSource(seed), 6).Approximate(bits) {
				if apart(x, want[i]).Cmp(new(big.Float).Add(bound(bits), bound(700))) > 0 {
					t.Fatalf("seed %d, %d bits: number %d is off by %v", seed, bits, i, apart(x, want[i]))
				}
			}
		}
	}
}

// TestReferenceRadial computes the vector once more from its digits, in floating
// point of many digits.
func TestReferenceRadial(t *testing.T) {
	for seed := range byte(20) {
		n := 1 + int(seed)
		r := NewRadial(seededSource(seed), n)
		got := r.Approximate(200)
		const prec = 2000
		number := func(p positive) *big.Float {
			v := new(big.Float).SetPrec(prec).SetUint64(p.whole)
			for i := range 12 {
				w := new(big.Float).SetPrec(prec).SetUint64(p.part.at(i, r.src))
				v.Add(v, w.SetMantExp(w, -wordBits*(i+1)))
			}
			return v
		}
		length, squares := new(big.Float).SetPrec(prec), new(big.Float).SetPrec(prec)
		for _, x := range r.steps {
			length.Add(length, number(x))
		}
		for _, z := range r.normals {
			v := number(z.positive)
			squares.Add(squares, v.Mul(v, v))
		}
		squares.Sqrt(squares)
		for i, z := range r.normals {
			v := number(z.positive)
			v.Mul(v, length).Quo(v, squares)
			if z.minus {
				v.Neg(v)
			}
			if apart(v, got[i]).Cmp(bound(200)) > 0 {
				t.Errorf("n %d: number %d is %v, want %v", n, i, got[i].Text('g', 30), v.Text('g', 30))
			}
		}
	}
}

// TestRound compares with the best approximation, and the order of asking changes nothing.
func TestRound(t *testing.T) {
	for _, text := range []string{"1/1000000", "1/2", "1", "12345.678", "1e12", "1e18", "1e30"} {
		scale := rat(text)
		for name, make := range makers {
			r := make(seededSource(3), 50)
			got := r.Round(scale)
			other := make(seededSource(3), 50)
			other.Approximate(500)
			again := other.Round(scale)
			for i, x := range r.Approximate(300) {
				v, _ := x.Rat(nil)
				v.Mul(v, scale)
				// floor(v + 1/2), clamped
				v.Add(v, rat("1/2"))
				want := new(big.Int).Div(v.Num(), v.Denom())
				if !want.IsInt64() {
					want.SetInt64(int64(want.Sign()) * math.MaxInt64)
				}
				if got[i] != want.Int64() || got[i] != again[i] {
					t.Errorf("%s times %s, number %d: %d and %d, want %d", name, text, i, got[i], again[i], want)
				}
			}
		}
	}
	mustPanic(t, func() { NewRadial(NewSource(), 1).Round(new(big.Rat)) })
}

// TestRoundRefines rounds numbers that are next to a half in the first 190 digits.
func TestRoundRefines(t *testing.T) {
	// 2/3 of 0.11000..., and a little more. What is known to be at or above a half is rounded up.
	f := &fraction{first: 3 << 62, n: 1}
	r := &Reals{src: entropy.FromReader(&headReader{head: word(0, 0, 1)}), normals: []normal{{positive{0, f}, true}}}
	if got := r.Round(rat("2/3")); got[0] != -1 {
		t.Errorf("just above a half became %d", got[0])
	}
	// 3/2 of 0.010101..., and a little less.
	f = &fraction{first: 0x5555555555555555, n: 1}
	r = &Reals{src: entropy.FromReader(&headReader{head: word(0x5555555555555555, 0x5555555555555555, 0x5555555555555554)}),
		normals: []normal{{positive{0, f}, true}}}
	if got := r.Round(rat("3/2")); got[0] != 0 || r.words != 4 {
		t.Errorf("just below a half became %d after %d words", got[0], r.words)
	}
}

// TestLess compares words that agree in the beginning.
func TestLess(t *testing.T) {
	values := []uint64{0, 1, math.MaxUint64}
	var all [][]uint64
	for _, a := range values {
		for _, b := range values {
			for _, c := range values {
				all = append(all, []uint64{a, b, c})
			}
		}
	}
	for _, u := range all {
		for _, v := range all {
			want, words := 0, 0
			for i := 0; i < 3 && want == 0; i++ {
				words++
				switch {
				case u[i] < v[i]:
					want = -1
				case u[i] > v[i]:
					want = 1
				}
			}
			if want == 0 {
				continue
			}
			f := &headReader{head: word(u[0], v[0], u[1], v[1], u[2], v[2])}
			d := &sourceComparisons{src: entropy.FromReader(f)}
			a, b := d.newFraction(), d.newFraction()
			if got := d.less(a, b); got != (want < 0) || f.read != 16*words {
				t.Fatalf("%x < %x is %v, from %d bytes", u, v, got, f.read)
			}
			for i := range words {
				if a.at(i, nil) != u[i] || b.at(i, nil) != v[i] {
					t.Fatal("a digit changed")
				}
			}
			// Compared again, nothing is drawn.
			if d.less(a, b) != (want < 0) || d.less(b, a) != (want > 0) || f.read != 16*words {
				t.Fatal("the second comparison is another")
			}
		}
	}
	// A constant draws nothing.
	f := &headReader{head: word(1<<63, 0, 5)}
	d := &sourceComparisons{src: entropy.FromReader(f)}
	if d.less(d.newFraction(), oneHalf) || f.read != 24 {
		t.Errorf("1/2 and a little is below 1/2, from %d bytes", f.read)
	}
}

type recorder struct {
	*sourceComparisons
	seen []compared
}

type compared struct {
	u, v *fraction
	less bool
}

func (w *recorder) less(u, v *fraction) bool {
	yes := w.sourceComparisons.less(u, v)
	w.seen = append(w.seen, compared{u, v, yes})
	return yes
}

// TestEarlyDecisions: a comparison that was made with the first digits is that of the
// numbers, when more digits of all of them are drawn. Words of few digits make many ties.
func TestEarlyDecisions(t *testing.T) {
	coarse := entropy.FromReader(&coarseReader{rand.NewChaCha8([32]byte{5})})
	ties := 0
	for range 2000 {
		w := &recorder{sourceComparisons: &sourceComparisons{src: coarse}}
		exponential(w)
		newNormal(w)
		for _, c := range w.seen {
			if max(c.u.n, c.v.n) > 1 {
				ties++
			}
		}
		whole := func(f *fraction) *big.Int { return positive{0, f}.encloseAll(8, coarse).lo }
		for _, c := range w.seen {
			if got := whole(c.u).Cmp(whole(c.v)) < 0; got != c.less {
				t.Fatalf("decided %v with the first digits and %v with more", c.less, got)
			}
		}
	}
	if ties < 1000 {
		t.Errorf("only %d recorder needed a second word", ties)
	}
}

// encloseAll draws what is missing, and encloses.
func (p positive) encloseAll(words int, src *Source) span {
	p.part.at(words-1, src)
	return p.enclose(words)
}

// coarseReader has words that begin with three random bits and end with zeros.
type coarseReader struct{ r *rand.ChaCha8 }

func (c *coarseReader) Read(p []byte) (int, error) {
	clear(p)
	p[0] = byte(c.r.Uint64()) & 0xe0
	return len(p), nil
}

func TestRealsAreHidden(t *testing.T) {
	r := NewNormals(seededSource(1), 3)
	for _, verb := range []string{"%v", "%+v", "%#v", "%d", "%s", "%x"} {
		if text := fmt.Sprintf(verb, r); text != "[noise]" || strings.Contains(text, "0x") {
			t.Errorf("%s: %s", verb, text)
		}
	}
}

func BenchmarkReals(b *testing.B) {
	for _, n := range []int{105, 1000} {
		src := NewSource()
		b.Run(fmt.Sprintf("radial/n=%d/round", n), func(b *testing.B) {
			for b.Loop() {
				NewRadial(src, n).Round(rat("12345.678"))
			}
		})
		b.Run(fmt.Sprintf("radial/n=%d/bits=100", n), func(b *testing.B) {
			for b.Loop() {
				NewRadial(src, n).Approximate(100)
			}
		})
		b.Run(fmt.Sprintf("normals/n=%d/bits=60", n), func(b *testing.B) {
			for b.Loop() {
				NewNormals(src, n).Approximate(60)
			}
		})
	}
}

// TestAlongEncloses: for all numbers in the intervals, the quotient is in the interval that comes
// out. With few digits the rounding matters most. lo <= L z/|z| <= hi is compared as lo^2 |z|^2 <=
// L^2 z^2 <= hi^2 |z|^2, in whole quarters of a unit.
func TestAlongEncloses(t *testing.T) {
	const parts = 4
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 4).Draw(t, "n")
		number := func(name string, bits int) (span, *big.Int) {
			lo := rapid.Int64Range(0, int64(1)<<bits).Draw(t, name)
			wide := rapid.Int64Range(1, 4).Draw(t, "width")
			// The ends are the hardest.
			at := rapid.SampledFrom([]int64{0, 0, 0, wide * parts, wide * parts, 1, parts}).Draw(t, "place")
			return span{big.NewInt(lo), big.NewInt(lo + wide)}, big.NewInt(lo*parts + at)
		}
		// A long vector shows the rounding of a short norm.
		size := rapid.IntRange(1, 20).Draw(t, "size")
		length, l := number("length", rapid.IntRange(size, 55).Draw(t, "size of the length"))
		z, x, squares := make([]span, n), make([]*big.Int, n), new(big.Int)
		for i := range z {
			z[i], x[i] = number("z", rapid.IntRange(1, size).Draw(t, "size of z"))
			squares.Add(squares, new(big.Int).Mul(x[i], x[i]))
		}
		out, ok := scaleTo(length, z)
		if !ok {
			for _, s := range z {
				if s.lo.Sign() > 0 {
					t.Fatal("a norm above zero was not believed")
				}
			}
			return
		}
		square := func(v *big.Int) *big.Int { return new(big.Int).Mul(v, v) }
		for i := range z {
			product := square(new(big.Int).Mul(l, x[i])) // parts^4 times (L z)^2
			lo, hi := square(out[i].lo), square(out[i].hi)
			scale := big.NewInt(parts * parts)
			lo.Mul(lo, squares).Mul(lo, scale) // parts^2 from the squares
			hi.Mul(hi, squares).Mul(hi, scale)
			if lo.Cmp(product) > 0 || hi.Cmp(product) < 0 {
				t.Fatalf("number %d is not in its interval", i)
			}
		}
	})
}

// TestAlongRoundsTheNormUp: the norm of (1, 1001) is above 1001, and a long vector shows it.
func TestAlongRoundsTheNormUp(t *testing.T) {
	at := func(lo int64) span { return span{big.NewInt(lo), big.NewInt(lo + 1)} }
	out, ok := scaleTo(at(1<<50), []span{at(1), at(1000)})
	if !ok {
		t.Fatal("a norm above zero was not believed")
	}
	// 2^50/sqrt(1 + 1001^2) is in the interval, so lo^2 (1 + 1001^2) <= 2^100.
	lo := new(big.Int).Mul(out[0].lo, out[0].lo)
	if lo.Mul(lo, big.NewInt(1+1001*1001)).Cmp(new(big.Int).Lsh(bigOne, 100)) > 0 {
		t.Errorf("the interval begins at %v, too far right", out[0].lo)
	}
}
