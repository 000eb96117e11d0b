package mech

import (
	"io"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/entropy"
)

func amount(t testing.TB, text string) dp.Amount {
	t.Helper()
	a, err := dp.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func l1(d int64) dp.Sensitivity        { return dp.NewL1(big.NewInt(d)) }
func l2squared(d int64) dp.Sensitivity { return dp.NewL2Squared(big.NewInt(d)) }

func laplace(t testing.TB, d int64, epsilon string) *Laplace {
	t.Helper()
	m, err := NewLaplace(l1(d), amount(t, epsilon))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func gaussian(t testing.TB, d2 int64, rho string) *Gaussian {
	t.Helper()
	m, err := NewGaussian(l2squared(d2), amount(t, rho))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func radial(t testing.TB, d2 int64, n int, epsilon string) *Radial {
	t.Helper()
	m, err := NewRadial(l2squared(d2), n, amount(t, epsilon))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// stream is a deterministic stream of random bytes that counts what was read.
type stream struct {
	r    io.Reader
	read int
}

func newStream(seed byte) *stream {
	var key [32]byte
	key[0] = seed
	return &stream{r: rand.NewChaCha8(key)}
}

func (s *stream) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	s.read += n
	return n, err
}

func seeded(seed byte) *Releaser { return NewReleaser(entropy.FromReader(newStream(seed))) }

// under is a mechanism under test: Release with a mechanism, or something that
// was broken on purpose.
type under func(r *Releaser, x []int64) []int64

func with(m Mechanism) under {
	return func(r *Releaser, x []int64) []int64 { return r.Release(Exactly(x...), m) }
}
