package chart

import (
	"bytes"
	"flag"
	"fmt"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/test/daily"
)

func drawSVG(t testing.TB, c Chart) string {
	t.Helper()
	var b strings.Builder
	if err := c.SVG(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestSVG(t *testing.T) {
	for _, s := range samples {
		d := parseSVG(t, drawSVG(t, s.chart))
		if d.ViewBox != "0 0 960 540" || d.Title != s.chart.Title {
			t.Errorf("%s: viewBox %q, title %q", s.name, d.ViewBox, d.Title)
		}
		words := "\n"
		for _, w := range d.G.Text {
			words += w.Words + "\n"
			if !strings.Contains(w.Style, ",sans-serif;") {
				t.Errorf("%s: %q has the style %s", s.name, w.Words, w.Style)
			}
		}
		want := []string{s.chart.X, s.chart.Y}
		for _, c := range s.chart.Curves {
			want = append(want, c.Name)
		}
		for _, a := range s.chart.Areas {
			want = append(want, a.Name)
		}
		for _, a := range s.chart.Stems {
			want = append(want, a.Name)
		}
		for _, m := range s.chart.Marks {
			want = append(want, m.Name)
		}
		for _, w := range want {
			switch w {
			case "", "nothing", "nowhere": // no finite point
				if strings.Contains(words, "nothing") || strings.Contains(words, "nowhere") {
					t.Errorf("%s: it names what is not to be seen: %s", s.name, words)
				}
				continue
			case "a name that is much too long for the place it has got":
				w = "a name that is much"
			}
			if !strings.Contains(words, "\n"+w) {
				t.Errorf("%s: %q is not in%s", s.name, w, words)
			}
		}
	}
}

// TestLooks wants every curve of a sample to have a colour and dashes of its own, to be drawn in
// the SVG document with both, and to leave pixels of its colour in the PNG picture.
func TestLooks(t *testing.T) {
	c := composition()
	var b bytes.Buffer
	if err := c.PNG(&b); err != nil {
		t.Fatal(err)
	}
	picture := must(png.Decode(&b))
	if size := picture.Bounds().Size(); size.X != 1920 || size.Y != 1080 {
		t.Errorf("the picture is %v", size)
	}
	type rgb [3]uint32
	seen := map[rgb]int{}
	for y := range 1080 {
		for x := range 1920 {
			r, g, b, _ := picture.At(x, y).RGBA()
			seen[rgb{r >> 8, g >> 8, b >> 8}]++
		}
	}
	if white := seen[rgb{255, 255, 255}]; white < 1920*1080*8/10 || white > 1920*1080*99/100 {
		t.Errorf("%d pixels are white", white)
	}
	d := parseSVG(t, drawSVG(t, c))
	styles := map[string]bool{}
	for _, p := range d.G.Path {
		if strings.Contains(p.Style, "stroke-width:2.75") {
			_, dash, _ := strings.Cut(p.Style, "stroke-dasharray:")
			styles[dash] = true
		}
	}
	if len(styles) != 7 {
		t.Errorf("seven curves have %d patterns of dashes: %v", len(styles), styles)
	}
	for i, curve := range c.Curves {
		colour, _ := curveStyle(i)
		if n := seen[rgb{uint32(colour.R), uint32(colour.G), uint32(colour.B)}]; n < 500 {
			t.Errorf("%s has %d pixels", curve.Name, n)
		}
	}
}

func TestSameBytes(t *testing.T) {
	same := func(name string, draw func(io.Writer) error) {
		t.Helper()
		var one, two bytes.Buffer
		if err := draw(&one); err != nil {
			t.Fatal(err)
		}
		if err := draw(&two); err != nil {
			t.Fatal(err)
		}
		if one.Len() == 0 || !bytes.Equal(one.Bytes(), two.Bytes()) {
			t.Errorf("%s differs from itself", name)
		}
	}
	for _, s := range samples {
		same("svg of "+s.name, s.chart.SVG)
		same("text of "+s.name, func(w io.Writer) error { return s.chart.Text(w, Terminal{}) })
	}
	for _, s := range daily.Sample(t, samples, 3) { // drawing two million pixels takes a while
		same("png of "+s.name, s.chart.PNG)
	}
}

// TestGap wants a line to be broken where it is not finite.
func TestGap(t *testing.T) {
	broken := Chart{Curves: []Curve{{"", []Point{{0, 1}, {1, 2}, {2, math.Inf(1)}, {3, 4}, {4, 4}}}}}
	whole := Chart{Curves: []Curve{{"", []Point{{0, 1}, {1, 2}, {3, 4}, {4, 4}}}}}
	count := func(c Chart) int { return strings.Count(drawSVG(t, c), "stroke-width:2.75") }
	if count(broken) != 2 || count(whole) != 1 {
		t.Errorf("%d lines with a gap and %d without", count(broken), count(whole))
	}
}

func TestErrors(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	curve := []Curve{{"eps", []Point{{0, 1}, {1, 0}}}}
	one := []Curve{{"eps", []Point{{1, 1}}}}
	for want, c := range map[string]Chart{
		"nothing to draw: no curve":       {},
		"nothing to draw: no curve, area": {Marks: []Mark{{"m", 1}}},
		"nothing to draw: no curve, area or": {Curves: []Curve{{"c", []Point{{nan, 1}, {1, inf}}}},
			Stems: []Stem{{X: 1, Y: nan}}},
		`curve "eps" has the point (0, 1)`:                 {Curves: curve, LogX: true},
		`curve "eps" has the point (1, 0)`:                 {Curves: curve, LogY: true},
		`use a linear y axis`:                              {Curves: curve, LogY: true},
		`area "delta" has the point (1, -1)`:               {Areas: []Area{{"delta", []Point{{1, -1}}}}, LogY: true},
		`stem "atom" has the point (-1, 1)`:                {Stems: []Stem{{"atom", -1, 1, false}}, LogX: true},
		`mark "m" is at x = 0`:                             {Curves: one, Marks: []Mark{{"m", 0}}, LogX: true},
		"too far apart for a linear axis: use a":           {Curves: []Curve{{"c", []Point{{-1e308, 1}, {1e308, 1}}}}},
		"too far apart for a linear axis: use a logarithm": {Curves: []Curve{{"c", []Point{{1, -1e308}, {1, 1e308}}}}},
	} {
		for _, err := range []error{c.SVG(io.Discard), c.PNG(io.Discard), c.Text(io.Discard, Terminal{})} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v; want %s", err, want)
			}
		}
	}
	for _, size := range []Terminal{{Width: 39}, {Height: 9}, {Width: -1}, {Height: -1}} {
		if err := composition().Text(io.Discard, size); err == nil || !strings.Contains(err.Error(), "40 columns and 10 lines") {
			t.Errorf("%v: %v", size, err)
		}
	}
}

func BenchmarkSVG(b *testing.B) {
	c := composition()
	for b.Loop() {
		c.SVG(io.Discard)
	}
}

func BenchmarkPNG(b *testing.B) {
	c := composition()
	for b.Loop() {
		c.PNG(io.Discard)
	}
}

var rewrite = flag.Bool("rewrite", false, "write the results into testdata instead of comparing them")

// TestData draws the samples as text. A file of testdata has the name of a sample and
// holds cases separated by lines of ====, each the columns and lines of a terminal, and
// the word ascii if it knows no more, a line of ----, and the chart.
func TestData(t *testing.T) {
	for _, sample := range samples {
		t.Run(sample.name, func(t *testing.T) {
			file := filepath.Join("testdata", sample.name+".txt")
			text := must(os.ReadFile(file))
			cases := strings.Split(string(text), "====\n")
			for i, c := range cases {
				head, want, _ := strings.Cut(c, "----\n")
				var size Terminal
				if _, err := fmt.Sscan(head, &size.Width, &size.Height); err != nil {
					t.Fatalf("case %d: %v", i, err)
				}
				size.ASCII = strings.Contains(head, "ascii")
				var b strings.Builder
				if err := sample.chart.Text(&b, size); err != nil {
					t.Fatal(err)
				}
				if *rewrite {
					cases[i] = head + "----\n" + b.String()
				} else if got := b.String(); got != want {
					t.Errorf("%s\ngot:\n%s\nwant:\n%s", head, got, want)
				}
			}
			if *rewrite {
				if err := os.WriteFile(file, []byte(strings.Join(cases, "====\n")), 0o666); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

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

// gaussianLoss is the privacy loss of a Gaussian mechanism, with the tail beyond epsilon.
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

// laplaceLoss is the privacy loss of a Laplace mechanism: a density between two atoms.
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

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
