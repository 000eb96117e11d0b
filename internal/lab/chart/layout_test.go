package chart

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image/png"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg/vgsvg"
	"pgregory.net/rapid"
)

// document is an SVG document as a browser sees it.
type document struct {
	ViewBox string `xml:"viewBox,attr"`
	Title   string `xml:"title"`
	G       struct {
		Text []struct {
			X     float64 `xml:"x,attr"`
			Y     float64 `xml:"y,attr"`
			Style string  `xml:"style,attr"`
			Words string  `xml:",chardata"`
		} `xml:"text"`
		Path []struct {
			D     string `xml:"d,attr"`
			Style string `xml:"style,attr"`
		} `xml:"path"`
	} `xml:"g"`
}

// failer is what the tests of testing and of rapid have in common.
type failer interface{ Fatalf(string, ...any) }

func parseSVG(t failer, text string) document {
	var d document
	if err := xml.Unmarshal([]byte(text), &d); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return d
}

// A box is what a text covers, from the top left of the document.
type box struct {
	words                  string
	left, right, top, foot float64
}

var fontSize = regexp.MustCompile(`font-size:([0-9.]+)px`)

// boxes measures the texts of an SVG document.
func boxes(t failer, text string) []box {
	var out []box
	for _, w := range parseSVG(t, text).G.Text {
		size, err := strconv.ParseFloat(fontSize.FindStringSubmatch(w.Style)[1], 64)
		if err != nil {
			t.Fatalf("%v in %s", err, w.Style)
		}
		width := script{size: size, bold: strings.Contains(w.Style, "font-weight:bold")}.width(w.Words)
		y := w.Y + pictureHeight // the group that holds the texts is upside down
		out = append(out, box{w.Words, w.X, w.X + width, y - 0.7*size, y})
	}
	return out
}

func (b box) outside() bool {
	return b.left < 0 || b.right > pictureWidth || b.top < 0 || b.foot > pictureHeight
}

func (b box) covers(o box) bool {
	const rounding = 0.1 // a document has five digits
	return b.left < o.right-rounding && o.left < b.right-rounding && b.top < o.foot && o.top < b.foot
}

// TestNoWordCoversAnother measures all the texts of the samples, and of charts whose
// ticks have long labels: one at the right end, and too many.
func TestNoWordCoversAnother(t *testing.T) {
	long := func(from, to float64) Chart {
		return Chart{Title: "Long labels", X: "x", Y: "y", Curves: []Curve{{"", []Point{{from, 1}, {to, 1}}}}}
	}
	all := append(samples[:len(samples):len(samples)], sample{"end", long(1e9, 1e9+10)}, sample{"many", long(1e10, 1e10+70)})
	for _, s := range all {
		all := boxes(t, drawSVG(t, s.chart))
		if len(all) < 10 {
			t.Fatalf("%s has %d texts", s.name, len(all))
		}
		for i, b := range all {
			if b.outside() {
				t.Errorf("%s: %+v is not in the picture", s.name, b)
			}
			for _, o := range all[:i] {
				if b.covers(o) {
					t.Errorf("%s: %+v covers %+v", s.name, b, o)
				}
			}
		}
	}
}

// TestNoMarkCrossesAWord looks at the lines that go up beyond the frame.
func TestNoMarkCrossesAWord(t *testing.T) {
	vertical := regexp.MustCompile(`^M([0-9.]+),([0-9.]+)L([0-9.]+),([0-9.]+)$`)
	for _, s := range samples {
		text := drawSVG(t, s.chart)
		marks := 0
		for _, p := range parseSVG(t, text).G.Path {
			m := vertical.FindStringSubmatch(p.D)
			if !strings.Contains(p.Style, "stroke-width:1.75") || m == nil {
				continue
			}
			marks++
			var at [4]float64
			for i := range at {
				at[i], _ = strconv.ParseFloat(m[i+1], 64)
			}
			line := box{"a mark", at[0] - 1, at[2] + 1, pictureHeight - at[3], pictureHeight - at[1]}
			for _, b := range boxes(t, text) {
				if b.covers(line) {
					t.Errorf("%s: %+v is crossed by %+v", s.name, b, line)
				}
			}
		}
		if want := len(seenMarks(s.chart)); marks != want {
			t.Errorf("%s has %d marks; want %d", s.name, marks, want)
		}
	}
}

func seenMarks(c Chart) (out []Mark) {
	for _, m := range c.Marks {
		if isFinite(m.X) {
			out = append(out, m)
		}
	}
	return out
}

// TestFrame wants most of the picture to be left for the curves, whatever is written around them.
func TestFrame(t *testing.T) {
	c := composition()
	for i := range 20 {
		c.Marks = append(c.Marks, Mark{fmt.Sprint("mark ", i), 500})
		c.Curves = append(c.Curves, Curve{strings.Repeat("long ", i), []Point{{1000, 1}}})
	}
	s := must(c.scene())
	p := &picture{Canvas: vgsvg.New(pictureWidth, pictureHeight), scene: s}
	p.layOut()
	if p.right-p.left < pictureWidth/2 || p.top-p.bottom < pictureHeight/2 {
		t.Errorf("the frame is %v by %v", p.right-p.left, p.top-p.bottom)
	}
}

// TestInk counts what is drawn: few lines of a grid, areas, and no more points than
// are needed to see a thousand.
func TestInk(t *testing.T) {
	for _, s := range samples {
		text := drawSVG(t, s.chart)
		grid, fills := 0, 0
		for _, p := range parseSVG(t, text).G.Path {
			if strings.Contains(p.Style, "stroke:#E4E4E4") {
				grid++
			}
			if strings.Contains(p.Style, "fill-opacity") {
				fills++
			}
		}
		if grid < 4 || grid > 16 {
			t.Errorf("%s has %d lines of a grid", s.name, grid)
		}
		if fills != len(s.chart.Areas) {
			t.Errorf("%s has %d areas", s.name, fills)
		}
		if len(text) > 20_000 {
			t.Errorf("%s has %d bytes", s.name, len(text))
		}
	}
}

// drawnNumber draws what charts meet and what they should not.
var drawnNumber = rapid.OneOf(
	rapid.Float64Range(-10, 10),
	rapid.Float64Range(1e-9, 1e9),
	rapid.Float64(),
	rapid.SampledFrom([]float64{0, 1, 1, math.Inf(1), math.Inf(-1), math.NaN(), math.MaxFloat64, -math.MaxFloat64,
		5e-324, 1 + 1e-15, 1e16, 1e300}),
)

var drawnPositive = rapid.Map(drawnNumber, math.Abs)

var drawnName = rapid.OneOf(rapid.String(),
	rapid.SampledFrom([]string{"", "pld", "δ = 2.5·10⁻⁶", "東京", "<&>\"'", "\x00\x1b[2J", "\ufffe", "\u202e", "]]>",
		strings.Repeat("long ", 50)}))

func randomChart(r *rapid.T) Chart {
	values := drawnNumber
	c := Chart{LogX: rapid.Bool().Draw(r, "log x"), LogY: rapid.Bool().Draw(r, "log y")}
	if c.LogX || c.LogY {
		values = drawnPositive
	}
	point := rapid.Custom(func(r *rapid.T) Point { return Point{values.Draw(r, "x"), values.Draw(r, "y")} })
	points := rapid.SliceOfN(point, 0, 6)
	c.Title, c.Subtitle = drawnName.Draw(r, "title"), drawnName.Draw(r, "subtitle")
	c.X, c.Y = drawnName.Draw(r, "x"), drawnName.Draw(r, "y")
	for range rapid.IntRange(0, 9).Draw(r, "curves") {
		c.Curves = append(c.Curves, Curve{drawnName.Draw(r, "curve"), points.Draw(r, "points")})
	}
	for range rapid.IntRange(0, 2).Draw(r, "areas") {
		c.Areas = append(c.Areas, Area{drawnName.Draw(r, "area"), points.Draw(r, "points")})
	}
	for range rapid.IntRange(0, 3).Draw(r, "stems") {
		c.Stems = append(c.Stems, Stem{drawnName.Draw(r, "stem"), values.Draw(r, "x"), values.Draw(r, "y"), rapid.Bool().Draw(r, "shaded")})
	}
	for range rapid.IntRange(0, 5).Draw(r, "marks") {
		c.Marks = append(c.Marks, Mark{drawnName.Draw(r, "mark"), values.Draw(r, "x")})
	}
	return c
}

// Whatever a chart holds, it is drawn in every way or refused in every way, an SVG
// document is well-formed and has only numbers for coordinates, and text stays inside
// the terminal and does not move its cursor.
func TestRandomCharts(t *testing.T) {
	drawn := 0
	rapid.Check(t, func(r *rapid.T) {
		c := randomChart(r)
		size := Terminal{Width: rapid.IntRange(40, 200).Draw(r, "width"), Height: rapid.IntRange(10, 60).Draw(r, "height"),
			ASCII: rapid.Bool().Draw(r, "ascii")}
		var text, document strings.Builder
		err := c.SVG(&document)
		if textErr := c.Text(&text, size); (err == nil) != (textErr == nil) {
			r.Fatalf("SVG: %v; text: %v", err, textErr)
		}
		if err != nil {
			if !strings.HasPrefix(err.Error(), "chart: ") {
				r.Fatal(err)
			}
			return
		}
		drawn++
		checkXML(r, document.String())
		for _, b := range boxes(r, document.String()) {
			if b.outside() {
				r.Fatalf("%+v is not in the picture", b)
			}
		}
		lines := strings.Split(text.String(), "\n")
		for _, l := range lines {
			if terminalColumns.StringWidth(l) > size.Width {
				r.Fatalf("%d columns in %d: %q", terminalColumns.StringWidth(l), size.Width, l)
			}
		}
		for _, s := range text.String() {
			if s == '\x1b' || s == '\r' || s == '\u202e' || size.ASCII && s > '~' {
				r.Fatalf("%q in %s", s, text.String())
			}
		}
		if rapid.IntRange(0, 19).Draw(r, "picture") == 0 {
			var b bytes.Buffer
			if err := c.PNG(&b); err != nil {
				r.Fatal(err)
			}
			if _, err := png.Decode(&b); err != nil {
				r.Fatal(err)
			}
		}
	})
	if drawn == 0 {
		t.Error("no random chart was drawn")
	}
}

func checkXML(r *rapid.T, document string) {
	for d := xml.NewDecoder(strings.NewReader(document)); ; {
		token, err := d.Token()
		if err == io.EOF {
			return
		}
		if err != nil {
			r.Fatalf("%v in %s", err, document)
		}
		if e, ok := token.(xml.StartElement); ok {
			for _, a := range e.Attr {
				if strings.Contains(a.Value, "NaN") || strings.Contains(a.Value, "Inf") {
					r.Fatalf("%s is %s", a.Name.Local, a.Value)
				}
			}
		}
	}
}
