package render

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestWrite(t *testing.T) {
	x := &Table{Header: []string{"name", "n"}, Right: []bool{false, true}}
	x.Add("Ö", "5")
	x.Add("東京", "1234")
	x.Add("e\u0301", "-1") // two runes, one letter
	x.Add("a\tb\x00\x7f\u009b", "")
	x.Add("short row")
	var b strings.Builder
	x.Write(&b)
	const want = `
name          n
---------  ----
Ö             5
東京       1234
é            -1
a?b???
short row
`
	if got := "\n" + b.String(); got != strings.Replace(want, "é", "e\u0301", 1) {
		t.Errorf("got %s", got)
	}
	if x.Rows[3][0] != "a\tb\x00\x7f\u009b" {
		t.Error("printing a table changed it")
	}
}

// Whatever a cell holds, a table has as many lines as rows and two for the header, and
// nothing in it moves the cursor or turns the text around.
func TestNothingMovesTheCursor(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		x := &Table{Header: []string{"a", "b"}}
		n := rapid.IntRange(0, 4).Draw(r, "rows")
		for range n {
			x.Add(rapid.String().Draw(r, "cell"),
				rapid.SampledFrom([]string{"\x1b[2J", "\r", "\n", "\u2028", "\u202e", "\u2066", "\u0085", "\b", "\xff"}).Draw(r, "hostile"))
		}
		var b strings.Builder
		x.Write(&b)
		lines := strings.Split(b.String(), "\n")
		if len(lines) != n+3 || lines[n+2] != "" {
			r.Fatalf("%d lines for %d rows: %q", len(lines), n, b.String())
		}
		if strings.ContainsAny(strings.Join(lines, ""), "\x1b\r\b\u2028\u2029\u202e\u2066\u0085\u200f") {
			r.Fatalf("%q", b.String())
		}
	})
}

func TestBar(t *testing.T) {
	for part, want := range map[float64]string{0: "░░░░", 0.5: "██░░", 1: "████", -3: "░░░░", 7: "████", 0.1: "░░░░", 0.13: "█░░░"} {
		if got := Bar(part, 4); got != want {
			t.Errorf("Bar(%v) is %s; want %s", part, got, want)
		}
	}
}

// What nobody sees is shown as ?, so that a model or a program does not read more than a person.
func TestClean(t *testing.T) {
	for _, r := range "\u200b\u200c\u200d\u2060\u00ad\u3164\u115f\uffa0\ufe00\ufe0f\u180e\u034f\u17b4\ufeff\u202e\u2066\u2028" +
		"\U000e0041\U000e0100\U000f0000\ue000\u2063\U0001d173\n\x1b" {
		if got := Clean("a" + string(r) + "b"); got != "a?b" {
			t.Errorf("%U is shown as %q", r, got)
		}
	}
	if text := "Ögür e\u0301 東京 \u00a0 ½ 🙂"; Clean(text) != text {
		t.Errorf("%q", Clean(text))
	}
}
