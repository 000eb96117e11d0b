package main

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"io"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
)

// respondents writes a file with 3000 people: 60 % never, 30 % former, 10 % daily, forty
// towns, and a column that is empty for some and one that is for all.
func respondents(t testing.TB) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("\ufeffid,smoker,town,note,nothing,same\n")
	for i := range 3000 {
		smoker := []string{"never", "never", "never", "never", "never", "never", "former", "former", "former", "daily"}[i%10]
		note := ""
		if i%2 == 0 {
			note = `"a, ""b"""`
		}
		fmt.Fprintf(&b, "%d,%s,town %d,%s,,x\n", i, smoker, i%40, note)
	}
	return write(t, t.TempDir()+"/people.csv", b.String())
}

func asked(file, column string, more ...string) result {
	return command(append([]string{"survey", file, "--column", column, "--epsilon", "1"}, more...)...)
}

func TestSurvey(t *testing.T) {
	t.Parallel()
	file := respondents(t)
	r := asked(file, "smoker").wants(t, 0, "column smoker, 3000 respondents", "never   60.00 %", "former  30.00 %", "daily   10.00 %",
		"epsilon  1 for each respondent", "oracle   direct: 3 values are fewer than 3 exp(epsilon) + 2 = 10.15",
		"report   2 bits", "owner's eyes only", "A survey of smoker, plain and private", "95 % interval")
	if r.err != "" {
		t.Errorf("says %q", r.err)
	}
	// Every line of the table is as long as the one above it.
	lines := strings.Split(r.out, "\n")
	for i, l := range lines[5:9] {
		if len(strings.TrimRight(l, " ")) != len(lines[5]) {
			t.Errorf("line %d is not aligned: %q", i, l)
		}
	}
	asked(file, "town").wants(t, 0, "oracle   oue: 40 values", "and 16 more values; see --json")
	asked(file, "id").wants(t, 0, "oracle   olh: 3000 values", "and 2976 more values")
	asked(file, "note").wants(t, 0, "(empty)", `a, "b"`)
	asked(file, "smoker", "--value", "daily").wants(t, 0, "is it daily?", "\ndaily      10.00 %", "\nnot daily  90.00 %",
		"probability 0.7311").lacks(t, "former")
	asked(file, "smoker", "--value", "sometimes").wants(t, 0, "\nsometimes        0.00 %")
	asked(file, "same", "--value", "x").wants(t, 0, "\nx      100.00 %")
	for _, oracle := range []string{"direct", "oue", "olh", "hadamard"} {
		asked(file, "town", "--oracle", oracle).wants(t, 0, "oracle   "+oracle+": as asked for with --oracle")
	}
	for i, b := range []byte(asked(file, "smoker", "--ascii").wants(t, 0).out) {
		if b > 0x7f {
			t.Errorf("byte %d of --ascii is %x", i, b)
			break
		}
	}
}

// The estimates are near the truth, and new ones in every run.
func TestSurveyJSON(t *testing.T) {
	t.Parallel()
	file := respondents(t)
	seen := map[float64]bool{}
	for range 3 {
		v := asked(file, "smoker", "--json").wants(t, 0).decode(t)
		if v["people"] != 3000.0 || v["oracle"] != "direct" || v["bits"] != 2.0 || v["confidence"] != 0.95 ||
			!strings.Contains(v["note"].(string), "owner's eyes") {
			t.Errorf("got %v", v)
		}
		if c := v["cost"].(map[string]any); c["epsilon"] != 1.0 || math.Abs(c["rho"].(float64)-math.Tanh(0.5)) > 1e-9 {
			t.Errorf("cost %v", c)
		}
		values := v["values"].([]any)
		if len(values) != 3 {
			t.Fatalf("got %v", values)
		}
		for i, plain := range []float64{0.6, 0.3, 0.1} {
			a := values[i].(map[string]any)
			// The variance is 3 (1 + ...)/3000 at most: 0.25 is beyond seven standard errors.
			if got := a["private"].(float64); a["plain"] != plain || math.Abs(got-plain) > 0.25 ||
				math.Abs(a["error"].(float64)-(got-plain)) > 1e-12 {
				t.Errorf("got %v", a)
			}
			if low, high := a["low"].(float64), a["high"].(float64); low < 0 || high > 1 || low > high || high-low > 0.25 {
				t.Errorf("got %v", a)
			}
		}
		seen[values[0].(map[string]any)["private"].(float64)] = true
	}
	if len(seen) < 2 {
		t.Errorf("three surveys say the same: %v", seen)
	}
	if v := asked(file, "id", "--json").wants(t, 0).decode(t); len(v["values"].([]any)) != 3000 {
		t.Errorf("%d values", len(v["values"].([]any)))
	}
}

func TestSurveyPictures(t *testing.T) {
	t.Parallel()
	file := respondents(t)
	svg, picture := beside(file, "out.svg"), beside(file, "out.png")
	asked(file, "smoker", "-o", svg, "-o", picture).wants(t, 0, "wrote "+svg, "wrote "+picture)
	text := contents(t, svg)
	for d := xml.NewDecoder(strings.NewReader(text)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range []string{"A survey of smoker", "never", "daily"} {
		if !strings.Contains(text, s) {
			t.Errorf("the picture does not say %q", s)
		}
	}
	f, err := os.Open(picture)
	must(t, err)
	defer f.Close()
	must(t, errorOf(png.Decode(f)))
}

// Bad input is refused before anybody is asked, and says what to write instead.
func TestSurveyRefused(t *testing.T) {
	t.Parallel()
	file := respondents(t)
	dir := t.TempDir()
	empty, header := write(t, dir+"/empty.csv", ""), write(t, dir+"/header.csv", "a,b\n")
	ragged := write(t, dir+"/ragged.csv", "a,b\n1,2\nMallory\n")
	quotes := write(t, dir+"/quotes.csv", "a,b\n1,\"Mallory\n")
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"no.csv", "--column", "a", "--epsilon", "1"}, "no.csv: this file does not exist"},
		{[]string{dir, "--column", "a", "--epsilon", "1"}, "is a directory"},
		{[]string{empty, "--column", "a", "--epsilon", "1"}, "the file is empty"},
		{[]string{header, "--column", "a", "--epsilon", "1"}, "the file has no rows"},
		{[]string{ragged, "--column", "a", "--epsilon", "1"}, "line 3"},
		{[]string{quotes, "--column", "a", "--epsilon", "1"}, "line"},
		{[]string{file, "--column", "age", "--epsilon", "1"}, `there is no column "age"; name one of id, smoker, town`},
		{[]string{file, "--column", "nothing", "--epsilon", "1"}, `the column "nothing" is empty`},
		{[]string{file, "--column", "same", "--epsilon", "1"}, "a question needs two answers; ask a yes-or-no question with --value"},
		{[]string{file, "--column", "smoker", "--epsilon", "0"}, "above 0"},
		{[]string{file, "--column", "smoker", "--epsilon", "-1"}, "negative"},
		{[]string{file, "--column", "smoker", "--epsilon", "NaN"}, `"NaN" is not an amount`},
		{[]string{file, "--column", "smoker", "--epsilon", "inf"}, "is not an amount"},
		{[]string{file, "--column", "smoker", "--epsilon", "1e-13"}, "the smallest is 2^-40"},
		{[]string{file, "--column", "smoker", "--epsilon", "33"}, "above 32 hardly any answer is ever changed"},
		{[]string{file, "--column", "smoker", "--epsilon", "14", "--oracle", "olh"}, "olh takes at most 13"},
		{[]string{file, "--column", "smoker", "--epsilon", "1", "--oracle", "rappor"}, "must be one of"},
		{[]string{file, "--column", "smoker", "--epsilon", "1", "-o", "out.pdf"}, "ends in .svg or .png"},
		{[]string{file, "--column", "smoker", "--epsilon", "1", "-o", "nowhere/out.svg"}, "this folder does not exist"},
		{[]string{file, "--epsilon", "1"}, "missing flags: --column=C"},
		{[]string{file, "--column", "smoker"}, "missing flags: --epsilon=E"},
		{[]string{"--column", "smoker", "--epsilon", "1"}, `expected "<file>"`},
	} {
		command(append([]string{"survey"}, c.args...)...).wants(t, 2, c.says, "refused: ").lacks(t, "Mallory")
		command(append([]string{"survey", "--json"}, c.args...)...).fails(t, 2, "refused")
	}
}

// Values are shown so that they cannot move the cursor.
func TestSurveyCleans(t *testing.T) {
	t.Parallel()
	file := write(t, t.TempDir()+"/odd.csv", "a\n\x1b[2J\nb\nb\n")
	asked(file, "a", "--ascii").wants(t, 0, "?[2J").lacks(t, "\x1b")
}

func TestSurveyInterrupted(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(context.Background())
	stop()
	var out, err strings.Builder
	if code := run(ctx, []string{"survey", respondents(t), "--column", "town", "--epsilon", "1"}, console.Screen{Out: &out,
		Err: &err}); code != 1 || out.Len() != 0 {
		t.Errorf("exit code %d, %q", code, out.String())
	}
}
