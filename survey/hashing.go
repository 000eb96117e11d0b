package survey

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/noise"
)

// prime is the Mersenne prime that hashes are taken modulo.
const prime = 1<<61 - 1

// Hash is the function h(x) = floor(g (Ax + B mod P) / 2^61) into g buckets, with
// P = 2^61 - 1 and A, B below it (Carter, Wegman 1979).
//
// Drawn uniformly, it is universal: for x and y that differ, (A, B) -> (Ax+B, Ay+B)
// is a bijection of the pairs modulo P, so both are uniform and independent. Bucket i
// is an interval of n_i numbers, and |n_i - P/g| < 2, so
//
//	P(h(x) = h(y)) = sum of (n_i/P)^2 = 1/g + sum of (n_i/P - 1/g)^2
//
// is between 1/g and 1/g + 4g/P^2, and g is below 2^20: 1/g to within 2^-99. No
// more than that is needed. A person who holds v supports another x with probability
//
//	P(h(x) = h(v)) p + P(h(x) != h(v)) (1-p)/(g-1),
//
// which is 1/g where the first is. Different people have hashes of their own, so the
// bits that make up a count are independent, and that pairs of values are
// independent, and not triples, is seen by no count of a single value.
type Hash struct {
	A uint64 `json:"a"`
	B uint64 `json:"b"`
}

// start is the hash of x before it is put into a bucket.
func (h Hash) start(x uint64) uint64 {
	hi, lo := bits.Mul64(h.A, x)
	lo, carry := bits.Add64(lo, h.B, 0)
	hi += carry
	// 2^61 is 1 modulo P, and x is below 2^24, so two folds and a subtraction suffice.
	v := lo&prime + (hi<<3 | lo>>61)
	if v = v&prime + v>>61; v >= prime {
		v -= prime
	}
	return v
}

// bucket returns h(x).
func (h Hash) bucket(x, g uint64) uint64 {
	hi, _ := bits.Mul64(h.start(x)<<3, g)
	return hi
}

// Hashing is optimal local hashing, olh: the person's value is hashed into g buckets
// by a hash function of their own, and the bucket is sent as by direct encoding,
// together with the hash function. It does as well as oue, in few bits, and takes the
// collector one step for each report and value.
//
// For every hash function the bucket is epsilon-private, and the hash function is
// drawn without the value. So both together are.
type Hashing struct {
	plan
	buckets uint64
	lie     *coin
}

// mostHashed keeps the number of buckets below 2^20.
const mostHashed = 13 * dp.One

// NewHashing returns optimal local hashing of a domain into g = round(E) + 1 buckets
// (Wang, Blocki, Li, Jha 2017).
func NewHashing(size int, epsilon dp.Amount) (*Hashing, error) {
	c, err := cost(epsilon)
	if err != nil {
		return nil, err
	}
	if err := checkDomain(size, mostValues); err != nil {
		return nil, err
	}
	if epsilon > mostHashed {
		return nil, fmt.Errorf("%w: olh takes at most 13; use direct, or oue", ErrEpsilon)
	}
	g := hashedInto(epsilon)
	return &Hashing{plan{size, c, hashedRates(epsilon)}, g, newCoin(g-1, epsilon)}, nil
}

func hashedInto(epsilon dp.Amount) uint64 { return uint64(math.Round(math.Exp(epsilon.Float()))) + 1 }

func hashedRates(epsilon dp.Amount) rates {
	more, g := math.Expm1(epsilon.Float()), float64(hashedInto(epsilon))
	return rates{p: (more + 1) / (more + g), q: 1 / g, gap: more / (more + g) * (1 - 1/g)}
}

// Name returns "olh".
func (*Hashing) Name() string { return "olh" }

// Buckets returns g.
func (o *Hashing) Buckets() int { return int(o.buckets) }

// Bits returns the length of a hash function and a bucket.
func (o *Hashing) Bits() int { return 2*61 + bits.Len64(o.buckets-1) }

// Randomize makes the report of a person who holds a value.
func (o *Hashing) Randomize(src *noise.Source, value int) (Report, error) {
	if err := checkValue(value, o.size); err != nil {
		return Report{}, err
	}
	return o.report(dice{src}, value), nil
}

func (o *Hashing) report(c randomness, value int) Report {
	h := Hash{c.below(prime), c.below(prime)}
	return Report{Hash: h, Answer: turn(c, o.lie, h.bucket(uint64(value), o.buckets), o.buckets)}
}

func (o *Hashing) check(r Report) error {
	if r.Hash.A >= prime || r.Hash.B >= prime {
		return fmt.Errorf("%w: its hash function is none", ErrReport)
	}
	if r.Answer >= o.buckets {
		return fmt.Errorf("%w: there is no such bucket", ErrReport)
	}
	return nil
}

func (o *Hashing) room() int { return o.size }

// add walks through the domain. The numbers from begin on, width of them, are in the bucket
// of the report, and one step in x adds A modulo P: no product and no division.
func (o *Hashing) add(sums []int64, r Report) {
	begin := firstIn(r.Answer, o.buckets)
	width := firstIn(r.Answer+1, o.buckets) - begin
	v := r.Hash.B
	for x := range sums {
		_, inside := bits.Sub64(v-begin, width, 0)
		sums[x] += int64(inside)
		// v + A modulo P, without a branch that would be guessed wrong every other time.
		v += r.Hash.A - prime
		v += prime & uint64(int64(v)>>63)
	}
}

// firstIn returns the first number that is in bucket i or behind it, ceil(i 2^61/g).
func firstIn(i, g uint64) uint64 {
	q, r := bits.Div64(i>>3, i<<61, g)
	if r > 0 {
		q++
	}
	return q
}

func (o *Hashing) counts(sums []int64, _ int64) []int64 { return sums }
