package workbench

import (
	"math/big"
	"runtime"
	"sync"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/dp/noise"
)

type drawRequest struct {
	Kind string `json:"kind"` // laplace, geometric or gaussian
	// Parameter is the scale, or the square of sigma, as a decimal number or a fraction.
	Parameter string `json:"parameter"`
	Count     int    `json:"count"`
}

type sampler func(src *noise.Source, into []int64)

func (d *drawRequest) sampler() (sampler, error) {
	if len(d.Parameter) > 1000 {
		return nil, refuseRequest("the parameter is too long")
	}
	parameter, ok := new(big.Rat).SetString(d.Parameter)
	if !ok {
		return nil, refuseRequest("%q is not a number", d.Parameter)
	}
	switch d.Kind {
	case "laplace":
		l, err := noise.NewLaplace(parameter)
		if err != nil {
			return nil, err
		}
		return l.Fill, nil
	case "gaussian":
		g, err := noise.NewGaussian(parameter)
		if err != nil {
			return nil, err
		}
		return g.Fill, nil
	case "geometric":
		g, err := noise.NewGeometric(parameter)
		if err != nil {
			return nil, err
		}
		return func(src *noise.Source, into []int64) {
			for i := range into {
				into[i] = g.Draw(src)
			}
		}, nil
	}
	return nil, refuseRequest("there is no noise %q; the kinds are laplace, gaussian and geometric", d.Kind)
}

func draw(r *request) (*reply, error) {
	var d drawRequest
	if err := r.decode(&d); err != nil {
		return nil, err
	}
	if d.Count < 0 || d.Count > maxDraws {
		return nil, refuseRequest("draw from 0 to %d numbers at once", maxDraws)
	}
	fill, err := d.sampler()
	if err != nil {
		return nil, err
	}
	out := make([]int64, d.Count)
	fillInParallel(fill, out)
	return &reply{struct{}{}, integerBytes(out)}, nil
}

// fillInParallel fills on all processors, each with randomness of its own.
func fillInParallel(fill sampler, out []int64) {
	const least = 1 << 14 // fewer are not worth a processor
	workers := min(runtime.GOMAXPROCS(0), 1+len(out)/least)
	part := (len(out) + workers - 1) / workers
	var all sync.WaitGroup
	for i := range workers {
		mine := out[min(len(out), i*part):min(len(out), (i+1)*part)]
		all.Go(func() { fill(noise.NewSource(), mine) })
	}
	all.Wait()
}

type releaseRequest struct {
	Kind string `json:"kind"` // laplace or gaussian
	// Sensitivity is how far one person moves all numbers together, in whole numbers: the sum of
	// the distances for laplace, and the sum of their squares for gaussian.
	Sensitivity string `json:"sensitivity"`
	// Price is an epsilon for laplace, and a rho for gaussian.
	Price string `json:"price"`
	// Beta is the probability with which one number is further off than the error.
	Beta  float64 `json:"beta"`
	Count int     `json:"count"`
}

type releaseReply struct {
	Error     int64   `json:"error"`
	Cost      dp.Cost `json:"cost"`
	Parameter string  `json:"parameter"`
}

func (q *releaseRequest) mechanism() (interface {
	mech.Mechanism
	HalfWidth(beta float64) int64
	Parameter() *big.Rat
}, error) {
	price, err := dp.Parse(q.Price)
	if err != nil {
		return nil, refuseRequest("the price: %v", err)
	}
	moved, ok := new(big.Int).SetString(q.Sensitivity, 10)
	if !ok || moved.Sign() <= 0 || len(q.Sensitivity) > 60 {
		return nil, refuseRequest("the sensitivity %q is not a whole number above 0", q.Sensitivity)
	}
	switch q.Kind {
	case "laplace":
		return refuseParameters(mech.NewLaplace(dp.NewL1(moved), price))
	case "gaussian":
		return refuseParameters(mech.NewGaussian(dp.NewL2Squared(moved), price))
	}
	return nil, refuseRequest("there is no mechanism %q; the mechanisms are laplace and gaussian", q.Kind)
}

// refuseParameters says what is wrong with the parameters of a mechanism, which are all public.
func refuseParameters[M any](m M, err error) (M, error) {
	if err != nil {
		err = refuseRequest("%v", err)
	}
	return m, err
}

func release(r *request) (*reply, error) {
	q := releaseRequest{Beta: 0.05}
	if err := r.decode(&q); err != nil {
		return nil, err
	}
	if q.Count < 0 || q.Count > maxDraws {
		return nil, refuseRequest("release from 0 to %d numbers at once", maxDraws)
	}
	if !(q.Beta > 0 && q.Beta < 1) {
		return nil, refuseRequest("beta must be a probability above 0 and below 1")
	}
	m, err := q.mechanism()
	if err != nil {
		return nil, err
	}
	values := make([]int64, 0, q.Count)
	if err := r.numbers(q.Count, func(v uint64) { values = append(values, int64(v)) }); err != nil {
		return nil, err
	}
	noisy := mech.NewReleaser(noise.NewSource()).Release(mech.Seal(values...), m)
	return &reply{releaseReply{m.HalfWidth(q.Beta), m.Cost(), m.Parameter().RatString()}, integerBytes(noisy)}, nil
}
