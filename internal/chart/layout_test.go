package chart

import (
	"encoding/xml"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg/vgsvg"
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

// TestFrame wants most of the picture to be left for the curves, whatever is written
// around them.
func TestFrame(t *testing.T) {
	c := composition()
	for i := range 20 {
		c.Marks = append(c.Marks, Mark{fmt.Sprint("mark ", i), 500})
		c.Curves = append(c.Curves, Curve{strings.Repeat("long ", i), []Point{{1000, 1}}})
	}
	s, err := c.scene()
	if err != nil {
		t.Fatal(err)
	}
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
