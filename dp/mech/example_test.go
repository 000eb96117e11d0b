package mech_test

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"sort"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/dp/noise"
	"github.com/discreet-dp/discreet/internal/lab/utility"
)

// A histogram of people: adding or removing one person moves one count by one.
func Example() {
	epsilon, _ := dp.Parse("0.5")
	m, err := mech.NewLaplace(dp.NewL1(big.NewInt(1)), epsilon)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("scale", m.Parameter().RatString())
	fmt.Printf("epsilon %v, rho %.4f\n", m.Cost().Epsilon, m.Cost().Rho.Float())
	fmt.Println("95 % of the counts are within", m.HalfWidth(0.05))

	total, _ := mech.HalfWidthOfSum(0.05, mech.Term{Mechanism: m, Count: 3, Weight: 1})
	fmt.Println("95 % of the sums of three are within", total)

	histogram := mech.Seal(120, 45, 0)
	fmt.Println("exact:", histogram)
	noisy := mech.NewReleaser(noise.NewSource()).Release(histogram, m)
	fmt.Println("released:", len(noisy), "noisy counts")

	// The mean of values from 0 to 100, out of a noisy sum and a noisy count.
	mean, half := mech.RatioInterval(mech.Noisy{Value: 6000, HalfWidth: 300}, mech.Noisy{Value: 120, HalfWidth: 6}, 0, 100)
	fmt.Printf("mean %.1f, give or take %.2f\n", mean, half)
	// Output:
	// scale 2
	// epsilon 0.5, rho 0.1225
	// 95 % of the counts are within 6
	// 95 % of the sums of three are within 10
	// exact: [exact]
	// released: 3 noisy counts
	// mean 50.0, give or take 5.26
}

// Pure noise for a vector that moves by at most 100 steps in the Euclidean norm, whichever
// way: ten trained weights, for example.
func ExampleNewRadial() {
	m, err := mech.NewRadial(dp.NewL2Squared(big.NewInt(10_000)), 10, dp.One)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("scale", m.Parameter().RatString())
	fmt.Printf("epsilon %v, rho %.4f\n", m.Cost().Epsilon, m.Cost().Rho.Float())
	fmt.Println("95 % of the weights are within", m.HalfWidth(0.05))
	noisy := mech.NewReleaser(noise.NewSource()).Release(mech.Seal(make([]int64, 10)...), m)
	fmt.Println("released:", len(noisy), "noisy weights")
	// Output:
	// scale 100
	// epsilon 1, rho 0.4621
	// 95 % of the weights are within 691
	// released: 10 noisy weights
}

// must is for examples: a program looks at its errors.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// theorem bounds the probability that the choice is gap or more below the best of n:
// exp(-t) at gap = b (ln n + t).
func theorem(n int, gap, b float64) float64 { return float64(n) * math.Exp(-gap/b) }

// The most common hair colour: one person more moves one count by one.
func ExampleNewExponential() {
	m := must(mech.NewExponential(mech.Scoring{Sensitivity: 1}, must(dp.Parse("0.1"))))
	counts := mech.Seal(500, 400, 60, 40)
	i := must(mech.NewReleaser(noise.NewSource()).Select(counts, m))
	fmt.Println("chose one of four:", i >= 0 && i < 4)
	fmt.Printf("costs epsilon %v, or rho %.5f\n", m.Cost().Epsilon, m.Cost().Rho.Float())

	b, _ := m.Parameter().Float64()
	law := must(utility.Selection{Epsilon: 0.1, Sensitivity: 1}.Exponential([]float64{500, 400, 60, 40}))
	fmt.Printf("not the most common: at most %.3f by the theorem, %.4f exactly\n", theorem(4, 100, b), 1-law.Probabilities()[0])
	// Output:
	// chose one of four: true
	// costs epsilon 0.1, or rho 0.00125
	// not the most common: at most 0.027 by the theorem, 0.0067 exactly
}

// The best meeting date: everybody names all the dates that suit, and one person
// more lowers no count. However many dates somebody names, each count moves by one.
func ExampleNewPermuteAndFlip() {
	m := must(mech.NewPermuteAndFlip(mech.Scoring{Sensitivity: 1, Monotone: true}, must(dp.Parse("0.5"))))
	dates := mech.Seal(31, 44, 40, 12, 38)
	i := must(mech.NewReleaser(noise.NewSource()).Select(dates, m))
	fmt.Println("chose one of five:", i >= 0 && i < 5)

	b, _ := m.Parameter().Float64()
	s := utility.Selection{Epsilon: 0.5, Sensitivity: 1, Monotone: true}
	counts := []float64{31, 44, 40, 12, 38}
	flip, exp := must(s.PermuteAndFlip(counts)), must(s.Exponential(counts))
	fmt.Printf("not the best: at most %.2f by the theorem, %.3f exactly, %.3f by the exponential mechanism\n",
		theorem(5, 4, b), 1-flip.Probabilities()[1], 1-exp.Probabilities()[1])
	fmt.Printf("people left out on average: %.2f, and %.2f\n", flip.ExpectedError(), exp.ExpectedError())
	// Output:
	// chose one of five: true
	// not the best: at most 0.68 by the theorem, 0.091 exactly, 0.157 by the exponential mechanism
	// people left out on average: 0.42, and 0.72
}

// Which price earns most from sealed bids? 300 people bid 1.00 and 100 bid 3.01. A price a little
// too high earns next to nothing, so noise on the price would not do; the exponential mechanism
// scores each price by what it earns. One bidder moves that by the price at most, 302 cents.
func ExampleReleaser_Select_price() {
	prices := []int64{100, 101, 301, 302}
	earned := []int64{400 * 100, 100 * 101, 100 * 301, 0}
	m := must(mech.NewExponential(mech.Scoring{Sensitivity: 302, Monotone: true}, must(dp.Parse("0.2"))))
	i := must(mech.NewReleaser(noise.NewSource()).Select(mech.Seal(earned...), m))
	fmt.Println("a price on the list:", prices[i] > 0)

	b, _ := m.Parameter().Float64()
	law := must(utility.Selection{Epsilon: 0.2, Sensitivity: 302, Monotone: true}.Exponential([]float64{40000, 10100, 30100, 0}))
	fmt.Printf("not 1.00: at most %.4f by the theorem, %.4f exactly\n", theorem(4, 9900, b), 1-law.Probabilities()[0])
	fmt.Printf("earned on average: %.0f cents of 40000\n", 40000-law.ExpectedError())
	// Output:
	// a price on the list: true
	// not 1.00: at most 0.0057 by the theorem, 0.0014 exactly
	// earned on average: 39986 cents of 40000
}

// Laplace noise is an exponential mechanism: the candidates are all answers, and the
// score is minus the distance from the true one. The general proof gives noise of scale
// 2D/epsilon, twice as much as the proof made for Laplace noise.
func ExampleNewExponential_laplace() {
	m := must(mech.NewExponential(mech.Scoring{Sensitivity: 1}, dp.One))
	l := must(mech.NewLaplace(dp.NewL1(big.NewInt(1)), dp.One))
	fmt.Println("scale by the general proof", m.Parameter().RatString(), "and by its own", l.Parameter().RatString())

	var scores []float64
	for y := -60.0; y <= 60; y++ {
		scores = append(scores, -math.Abs(y))
	}
	law := must(utility.Selection{Epsilon: 1, Sensitivity: 1}.Exponential(scores)).Probabilities()
	q := math.Exp(-0.5)
	for d := range 3 {
		fmt.Printf("off by %d: %.6f, Laplace noise of scale 2: %.6f\n", d, law[60+d], (1-q)/(1+q)*math.Pow(q, float64(d)))
	}
	// Output:
	// scale by the general proof 2 and by its own 1
	// off by 0: 0.244919, Laplace noise of scale 2: 0.244919
	// off by 1: 0.148551, Laplace noise of scale 2: 0.148551
	// off by 2: 0.090101, Laplace noise of scale 2: 0.090101
}

// Counts of disjoint groups have the l1 sensitivity 1, m counts of groups that
// overlap have m. A selection by them has the sensitivity 1 in both cases.
func ExampleScoring_counts() {
	const m = 50
	epsilon := dp.One
	disjoint := must(mech.NewLaplace(dp.NewL1(big.NewInt(1)), epsilon))
	general := must(mech.NewLaplace(dp.NewL1(big.NewInt(m)), epsilon))
	choice := must(mech.NewNoisyMax(mech.LaplaceNoise, mech.Scoring{Sensitivity: 1, Monotone: true}, epsilon))
	fmt.Println("all counts of disjoint groups: scale", disjoint.Parameter().RatString())
	fmt.Println("all counts of", m, "groups that overlap: scale", general.Parameter().RatString())
	fmt.Println("which of them is the largest: scale", choice.Parameter().RatString())
	// Output:
	// all counts of disjoint groups: scale 1
	// all counts of 50 groups that overlap: scale 50
	// which of them is the largest: scale 1
}

// A histogram under both neighbouring relations. A person who is replaced leaves one
// count and joins another: twice the noise for the counts, and scores that no
// longer move the same way, so twice the noise for the largest of them.
func ExampleScoring_histogram() {
	epsilon := dp.One
	for _, n := range []struct {
		relation dp.Neighbours
		l1       int64
		scores   mech.Scoring
	}{
		{dp.AddRemove, 1, mech.Scoring{Sensitivity: 1, Monotone: true}},
		{dp.Substitute, 2, mech.Scoring{Sensitivity: 1}},
	} {
		all := must(mech.NewLaplace(dp.NewL1(big.NewInt(n.l1)), epsilon))
		largest := must(mech.NewPermuteAndFlip(n.scores, epsilon))
		fmt.Printf("%v: Laplace noise of scale %s, selection with b = %s\n", n.relation, all.Parameter().RatString(),
			largest.Parameter().RatString())
	}
	// Output:
	// add-remove: Laplace noise of scale 1, selection with b = 1
	// substitute: Laplace noise of scale 2, selection with b = 2
}

func ExampleNewNoisyMax() {
	s := mech.Scoring{Sensitivity: 1}
	for _, form := range []mech.NoisyMaxForm{mech.LaplaceNoise, mech.GeometricNoise, mech.GumbelNoise} {
		m := must(mech.NewNoisyMax(form, s, dp.One))
		fmt.Printf("%s: b = %s, rho %.4f\n", m.Name(), m.Parameter().RatString(), m.Cost().Rho.Float())
	}
	// Output:
	// noisy max, laplace: b = 2, rho 0.4621
	// noisy max, geometric: b = 2, rho 0.4621
	// exponential: b = 2, rho 0.1250
}

func ExampleTopK() {
	each := must(mech.NewExponential(mech.Scoring{Sensitivity: 1, Monotone: true}, must(dp.Parse("0.2"))))
	top := must(mech.NewTopK(3, each))
	fmt.Printf("%s: epsilon %v, rho %v\n", top.Name(), top.Cost().Epsilon, top.Cost().Rho)
	// The counts are so far apart that another order has a probability below 1e-8.
	names := []string{"tea", "coffee", "water", "juice"}
	for _, i := range must(mech.NewReleaser(noise.NewSource()).SelectTop(mech.Seal(700, 900, 500, 100), top)) {
		fmt.Println(names[i])
	}
	// Output:
	// top 3, exponential: epsilon 0.6, rho 0.015
	// coffee
	// tea
	// water
}

func ExampleChooseSelector() {
	s := mech.Scoring{Sensitivity: 1}
	for _, b := range []mech.Currency{mech.Pure, mech.Concentrated} {
		_, why, err := mech.ChooseSelector(b, dp.One/8, s)
		fmt.Println(why, err)
	}
	// Output:
	// permute-and-flip with epsilon 0.125: this budget buys the exponential mechanism the same epsilon, and permute-and-flip is never worse <nil>
	// exponential mechanism with epsilon 1: rho 0.125 buys permute-and-flip only an epsilon of 0.50527, because the exponential mechanism costs epsilon^2/8 and any other pure mechanism epsilon tanh(epsilon/2) <nil>
}

// Quartiles of the ages of 2,001 people, from 0 to 120 years.
func ExampleQuantiles() {
	q := must(mech.NewQuantiles(mech.QuantileQuery{
		At:  []*big.Rat{big.NewRat(1, 4), big.NewRat(1, 2), big.NewRat(3, 4)},
		Low: 0, High: 120, PerUnit: 1,
	}, mech.Pure, dp.One))
	alpha := q.RankError(0.05)
	fmt.Printf("epsilon %v: with 95 %% all three are within %.1f ranks of 2001\n", q.Cost().Epsilon, alpha)

	var ages []int64
	for i := range int64(2001) {
		ages = append(ages, i*80/2000)
	}
	out := mech.NewReleaser(noise.NewSource()).ReleaseQuantiles(mech.Seal(ages...), q)
	// There are 25 people of every age, so that alpha makes two years.
	fmt.Println(len(out), "ages in order:", out[0] <= out[1] && out[1] <= out[2])
	// Output:
	// epsilon 1: with 95 % all three are within 40.0 ranks of 2001
	// 3 ages in order: true
}

// Diagnoses come from the data. A diagnosis that one patient has must not show.
func ExampleReleaser_ReleaseKeys() {
	epsilon, _ := dp.Parse("1")
	delta, _ := dp.Parse("1e-9")
	k, err := mech.NewKeyThreshold(mech.KeyConfig{GroupsPerUnit: 1, Epsilon: epsilon, Delta: delta})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(k.Reason())

	diagnoses := []string{"influenza", "kuru", "asthma"}
	patients := mech.Seal(812, 1, 345)
	var released []string
	for _, key := range mech.NewReleaser(noise.NewSource()).ReleaseKeys(patients, k) {
		released = append(released, diagnoses[key.Index])
	}
	sort.Strings(released) // the order of the data is private
	fmt.Println(released)
	// Output:
	// laplace noise: threshold 22, against 38 with gaussian noise
	// [asthma influenza]
}

// Without counts, keys are cheaper: these probabilities are the largest there are.
func ExampleReleaser_SelectKeys() {
	epsilon, _ := dp.Parse("1")
	delta, _ := dp.Parse("1e-6")
	k, err := mech.NewKeySelection(mech.KeyConfig{GroupsPerUnit: 1, Epsilon: epsilon, Delta: delta})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, n := range []int64{1, 10, 14, 20} {
		fmt.Println(n, "units are kept with", k.Probability(n).FloatString(6))
	}
	fmt.Println("kept:", mech.NewReleaser(noise.NewSource()).SelectKeys(mech.Seal(812, 0, 345), k))
	// Output:
	// 1 units are kept with 0.000001
	// 10 units are kept with 0.012818
	// 14 units are kept with 0.699887
	// 20 units are kept with 0.999257
	// kept: [0 2]
}

// Nobody knows how long patients stay. The range is estimated before a sum over it is asked for.
func ExampleReleaser_EstimateBounds() {
	epsilon, _ := dp.Parse("0.5")
	b, err := mech.NewBounds(mech.BoundsConfig{RowsPerUnit: 1, Epsilon: epsilon, Beta: 1e-9})
	if err != nil {
		fmt.Println(err)
		return
	}
	bins := make([]int64, mech.BoundsBins)
	for stay := int64(1); stay <= 90; stay++ { // 1000 patients for each length
		bins[mech.BoundsBin(stay)] += 1000
	}
	r, ok, err := mech.NewReleaser(noise.NewSource()).EstimateBounds(mech.Seal(bins...), b)
	fmt.Println(r.Low, "to", r.High, ok, err)
	fmt.Println("costs", b.Cost().Epsilon)
	fmt.Println("a bin outside has fewer rows than", b.MissedRows(1e-9))
	// Output:
	// 1 to 128 true <nil>
	// costs 0.5
	// a bin outside has fewer rows than 101
}

// A ward is watched for a year. On which two days are there too many patients? All days together
// cost one epsilon, because all but two of the answers are "below".
func ExampleReleaser_OpenSparse() {
	epsilon, _ := dp.Parse("1")
	m, err := mech.NewSparse(mech.SparseConfig{
		Sensitivity: dp.NewL1(big.NewInt(1)),
		Above:       2,
		Epsilon:     epsilon,
		Monotone:    true, // one patient more is never one fewer on another day
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("costs", m.Cost().Epsilon, "and is right within", m.Accuracy(365, 0.05), "patients")

	session := mech.NewReleaser(noise.NewSource()).OpenSparse(m)
	for day := 1; day <= 365; day++ {
		patients := int64(20)
		if day == 50 || day == 300 {
			patients = 900
		}
		answer, err := session.Ask(mech.Seal(patients), 400)
		if errors.Is(err, mech.ErrHalted) {
			fmt.Println(err)
			break
		}
		if answer.Above {
			fmt.Println("too many on day", day)
		}
	}
	// Output:
	// costs 1 and is right within 40 patients
	// too many on day 50
	// too many on day 300
	// the session has ended: it has given all its "above" answers; open another, which costs as much again
}

// Somebody predicts how many patients each ward has. The predictions that hold are confirmed for
// nothing; the first that is far off ends the round, and its true count is answered with noise of
// its own, which was paid for with the round. The process may end between two questions.
func ExampleReleaser_OpenAbove() {
	epsilon, _ := dp.Parse("0.5")
	one := dp.NewL1(big.NewInt(1))
	round, err := mech.NewAboveThreshold(mech.AboveThresholdConfig{Sensitivity: one, Threshold: epsilon, Question: epsilon, OneSided: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	answer, err := mech.NewLaplace(one, epsilon)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("costs", round.Cost().Add(answer.Cost()).Epsilon)

	releaser := mech.NewReleaser(noise.NewSource())
	open := releaser.OpenAbove(round)
	aside := open.Secret() // into a journal, before the first comparison

	open, err = mech.NewReleaser(noise.NewSource()).ResumeAbove(round, aside)
	if err != nil {
		fmt.Println(err)
		return
	}
	for ward, patients := range []int64{403, 398, 395, 900, 401} {
		value := mech.Seal(patients)
		far, err := open.AskDistance(value, 400, 200)
		switch {
		case err != nil:
			fmt.Println(err)
		case far:
			noisy := releaser.Release(value, answer)[0]
			fmt.Println("ward", ward, "is far from 400; within 100 of 900:", 800 < noisy && noisy < 1000)
		default:
			fmt.Println("ward", ward, "has about 400")
		}
	}
	// Output:
	// costs 1.5
	// ward 0 has about 400
	// ward 1 has about 400
	// ward 2 has about 400
	// ward 3 is far from 400; within 100 of 900: true
	// this round is over: it has answered "above"; open another, which costs as much again
}
