package chart

import (
	"bytes"
	"encoding/xml"
	"image/png"
	"io"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

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
	c.Title, c.Subtitle, c.X, c.Y = drawnName.Draw(r, "title"), drawnName.Draw(r, "subtitle"), drawnName.Draw(r, "x"), drawnName.Draw(r, "y")
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
			if columnWidth(l) > size.Width {
				r.Fatalf("%d columns in %d: %q", columnWidth(l), size.Width, l)
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
