package survey

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/noise"
)

// maxValues is the largest domain that is counted value by value.
const maxValues = 1 << 24

// Direct sends a value: the own one with probability E/(E+k-1), or else one of the
// k-1 others, each with probability 1/(E+k-1).
type Direct struct {
	oraclePlan
	lie *coin
}

// NewDirect returns direct encoding of a domain, also known as k-ary randomized
// response and GRR (Kairouz, Bonawitz, Ramage 2016).
func NewDirect(size int, epsilon dp.Amount) (*Direct, error) {
	c, err := reportCost(epsilon)
	if err != nil {
		return nil, err
	}
	if err := checkDomain(size, maxValues); err != nil {
		return nil, err
	}
	return &Direct{oraclePlan{size, c, directRates(size, epsilon)}, newCoin(uint64(size-1), epsilon)}, nil
}

func directRates(size int, epsilon dp.Amount) rates {
	more := math.Expm1(epsilon.Float()) // E - 1
	total := more + float64(size)
	return rates{p: (more + 1) / total, q: 1 / total, gap: more / total}
}

func (*Direct) Name() string { return "direct" }

// Bits returns the length of a number below k.
func (d *Direct) Bits() int { return bits.Len(uint(d.size - 1)) }

// Randomize makes the report of a person who holds a value.
func (d *Direct) Randomize(src *noise.Source, value int) (Report, error) {
	if err := checkValue(value, d.size); err != nil {
		return Report{}, err
	}
	return d.report(sourceRandomness{src}, value), nil
}

func (d *Direct) report(c randomness, value int) Report {
	return Report{Answer: lieOrTell(c, d.lie, uint64(value), uint64(d.size))}
}

// lieOrTell returns the value of k, or one of the others where the coin says to lie. The lie is
// drawn also where it is not told.
func lieOrTell(c randomness, lie *coin, value, k uint64) uint64 {
	lies, by := c.flip(lie), 1+c.below(k-1)
	if !lies {
		by = 0
	}
	if value += by; value >= k {
		value -= k
	}
	return value
}

func (d *Direct) check(r Report) error {
	if r.Answer >= uint64(d.size) {
		return fmt.Errorf("%w: its value is outside the domain", errReport)
	}
	return nil
}

func (d *Direct) sumsLen() int                         { return d.size }
func (d *Direct) add(sums []int64, r Report)           { sums[r.Answer]++ }
func (d *Direct) counts(sums []int64, _ int64) []int64 { return sums }

// maxUnaryBits keeps the reports of oue below 8 kB.
const maxUnaryBits = 1 << 16

// Unary is optimized unary encoding, oue: a bit for each value. That of the person's value is 1
// with probability 1/2, and each other one with probability 1/(E+1), independently.
//
// Two values v and w differ in two bits. The ratio of the probabilities of a report
// is the largest where it has v's bit and not w's,
//
//	(1/2) (E/(E+1)) / ((1/(E+1)) (1/2)) = E,
//
// and the choice of 1/2 has the smallest variance of all pairs with this ratio, where
// few hold a value (Wang, Blocki, Li, Jha 2017).
type Unary struct {
	oraclePlan
	other *coin
}

// NewUnary returns optimized unary encoding of a domain.
func NewUnary(size int, epsilon dp.Amount) (*Unary, error) {
	c, err := reportCost(epsilon)
	if err != nil {
		return nil, err
	}
	if err := checkDomain(size, maxUnaryBits); err != nil {
		return nil, err
	}
	return &Unary{oraclePlan{size, c, unaryRates(epsilon)}, newCoin(1, epsilon)}, nil
}

func unaryRates(epsilon dp.Amount) rates {
	more := math.Expm1(epsilon.Float())
	return rates{p: 0.5, q: 1 / (more + 2), gap: more / (2 * (more + 2))}
}

func (*Unary) Name() string { return "oue" }

// Bits returns k.
func (u *Unary) Bits() int { return u.size }

// Randomize makes the report of a person who holds a value.
func (u *Unary) Randomize(src *noise.Source, value int) (Report, error) {
	if err := checkValue(value, u.size); err != nil {
		return Report{}, err
	}
	return u.report(sourceRandomness{src}, value), nil
}

func (u *Unary) report(c randomness, value int) Report {
	words := make([]uint64, (u.size+63)/64)
	own := c.below(2)
	for i := range u.size {
		if c.flip(u.other) {
			words[i/64] |= 1 << (i % 64)
		}
	}
	// Each bit has been drawn as if it were of a value that is not held, and one is
	// drawn over: the draws are the same, whatever the value is.
	words[value/64] = words[value/64]&^(1<<(value%64)) | own<<(value%64)
	return Report{Bits: words}
}

func (u *Unary) check(r Report) error {
	if len(r.Bits) != (u.size+63)/64 || u.size%64 != 0 && r.Bits[len(r.Bits)-1]>>(u.size%64) != 0 {
		return fmt.Errorf("%w: it does not have %d bits", errReport, u.size)
	}
	return nil
}

func (u *Unary) sumsLen() int { return u.size }

func (u *Unary) add(sums []int64, r Report) {
	for i, w := range r.Bits {
		for ; w != 0; w &= w - 1 {
			sums[64*i+bits.TrailingZeros64(w)]++
		}
	}
}

func (u *Unary) counts(sums []int64, _ int64) []int64 { return sums }

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
	oraclePlan
	buckets uint64
	lie     *coin
}

// maxHashedEpsilon keeps the number of buckets below 2^20.
const maxHashedEpsilon = 13 * dp.One

// NewHashing returns optimal local hashing of a domain into g = round(E) + 1 buckets
// (Wang, Blocki, Li, Jha 2017).
func NewHashing(size int, epsilon dp.Amount) (*Hashing, error) {
	c, err := reportCost(epsilon)
	if err != nil {
		return nil, err
	}
	if err := checkDomain(size, maxValues); err != nil {
		return nil, err
	}
	if epsilon > maxHashedEpsilon {
		return nil, fmt.Errorf("%w: olh takes at most 13; use direct, or oue", errEpsilon)
	}
	g := bucketCount(epsilon)
	return &Hashing{oraclePlan{size, c, hashedRates(epsilon)}, g, newCoin(g-1, epsilon)}, nil
}

func bucketCount(epsilon dp.Amount) uint64 { return uint64(math.Round(math.Exp(epsilon.Float()))) + 1 }

func hashedRates(epsilon dp.Amount) rates {
	more, g := math.Expm1(epsilon.Float()), float64(bucketCount(epsilon))
	return rates{p: (more + 1) / (more + g), q: 1 / g, gap: more / (more + g) * (1 - 1/g)}
}

func (*Hashing) Name() string   { return "olh" }
func (o *Hashing) Buckets() int { return int(o.buckets) }

// Bits returns the length of a hash function and a bucket.
func (o *Hashing) Bits() int { return 2*61 + bits.Len64(o.buckets-1) }

// Randomize makes the report of a person who holds a value.
func (o *Hashing) Randomize(src *noise.Source, value int) (Report, error) {
	if err := checkValue(value, o.size); err != nil {
		return Report{}, err
	}
	return o.report(sourceRandomness{src}, value), nil
}

func (o *Hashing) report(c randomness, value int) Report {
	h := Hash{c.below(prime), c.below(prime)}
	return Report{Hash: h, Answer: lieOrTell(c, o.lie, h.bucket(uint64(value), o.buckets), o.buckets)}
}

func (o *Hashing) check(r Report) error {
	if r.Hash.A >= prime || r.Hash.B >= prime {
		return fmt.Errorf("%w: its hash function does not exist", errReport)
	}
	if r.Answer >= o.buckets {
		return fmt.Errorf("%w: its bucket does not exist", errReport)
	}
	return nil
}

func (o *Hashing) sumsLen() int { return o.size }

// add walks through the domain. The numbers from begin on, width of them, are in the bucket
// of the report, and one step in x adds A modulo P: no product and no division.
func (o *Hashing) add(sums []int64, r Report) {
	begin := firstInBucket(r.Answer, o.buckets)
	width := firstInBucket(r.Answer+1, o.buckets) - begin
	v := r.Hash.B
	for x := range sums {
		_, inside := bits.Sub64(v-begin, width, 0)
		sums[x] += int64(inside)
		// v + A modulo P, without a branch that would be guessed wrong every other time.
		v += r.Hash.A - prime
		v += prime & uint64(int64(v)>>63)
	}
}

// firstInBucket returns the first number that is in bucket i or behind it, ceil(i 2^61/g).
func firstInBucket(i, g uint64) uint64 {
	q, r := bits.Div64(i>>3, i<<61, g)
	if r > 0 {
		q++
	}
	return q
}

func (o *Hashing) counts(sums []int64, _ int64) []int64 { return sums }

// Hadamard is Hadamard response with one bit: a row of the Hadamard matrix is drawn, and the sign
// that the person's value has in it is sent, turned with probability 1/(E+1).
//
// The sign of value x in row j is the parity of j AND x, for K a power of two that is k or more.
// Where x and y differ, the parities of j AND x and of j AND y differ for exactly half of the rows
// j: x XOR y is not zero. So q is 1/2, exactly. All counts come from one fast transform of K log K
// steps, which makes this the oracle of large domains. The price is that a bit says less than a
// bucket out of g where epsilon is large.
type Hadamard struct {
	oraclePlan
	rows uint64 // K
	lie  *coin
}

// NewHadamard returns Hadamard response for a domain.
func NewHadamard(size int, epsilon dp.Amount) (*Hadamard, error) {
	c, err := reportCost(epsilon)
	if err != nil {
		return nil, err
	}
	if err := checkDomain(size, maxValues); err != nil {
		return nil, err
	}
	return &Hadamard{oraclePlan{size, c, hadamardRates(epsilon)}, 1 << bits.Len(uint(size-1)), newCoin(1, epsilon)}, nil
}

func hadamardRates(epsilon dp.Amount) rates {
	more := math.Expm1(epsilon.Float())
	return rates{p: (more + 1) / (more + 2), q: 0.5, gap: more / (2 * (more + 2))}
}

func (*Hadamard) Name() string { return "hadamard" }

// Bits returns the length of a row's number, and one for the sign.
func (h *Hadamard) Bits() int { return bits.Len64(h.rows-1) + 1 }

// Randomize makes the report of a person who holds a value.
func (h *Hadamard) Randomize(src *noise.Source, value int) (Report, error) {
	if err := checkValue(value, h.size); err != nil {
		return Report{}, err
	}
	return h.report(sourceRandomness{src}, value), nil
}

func (h *Hadamard) report(c randomness, value int) Report {
	row := c.below(h.rows)
	return Report{Row: row, Answer: lieOrTell(c, h.lie, parity(row&uint64(value)), 2)}
}

func parity(x uint64) uint64 { return uint64(bits.OnesCount64(x)) & 1 }

func (h *Hadamard) check(r Report) error {
	if r.Row >= h.rows || r.Answer > 1 {
		return fmt.Errorf("%w: its row or sign does not exist", errReport)
	}
	return nil
}

func (h *Hadamard) sumsLen() int               { return int(h.rows) }
func (h *Hadamard) add(sums []int64, r Report) { sums[r.Row] += 1 - 2*int64(r.Answer) }

// counts transforms the sums of signs of the rows: the reports that agree with x less those
// that do not are the sum over the rows, each with its sign of x.
func (h *Hadamard) counts(sums []int64, n int64) []int64 {
	transform(sums)
	for x, s := range sums[:h.size] {
		sums[x] = (n + s) / 2
	}
	return sums[:h.size]
}

// transform is the fast Walsh-Hadamard transform, in place.
func transform(a []int64) {
	for h := 1; h < len(a); h *= 2 {
		for i := 0; i < len(a); i += 2 * h {
			x, y := a[i:i+h], a[i+h:i+2*h]
			for j := range x {
				x[j], y[j] = x[j]+y[j], x[j]-y[j]
			}
		}
	}
}
