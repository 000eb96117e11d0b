package browser

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image/color"
	"image/png"
	"io"
	"strconv"
	"strings"
	"testing"
)

// drawing is what somebody finds in an SVG who opens it elsewhere.
type drawing struct {
	width, height int
	texts         string // one in a line
	colours       map[string]bool
}

// opened reads an SVG, in which nothing may need what only the page has.
func opened(t testing.TB, text string) drawing {
	t.Helper()
	d := drawing{colours: map[string]bool{}}
	var texts strings.Builder
	decoder := xml.NewDecoder(strings.NewReader(text))
	for depth := 0; ; {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		must(t, err)
		switch token := token.(type) {
		case xml.StartElement:
			if depth++; depth == 1 && (token.Name.Local != "svg" || token.Name.Space != "http://www.w3.org/2000/svg") {
				t.Errorf("it is %v", token.Name)
			}
			for _, a := range token.Attr {
				switch a.Name.Local {
				case "class", "style", "href", "src":
					t.Errorf("%s has %s=%q", token.Name.Local, a.Name.Local, a.Value)
				case "fill":
					d.colours[a.Value] = true
				case "width", "height":
					n, err := strconv.Atoi(a.Value)
					must(t, err)
					if depth == 1 {
						*map[string]*int{"width": &d.width, "height": &d.height}[a.Name.Local] = n
					}
				}
				if strings.Contains(a.Value, "var(") || strings.Contains(a.Value, "url(") {
					t.Errorf("%s has %q", a.Name.Local, a.Value)
				}
			}
		case xml.EndElement:
			depth--
			if token.Name.Local == "text" || token.Name.Local == "title" {
				texts.WriteByte('\n')
			}
		case xml.CharData:
			texts.Write(token)
		}
	}
	d.texts = texts.String()
	return d
}

// taken: a chart that is saved says what was asked, what its intervals mean, what limits leave out
// and what was paid; it looks the same from a dark page; and the PNG is twice as large.
func taken(t *testing.T, w *world) {
	tb := w.tab(t, "ana")
	tb.as(screens[0])
	tb.open("/ask?dataset=trips")
	sql := "SELECT origin, COUNT(*) AS n FROM trips WHERE distance < 4000 GROUP BY origin"
	tb.ask(sql)
	a := tb.last()
	tb.settle()
	text := tb.saves("^SVG$")
	d := opened(t, text)
	said := strings.ReplaceAll(d.texts, "\n", " ")
	for _, want := range []string{"n by origin", sql, "cover the noise, each with probability 95%", "chance in the data comes on top",
		"Of each person at most 10 rows in each of at most 2 groups count. The noise intervals do not contain what this leaves out.",
		`answer of the dataset "trips"`, "released with ε = 0.25;", "of the ledger"} {
		if !strings.Contains(said, want) {
			t.Errorf("it does not say %q but\n%s", want, d.texts)
		}
	}
	for i, row := range a.Rows {
		if want := fmt.Sprintf("\n%v\n%v ± ", row[0], row[1]); !strings.Contains(d.texts, want) || a.Errors[i][1] == nil {
			t.Errorf("%q is not in\n%s", want, d.texts)
		}
	}
	if !d.colours["#ffffff"] || !strings.Contains(text, "font-family=") {
		t.Errorf("it has no ground or no letters: %v", d.colours)
	}
	picture, err := png.Decode(strings.NewReader(tb.saves("^PNG$")))
	must(t, err)
	if b := picture.Bounds(); b.Dx() != 2*d.width || b.Dy() != 2*d.height || d.width < 300 {
		t.Errorf("%d x %d, and the SVG has %d x %d", b.Dx(), b.Dy(), d.width, d.height)
	}
	if got := color.NRGBAModel.Convert(picture.At(2, 2)); got != (color.NRGBA{255, 255, 255, 255}) {
		t.Errorf("its ground is %v", got)
	}
	var dots int
	for y := range picture.Bounds().Dy() {
		for x := range picture.Bounds().Dx() {
			switch color.NRGBAModel.Convert(picture.At(x, y)) {
			case color.NRGBA{0x0b, 0x6e, 0x6e, 255}, color.NRGBA{0x64, 0x71, 0x70, 255}: // this one if noise swamps it
				dots++
			}
		}
	}
	if dots < 200 {
		t.Errorf("%d pixels have the colour of the dots", dots)
	}
	tb.as(screens[1])
	if dark := tb.saves("^SVG$"); dark != text {
		t.Errorf("from a dark page it is\n%s\nand not\n%s", dark, text)
	}
}

// spaced: names and numbers stand in the picture whole, and on one another's place nowhere.
const spaced = `() => {
	const overlap = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 3 && b.top < a.bottom - 3
	const out = []
	for (const svg of document.querySelectorAll('.chart svg')) {
		const all = svg.getBoundingClientRect(), name = e => e.textContent
		const boxes = [...svg.querySelectorAll('.point text, text.number')].map(e => [name(e), e.getBoundingClientRect()])
		const marks = [...svg.querySelectorAll('circle, line.whisker')].map(e => ['a mark', e.getBoundingClientRect()])
		boxes.forEach(([n, b], i) => {
			if (b.left < all.left - 1 || b.right > all.right + 1) out.push(n + ' is cut off')
			for (const [m, c] of [...boxes.slice(i + 1), ...marks]) if (overlap(b, c)) out.push(n + ' is over ' + m)
		})
	}
	return out.join('; ')
}`

// lettered: groups have their numbers beside them on every screen, and names are whole.
func lettered(t *testing.T, w *world) {
	tb := w.tab(t, "ana")
	tb.as(screens[0])
	tb.open("/ask?dataset=hospital")
	for _, sql := range []string{
		"SELECT diagnosis, sex, smoker, COUNT(*) AS n FROM patients WHERE age > 22 GROUP BY diagnosis, sex, smoker",
		"SELECT sex, SUM(cost) AS total FROM patients WHERE age > 22 GROUP BY sex",
		"SELECT date_trunc('month', day) AS month, COUNT(*) AS n FROM visits " +
			"WHERE day >= '2025-01-01' AND day < '2025-05-01' GROUP BY month",
	} {
		tb.ask(sql)
		rows := len(tb.last().Rows)
		for _, l := range screens {
			tb.as(l)
			if said := tb.eval(spaced).Str(); said != "" {
				t.Errorf("%s on a %s: %s", sql, l.name, said)
			}
			whole := tb.eval(`() => [...document.querySelectorAll('.chart text.number')].filter(e => / ± /.test(e.textContent)).length`).Int()
			if whole != rows && !strings.Contains(sql, "month") || whole != rows && l.name == "desktop" {
				t.Errorf("%s on a %s: %d of %d numbers", sql, l.name, whole, rows)
			}
			if tb.eval(`() => [...document.querySelectorAll('.chart text')].some(e => e.textContent.includes('…'))`).Bool() {
				t.Errorf("%s on a %s: a name is cut", sql, l.name)
			}
		}
	}
}

// along: keys that are numbers are an axis, where they are many and follow one another.
func along(t *testing.T, w *world) {
	tb := w.open(t, "/ask?dataset=hospital", "ana")
	tb.ask("SELECT age, COUNT(*) AS n FROM patients WHERE sex = 'F' GROUP BY age")
	tb.until("ages have a band and an axis", `() => !!document.querySelector('.chart path.band') &&
		document.querySelector('.chart .label')?.textContent === 'age' &&
		document.querySelectorAll('.chart circle').length === 111 && !document.querySelector('.chart .point')`)
	ticks := tb.eval(`() => [...document.querySelectorAll('.chart .axis:nth-child(2) text:not(.label)')].map(e => e.textContent).join()`).Str()
	if !strings.HasPrefix(ticks, "0,") || !strings.HasSuffix(ticks, ",100") && !strings.HasSuffix(ticks, ",110") {
		t.Errorf("the axis has %s", ticks)
	}
	if picture := tb.saves("^PNG$"); !bytes.HasPrefix([]byte(picture), []byte("\x89PNG")) {
		t.Errorf("the PNG begins %q", picture[:min(8, len(picture))])
	}
	tb.ask("SELECT age, COUNT(*) AS n FROM patients WHERE sex = 'M' GROUP BY ROLLUP(age)")
	tb.reads(`Not in the chart: \(none\), -?\d+ ± \d+\.`) // all of them
	d := opened(t, tb.saves("^SVG$"))
	if !strings.Contains(d.texts, "Not in the chart: (none), ") || !strings.Contains(d.texts, "n by age") {
		t.Errorf("what is not in it it does not say:\n%s", d.texts)
	}
	tb.open("/ask?dataset=trips")
	tb.ask("SELECT month, COUNT(*) AS n FROM trips GROUP BY month")
	tb.until("a few numbers are rows", `() => document.querySelectorAll('.chart .point').length === 12`)
}

// sure: a probability near 1 is not rounded to 1.
func sure(t *testing.T, w *world) {
	tb := w.open(t, "/ask?dataset=hospital", "ana")
	tb.eval(`() => { const real = fetch; window.fetch = async (path, how) => { const r = await real(path, how); return path !== '/v1/query' ? r : new Response((await r.text()).replace('"confidence":0.95', '"confidence":0.999'), r) } }`)
	tb.ask("SELECT sex, COUNT(*) AS n FROM patients WHERE age > 24 GROUP BY sex")
	tb.reads(`intervals cover the noise, with probability 99\.9%`)
	tb.until("the chart says so", `() => document.querySelector('.chart svg').getAttribute('aria-label').includes('99.9% noise intervals')`)
	if d := opened(t, tb.saves("^SVG$")); !strings.Contains(d.texts, "with probability 99.9%") {
		t.Errorf("what is saved says\n%s", d.texts)
	}
}
