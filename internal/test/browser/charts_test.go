package browser

import (
	"strings"
	"testing"
)

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
	tb.ask("SELECT age, COUNT(*) AS n FROM patients WHERE sex = 'M' GROUP BY ROLLUP(age)")
	tb.reads(`Not in the chart: \(none\), \d+ ± \d+\.`) // all of them
	tb.open("/ask?dataset=trips")
	tb.ask("SELECT month, COUNT(*) AS n FROM trips GROUP BY month")
	tb.until("a few numbers are rows", `() => document.querySelectorAll('.chart .point').length === 12`)
}
