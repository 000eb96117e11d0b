package benchmarks

import (
	"fmt"
	"math/big"
	"testing"

	peer "github.com/google/differential-privacy/go/v3/noise"

	"github.com/discreet-dp/discreet/dp/noise"
)

// BenchmarkNoise draws one sample at a time from Discreet, which is exact, and from
// Google's Go library, whose secure noise is close to exact but is not.
func BenchmarkNoise(b *testing.B) {
	for _, scale := range []int64{1, 100, 1_000_000} {
		b.Run(fmt.Sprintf("laplace/scale=%d/discreet", scale), func(b *testing.B) {
			d, err := noise.NewLaplace(big.NewRat(scale, 1))
			if err != nil {
				b.Fatal(err)
			}
			src := noise.NewSource()
			for b.Loop() {
				d.Draw(src)
			}
		})
		b.Run(fmt.Sprintf("laplace/scale=%d/google", scale), func(b *testing.B) {
			n := peer.Laplace()
			for b.Loop() {
				// Scale is sensitivity over epsilon.
				if _, err := n.AddNoiseInt64(0, 1, scale, 1, 0); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("gaussian/sigma=%d/discreet", scale), func(b *testing.B) {
			d, err := noise.NewGaussian(big.NewRat(scale*scale, 1))
			if err != nil {
				b.Fatal(err)
			}
			src := noise.NewSource()
			for b.Loop() {
				d.Draw(src)
			}
		})
		b.Run(fmt.Sprintf("gaussian/sigma=%d/google", scale), func(b *testing.B) {
			n := peer.Gaussian()
			// At epsilon 1 and delta 1e-5 sigma is about 3.73 sensitivities.
			for b.Loop() {
				if _, err := n.AddNoiseInt64(0, 1, max(1, scale*100/373), 1, 1e-5); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
