package chart

import "math"

// composition is epsilon against the number of queries of 0.1 each, with formulas
// that have the right shape.
func composition() Chart {
	const each = 0.1
	var basic, advanced, optimal, zcdp, rdp, gaussian, pld []Point
	for k := 1.0; k <= 1000; k++ {
		root := math.Sqrt(2*k*math.Log(1e6)) * each
		basic = append(basic, Point{k, k * each})
		advanced = append(advanced, Point{k, root + k*each*math.Expm1(each)})
		optimal = append(optimal, Point{k, min(k*each, 0.80*root+k*each*each/2)})
		zcdp = append(zcdp, Point{k, root + k*each*each/2})
		rdp = append(rdp, Point{k, 0.96*root + k*each*each/2})
		gaussian = append(gaussian, Point{k, 0.91*root + k*each*each/2})
		pld = append(pld, Point{k, min(k*each, 0.79*root+k*each*each/2)})
	}
	return Chart{
		Title:    "What a thousand queries cost",
		Subtitle: "ε = 0.1 per query, δ = 10⁻⁶ in total, pure mechanisms",
		X:        "number of queries", Y: "total ε",
		Curves: []Curve{{"basic", basic}, {"advanced", advanced}, {"optimal", optimal}, {"zcdp", zcdp},
			{"rdp", rdp}, {"gaussian", gaussian}, {"pld", pld}},
	}
}

// logComposition is composition on two logarithmic axes.
func logComposition() Chart {
	c := composition()
	c.LogX, c.LogY = true, true
	return c
}

// gaussianLoss is the privacy loss of a Gaussian mechanism, with the tail beyond
// epsilon.
func gaussianLoss() Chart {
	const mu, sigma, epsilon = 0.5, 1.0, 2.0
	var density, tail []Point
	for x := -3.0; x <= 4.0001; x += 0.02 {
		p := Point{x, math.Exp(-(x-mu)*(x-mu)/(2*sigma*sigma)) / math.Sqrt(2*math.Pi) / sigma}
		density = append(density, p)
		if x >= epsilon-1e-9 {
			tail = append(tail, p)
		}
	}
	return Chart{
		Title:    "The privacy loss of the Gaussian mechanism",
		Subtitle: "σ = 1, sensitivity 1",
		X:        "privacy loss", Y: "density",
		Curves: []Curve{{"", density}},
		Areas:  []Area{{"beyond ε: 6.7 %, so δ ≤ 0.067", tail}},
		Marks:  []Mark{{"ε = 2", 2}},
	}
}

// laplaceLoss is the privacy loss of a Laplace mechanism: a density between two
// atoms.
func laplaceLoss() Chart {
	const each = 1.0
	var density, tail []Point
	for i := 0; i <= 200; i++ {
		x := -each + 2*each*float64(i)/200
		p := Point{x, math.Exp((x-each)/2) / 4}
		density = append(density, p)
		if x >= 0.5 {
			tail = append(tail, p)
		}
	}
	return Chart{
		Title:    "The privacy loss of the Laplace mechanism",
		Subtitle: "ε = 1 per query; an atom is a probability, the curve a density",
		X:        "privacy loss", Y: "density, and probability of atoms",
		Curves: []Curve{{"density", density}},
		Areas:  []Area{{"beyond ε", tail}},
		Stems:  []Stem{{"½", each, 0.5, true}, {"0.18", -each, math.Exp(-each) / 2, false}},
		Marks:  []Mark{{"ε = 0.5", 0.5}},
	}
}

// oddChart has all that goes wrong: a name that is too long, a curve with a gap and one
// that ends early, a single point, values below zero, and marks side by side.
func oddChart() Chart {
	return Chart{
		Title:    "A title that goes on and on, and then goes on and on some more, until there is no room left on the slide",
		Subtitle: `x & y < z > "w"`,
		X:        "x", Y: "a rather long description of what the y axis measures",
		Curves: []Curve{
			{"a name that is much too long for the place it has got",
				[]Point{{-1e6, -3}, {2e6, 5}, {3e6, math.Inf(1)}, {4e6, 1}, {7e6, 2.1}}},
			{"ends early", []Point{{0, 1}, {2e6, 4}}},
			{"one point", []Point{{3e6, 3}}},
			{"constant", []Point{{0, 2}, {7e6, 2}}},
			{"nothing", []Point{{math.NaN(), 2}}},
		},
		Areas: []Area{{"area", []Point{{-1e6, -3}, {2e6, 5}}}},
		Marks: []Mark{{"ε = 1", 1e6}, {"ε = 1.2 or so", 1.2e6}, {"left", -1e6}, {"right", 7e6}, {"nowhere", math.Inf(-1)}},
	}
}

type sample struct {
	name  string
	chart Chart
}

// samples are charts as the program makes them, and one as it should not.
var samples = []sample{
	{"composition", composition()},
	{"log", logComposition()},
	{"gaussian", gaussianLoss()},
	{"laplace", laplaceLoss()},
	{"odd", oddChart()},
}
