package main

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/test/daily"
)

type bracket struct {
	Method       string
	Lower, Upper float64
}

type composed struct {
	Delta, Epsilon *float64
	Mechanisms     []struct {
		Mechanism string
		Times     int
	}
	Results  []bracket
	Tightest string
	Skipped  []struct{ Method, Reason string }
}

// compose runs the command with --json; args are split at spaces.
func compose(t *testing.T, args string) (c composed) {
	t.Helper()
	r := command(append([]string{"account", "compose", "--json"}, strings.Fields(args)...)...).wants(t, 0)
	must(t, json.Unmarshal([]byte(r.out), &c))
	if r.err != "" {
		t.Errorf("%s says %q", args, r.err)
	}
	return c
}

func (c composed) by(t *testing.T, method string) bracket {
	t.Helper()
	for _, r := range c.Results {
		if r.Method == method {
			return r
		}
	}
	t.Fatalf("%s has no result: %+v", method, c)
	return bracket{}
}

// This is the contract of compose --json, which other programs rely on.
func TestComposeJSON(t *testing.T) {
	t.Parallel()
	shape := func(args ...string) (keys, results []string) {
		out := command(append([]string{"account", "compose", "--json"}, args...)...).wants(t, 0).out
		var all struct{ Results []json.RawMessage }
		must(t, json.Unmarshal([]byte(out), &all))
		for _, r := range all.Results {
			if k := keysOf(t, r); !slices.Equal(k, []string{"method", "lower", "upper"}) {
				t.Errorf("a result has %q", k)
			}
			var b bracket
			if err := json.Unmarshal(r, &b); err != nil || !(b.Lower <= b.Upper) {
				t.Errorf("%s: %v", r, err)
			}
			results = append(results, b.Method)
		}
		return keysOf(t, json.RawMessage(out)), results
	}
	keys, methods := shape("-m", "laplace:epsilon=0.1", "--delta", "1e-6")
	if !slices.Equal(keys, []string{"delta", "mechanisms", "results", "tightest", "skipped"}) {
		t.Errorf("got %q", keys)
	}
	if !slices.Equal(methods, []string{"basic", "advanced", "optimal", "zcdp", "rdp", "pld"}) {
		t.Errorf("got %q", methods)
	}
	keys, methods = shape("-m", "gaussian:sigma=4", "--epsilon", "1")
	if !slices.Equal(keys, []string{"epsilon", "mechanisms", "results", "tightest", "skipped"}) {
		t.Errorf("got %q", keys)
	}
	if !slices.Equal(methods, []string{"zcdp", "rdp", "gaussian", "pld"}) {
		t.Errorf("got %q", methods)
	}
	c := compose(t, "-m laplace:epsilon=0.1 -k 100 --delta 1e-6")
	if c.Delta == nil || *c.Delta != 1e-6 || c.Epsilon != nil || c.Tightest != "pld" || len(c.Skipped) != 1 ||
		c.Skipped[0].Method != "gaussian" || c.Skipped[0].Reason == "" {
		t.Errorf("got %+v", c)
	}
}

// The values were computed to 17 digits from first principles, or published.
func TestComposeGolden(t *testing.T) {
	t.Parallel()
	for _, g := range []struct {
		args, method string
		want, within float64
	}{
		{"-m pure:epsilon=0.1 -k 100 --delta 1e-6", "optimal", 4.7745675881079862, 1e-9},
		{"-m pure:epsilon=0.1 -k 100 --delta 1e-6", "advanced", 6.3082309505134082, 1e-9},
		{"-m pure:epsilon=0.1 -k 100 --delta 1e-6", "basic", 10, 1e-9},
		{"-m pure:epsilon=0.1 -k 10 --delta 1e-6", "optimal", 0.99937090572175872, 1e-9},
		{"-m approx:epsilon=0.01,delta=1e-9 -k 1000 --delta 1e-5", "optimal", 1.2060948264664169, 1e-9},
		{"-m gaussian:rho=0.1 --delta 1e-6", "zcdp", 2.1419389283854737, 1e-9},
		{"-m gaussian:sigma=1 --delta 1e-5", "gaussian", 4.3771780956812246, 1e-9},
		{"-m gaussian:sigma=1 --delta 1e-5", "pld", 4.3771780956812246, 1e-9},
		{"-m gaussian:sigma=4 -k 40 --epsilon 10", "gaussian", 3.33762759e-9, 1e-17},
		{"-m gaussian:sigma=4 -k 40 --epsilon 10", "pld", 3.33762759e-9, 1e-17},
		{"-m gaussian:sigma=1,sample=0.8 --epsilon 1 --direction remove", "pld", 0.0816951786585, 1e-12},
		{"-m gaussian:sigma=1,sample=0.8 --epsilon 1 --direction add", "pld", 0.0231362104091, 1e-12},
		{"-m gaussian:sigma=1,sample=0.8 --epsilon 1", "pld", 0.0816951786585, 1e-12},
	} {
		r := compose(t, g.args).by(t, g.method)
		if math.Abs(r.Lower-g.want) > g.within || math.Abs(r.Upper-g.want) > g.within || r.Lower > r.Upper {
			t.Errorf("%s by %s: %+v, want %v", g.args, g.method, r, g.want)
		}
	}
}

// Every spelling in the help is one, and those of the same mechanism agree.
func TestComposeSpellings(t *testing.T) {
	t.Parallel()
	var spellings []string
	for line := range strings.Lines(command("account", "compose", "--help").wants(t, 0).out) {
		for _, word := range strings.Fields(line) {
			if name, rest, ok := strings.Cut(word, ":"); ok && strings.Contains(rest, "=") && strings.HasPrefix(line, "    "+name) {
				spellings = append(spellings, word)
			} else if ok && strings.Contains(line, " or "+word) {
				spellings = append(spellings, word)
			}
		}
	}
	if len(spellings) != 10 {
		t.Errorf("the help has %q", spellings)
	}
	for _, m := range append(spellings, "discrete-laplace:epsilon=0.1", "discrete-gaussian:rho=0.03",
		"laplace:scale=10,sensitivity=2,sample=0.01",
		"gaussian:sigma=4,sensitivity=2,sample=0.01", "discrete-laplace:scale=10,sensitivity=2",
		"discrete-gaussian:sigma2=16,sensitivity=2") {
		c := compose(t, "-m "+m+" --delta 1e-6")
		if len(c.Mechanisms) != 1 || c.Mechanisms[0].Times != 1 || len(c.Results) < 2 {
			t.Errorf("%s: %+v", m, c)
		}
	}
	for a, b := range map[string]string{
		"laplace:epsilon=0.1":           "laplace:scale=10",
		"laplace:scale=5":               "laplace:scale=10,sensitivity=2",
		"gaussian:sigma=4":              "gaussian:rho=0.03125",
		"discrete-laplace:scale=10":     "discrete-laplace:epsilon=0.1",
		"discrete-gaussian:sigma2=16":   "discrete-gaussian:rho=0.03125",
		"randomized-response:epsilon=1": "pure:epsilon=1",
		"approx:epsilon=0.1,delta=0":    "pure:epsilon=0.1",
	} {
		x, y := compose(t, "-m "+a+" -k 20 --delta 1e-6").by(t, "pld"), compose(t, "-m "+b+" -k 20 --delta 1e-6").by(t, "pld")
		if math.Abs(x.Upper-y.Upper) > 1e-9*x.Upper || math.Abs(x.Lower-y.Lower) > 1e-9*x.Lower {
			t.Errorf("%s is %+v and %s is %+v", a, x, b, y)
		}
	}
}

// Times belong to the mechanism before them, in every way in which they can be written.
func TestComposeTimes(t *testing.T) {
	t.Parallel()
	const two = "--mechanism laplace:epsilon=0.1 --times 100 --mechanism pure:epsilon=0.2 --times 3 --delta 1e-6"
	want := compose(t, two)
	for _, args := range daily.Sample(t, []string{
		"-m laplace:epsilon=0.1 -k 100 -m pure:epsilon=0.2 -k 3 --delta 1e-6",
		"--mechanism=laplace:epsilon=0.1 --times=100 --mechanism=pure:epsilon=0.2 --times=3 --delta=1e-6",
		"-mlaplace:epsilon=0.1 -k100 -mpure:epsilon=0.2 -k3 --delta 1e-6",
		"-m=laplace:epsilon=0.1 -k=100 -m=pure:epsilon=0.2 -k=3 --delta 1e-6",
		"-m laplace:epsilon=0.1,times=100 -m pure:times=3,epsilon=0.2 --delta 1e-6",
		"--delta 1e-6 -k 100 -m laplace:epsilon=0.1 -m pure:epsilon=0.2 -k 3",
		"-m laplace:epsilon=0.1 --delta 1e-6 -k 100 -m pure:epsilon=0.2 --direction both -k 3",
	}, 3) {
		got := compose(t, args)
		if fmt.Sprint(got.Mechanisms, got.Results) != fmt.Sprint(want.Mechanisms, want.Results) {
			t.Errorf("%s gives\n%+v, want\n%+v", args, got, want)
		}
	}
	if m := want.Mechanisms; len(m) != 2 || m[0].Times != 100 || m[1].Times != 3 || m[1].Mechanism != "pure:epsilon=0.2" {
		t.Errorf("got %+v", m)
	}
	if sum := want.by(t, "basic").Upper; math.Abs(sum-10.6) > 1e-9 {
		t.Errorf("the sum is %v", sum)
	}
	if once := compose(t, "-m laplace:epsilon=0.1 -m pure:epsilon=0.2 -k 3 --delta 1e-6").Mechanisms; once[0].Times != 1 ||
		once[1].Times != 3 {
		t.Errorf("got %+v", once)
	}
}

func TestComposeForPeople(t *testing.T) {
	t.Parallel()
	r := command("account", "compose", "-m", "laplace:epsilon=0.1", "-k", "100", "--delta", "1e-6").wants(t, 0,
		"100 × laplace:epsilon=0.1 at delta 1e-6\n", "epsilon at least  epsilon at most", "Dwork, Rothblum, Vadhan 2010",
		"gaussian does not apply: ")
	rows := map[string][]string{}
	for line := range strings.Lines(r.out) {
		if f := strings.Fields(line); len(f) > 3 {
			rows[f[0]] = f
		}
	}
	// Rounded outwards, and no further than by the last digit.
	for method, want := range map[string][2]string{"basic": {"10", "10"}, "advanced": {"6.3082309", "6.308231"},
		"optimal": {"4.7745675", "4.7745676"}} {
		if f := rows[method]; f[1] != want[0] || f[2] != want[1] {
			t.Errorf("%s: %q", method, f)
		}
	}
	if rows["pld"][3] != "tightest" {
		t.Errorf("%q", rows["pld"])
	}
	command("account", "compose", "-m", "gaussian:sigma=4", "-k", "40", "--epsilon", "10").wants(t, 0, "delta at least",
		"3.3376275e-09  3.3376276e-09  tightest")
}

func TestCalibrate(t *testing.T) {
	t.Parallel()
	for _, g := range []struct {
		args, parameter string
		want            float64
		known           bool // whether the error of an answer is known
	}{
		{"-m gaussian --epsilon 1 --delta 1e-5", "sigma", 3.7306316348159418, true},
		{"-m gaussian -k 4 --epsilon 3 --delta 1e-9", "sigma", 2 * 1.9437242635119693, true},
		{"-m gaussian:sample=0.01 --epsilon 1 --delta 1e-5", "sigma", 0.6737928925, true},
		{"-m laplace -k 10 --epsilon 1 --delta 0", "scale", 10, true},
		{"-m laplace:sensitivity=3 -k 10 --epsilon 2 --delta 0", "scale", 15, true},
		{"-m laplace --epsilon 1 -m pure:epsilon=0.5 --delta 0", "scale", 2, true},
		{"-m exponential -k 10 --epsilon 1 --delta 0", "epsilon", 0.1, false},
		{"-k 10 -m randomized-response --epsilon 1 --delta 0", "epsilon", 0.1, false},
	} {
		v := command(append([]string{"account", "calibrate", "--json"}, strings.Fields(g.args)...)...).wants(t, 0).decode(t)
		value, lower, upper := v["value"].(float64), v["lower"].(float64), v["upper"].(float64)
		if v["parameter"] != g.parameter || math.Abs(value-g.want) > 1e-9 || lower > upper || upper-lower > 1e-8 ||
			value != lower && value != upper {
			t.Errorf("%s: %v", g.args, v)
		}
		if g.parameter != "epsilon" && (v[g.parameter] != value || value != upper) || g.parameter == "epsilon" && value != lower {
			t.Errorf("%s: %v", g.args, v)
		}
		if _, known := v["error95"]; known != g.known || v["epsilon"] == nil || v["delta"] == nil {
			t.Errorf("%s: %v", g.args, v)
		}
		// What was found keeps the budget, as compose says.
		if m := v["mechanisms"].([]any)[0].(map[string]any); v["delta"].(float64) > 0 {
			at := fmt.Sprintf("-m %v -k %v --epsilon %v", m["mechanism"], m["times"], v["epsilon"])
			if c := compose(t, at); c.by(t, c.Tightest).Upper > v["delta"].(float64) {
				t.Errorf("%s: %+v", at, c)
			}
		}
	}
	command("account", "calibrate", "-m", "gaussian", "--epsilon", "1", "--delta", "1e-5").wants(t, 0,
		"sigma 3.730631635\n", "gaussian keeps epsilon 1 at delta 1e-5.\n", "At sigma 3.730631634 it would not.\n",
		"within ±7.312 with probability 95 %")
	command("account", "calibrate", "-m", "exponential", "-k", "10", "--epsilon", "1", "--delta", "0").wants(t, 0, "epsilon 0.1\n",
		"10 × exponential keeps").lacks(t, "95 %")
}

// wellFormed reads an SVG and returns its texts.
func wellFormed(t *testing.T, file string) string {
	t.Helper()
	text := contents(t, file)
	var words strings.Builder
	root := ""
	for d := xml.NewDecoder(strings.NewReader(text)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		switch x := token.(type) {
		case xml.StartElement:
			if root == "" {
				root = x.Name.Local
			}
		case xml.CharData:
			words.Write(x)
			words.WriteByte('\n')
		}
	}
	if root != "svg" {
		t.Errorf("%s begins with %q", file, root)
	}
	return words.String()
}

func TestPlotFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	svg, picture := filepath.Join(dir, "a.svg"), filepath.Join(dir, "b.PNG")
	// Longer than what comes: a file is replaced whole.
	write(t, svg, strings.Repeat("old ", 1_000_000))
	command("account", "plot", "-m", "pure:epsilon=0.1", "-k", "30", "--log", "-o", svg, "--output", picture).wants(t, 0,
		"What pure:epsilon=0.1 costs when it is used again", "epsilon at delta 1e-6", "number of queries", "● basic", "□ pld",
		"wrote "+svg+"\n", "wrote "+picture+"\n")
	words := wellFormed(t, svg)
	for _, want := range []string{"basic", "advanced", "optimal", "zcdp", "rdp", "pld", "epsilon", "number of queries"} {
		if !strings.Contains(words, want) {
			t.Errorf("the picture does not say %q: %s", want, words)
		}
	}
	f, err := os.Open(picture)
	must(t, err)
	defer f.Close()
	if image, err := png.Decode(f); err != nil || image.Bounds().Dx() < 600 || image.Bounds().Dy() < 300 {
		t.Errorf("%v, %v", image, err)
	}
	if info, err := os.Stat(svg); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	loss := filepath.Join(dir, "loss.svg")
	command("account", "plot", "--what", "loss", "-m", "gaussian:sigma=1", "--epsilon", "1", "-o", loss).wants(t, 0,
		"The privacy loss of gaussian:sigma=1", "epsilon = 1", "delta = 0.127", "privacy loss", "wrote "+loss)
	if words := wellFormed(t, loss); !strings.Contains(words, "delta = 0.127") {
		t.Errorf("got %s", words)
	}
	only(t, dir, "a.svg", "b.PNG", "loss.svg")
}

func only(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if !slices.Equal(names, want) {
		t.Errorf("the folder holds %q, want %q", names, want)
	}
}

// A file that cannot be written stays as it was, and nothing is left beside it.
func TestPlotFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	old := write(t, filepath.Join(dir, "a.svg"), "old")
	r := processed(t, "DISCREET_TEST_FSIZE=1000", "account", "plot", "-m", "pure:epsilon=0.1", "-k", "5", "-o", old)
	if r.code == 0 && r.err == "" {
		t.Skip("files cannot be limited here")
	}
	r.wants(t, 1, "a.svg cannot be written")
	if text, err := os.ReadFile(old); err != nil || string(text) != "old" {
		t.Errorf("it holds %q, %v", text, err)
	}
	only(t, dir, "a.svg")
	must(t, os.Mkdir(filepath.Join(dir, "b.svg"), 0o700))
	command("account", "plot", "-m", "pure:epsilon=0.1", "-k", "5", "-o", filepath.Join(dir, "b.svg")).wants(t,
		2, "is a folder: write to a file")
	only(t, dir, "a.svg", "b.svg")
}

func TestPlotText(t *testing.T) {
	t.Parallel()
	args := []string{"account", "plot", "-m", "pure:epsilon=0.1", "-k", "20"}
	r := command(append(args, "--ascii")...).wants(t, 0, "epsilon", "number of queries", "basic")
	if strings.Trim(r.out, "\n !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~") != "" {
		t.Errorf("not ASCII: %s", r.out)
	}
	for line := range strings.Lines(command(args...).wants(t, 0).out) {
		if len([]rune(line)) > 81 {
			t.Errorf("a line is too long: %s", line)
		}
	}
	// The shaded part is explained in full.
	command("account", "plot", "--what", "loss", "-m", "laplace:epsilon=0.1", "-k", "100").wants(t, 0,
		"weighted by 1 - exp(epsilon - loss)\n", "epsilon = 4.693")
}

func points(t *testing.T, args ...string) (curves map[string][][2]float64, atoms [][2]float64) {
	t.Helper()
	var p struct {
		Title, X, Y string
		Curves      []struct {
			Name   string
			Points [][2]float64
		}
		Atoms [][2]float64
	}
	r := command(append([]string{"account", "plot", "--json"}, args...)...).wants(t, 0)
	r.decode(t)
	if err := json.Unmarshal([]byte(r.out), &p); err != nil || p.Title == "" || p.X == "" || p.Y == "" {
		t.Fatalf("%s: %v", r.out, err)
	}
	curves = map[string][][2]float64{}
	for _, c := range p.Curves {
		curves[c.Name] = c.Points
	}
	return curves, p.Atoms
}

func TestPlotJSON(t *testing.T) {
	t.Parallel()
	curves, _ := points(t, "-m", "pure:epsilon=0.1", "-k", "100", "--delta", "1e-6")
	for method, want := range map[string]float64{"basic": 10, "advanced": 6.3082309505134082, "optimal": 4.7745675881079862} {
		p := curves[method]
		if len(p) == 0 {
			t.Fatalf("%s has no curve", method)
		}
		if first, last := p[0], p[len(p)-1]; first[0] != 1 || last[0] != 100 || math.Abs(last[1]-want) > 1e-9 {
			t.Errorf("%s: from %v to %v", method, first, last)
		}
		for i := 1; i < len(p); i++ {
			if p[i][0] <= p[i-1][0] || p[i][1] < p[i-1][1] {
				t.Errorf("%s goes from %v to %v", method, p[i-1], p[i])
			}
		}
	}
	// Randomized response loses epsilon or minus epsilon, and nothing between.
	curves, atoms := points(t, "--what", "loss", "-m", "randomized-response:epsilon=1", "--epsilon", "0.5")
	p := 1 / (1 + math.Exp(-1))
	if len(curves) != 0 || len(atoms) != 2 || math.Abs(atoms[0][1]+atoms[1][1]-1) > 1e-9 || math.Abs(atoms[1][1]-p) > 1e-9 ||
		math.Abs(atoms[1][0]-1) > 1e-9 {
		t.Errorf("got %v and %v", curves, atoms)
	}
	// Under sampling the two directions have different losses.
	away, _ := points(t, "--what", "loss", "-m", "gaussian:sigma=1,sample=0.5", "--epsilon", "1", "--direction", "remove")
	home, _ := points(t, "--what", "loss", "-m", "gaussian:sigma=1,sample=0.5", "--epsilon", "1", "--direction", "add")
	if fmt.Sprint(away) == fmt.Sprint(home) {
		t.Error("both directions have the same picture")
	}
}

// Every kind of bad input to the account commands: refused with a hint, with and without --json.
func TestAccountRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const l, g = "-m laplace:epsilon=0.1 -k 10 ", "-m gaussian "
	for _, c := range []struct{ args, says string }{
		{"compose " + l + "--delta 0", "must be above 0 for every method but one: simple composition gives epsilon 1 at delta 0"},
		{"compose -m gaussian:sigma=1 --delta 0", "must be above 0"},
		{"compose " + l + "--delta 1", "must be above 0 and below 1: write one such as 1e-6"},
		{"compose " + l + "--delta NaN", "delta is NaN, but must be above 0 and below 1"},
		{"compose " + l + "--delta -1e-6", "delta is -1e-06, but must be above 0"},
		{"compose " + l + "--delta=-1", "delta is -1, but must be above 0"},
		{"compose " + l + "--delta inf", "below 1"},
		{"compose " + l + "--delta 1/2", `delta is "1/2": write a number such as 1e-6`},
		{"compose " + l + "--delta", "see discreet account compose --help"},
		{"compose " + l + "--epsilon NaN", "epsilon is NaN, but must be a number of at least 0"},
		{"compose " + l + "--epsilon -1", "epsilon is -1, but must be a number of at least 0"},
		{"compose " + l + "--epsilon inf", "at least 0"},
		{"compose " + l + "--epsilon abc", `epsilon is "abc": write a number such as 0.5`},
		{"compose " + l, "give --delta to compute epsilon, or --epsilon to compute delta"},
		{"compose " + l + "--delta 1e-6 --epsilon 1", "--delta and --epsilon can't be used together"},
		{"compose --delta 1e-6", "missing flags: --mechanism=M"},
		{"compose --delta 1e-6 --times 10", "missing flags: --mechanism=M"},
		{"compose -m laplas:epsilon=1 --delta 1e-6", `there is no mechanism "laplas": write one of laplace, gaussian`},
		{"compose -m laplace:sigma=1 --delta 1e-6", `laplace has no parameter "sigma": it takes epsilon, scale, sensitivity, sample`},
		{"compose -m pure:epsilon=1,sensitivity=2 --delta 1e-6", `pure has no parameter "sensitivity": it takes epsilon, sample`},
		{"compose -m laplace --delta 1e-6", `"laplace" does not say how much noise there is: write for example laplace:epsilon=0.1`},
		{"compose -m laplace -k 3 --delta 1e-6", `"laplace" does not say how much noise`},
		{"compose -m gaussian:sigma=0 --delta 1e-6", "sigma is 0, but must be above 0"},
		{"compose -m gaussian:sigma=-1 --delta 1e-6", "sigma is -1, but must be above 0"},
		{"compose -m gaussian:sigma=NaN --delta 1e-6", "write it like sigma=0.1"},
		{"compose -m gaussian:sigma=1e300 --delta 1e-6", "must be between"},
		{"compose -m gaussian:sigma=1,sample=2 --delta 1e-6", "the sampling rate is 2, but must be above 0 and at most 1"},
		{"compose -m discrete-gaussian:sigma2=1,sensitivity=0.5 --delta 1e-6", "a whole number"},
		{"compose -m laplace:epsilon=0.1 --times 0 --delta 1e-6",
			`laplace is used "0" times: write a whole number between 1 and 1000000000`},
		{"compose -m laplace:epsilon=0.1 --times -1 --delta 1e-6", `"-1" times: write a whole number`},
		{"compose -m laplace:epsilon=0.1 -k -1 --delta 1e-6", `"-1" times: write a whole number`},
		{"compose -m laplace:epsilon=0.1 -k 2.5 --delta 1e-6", `"2.5" times: write a whole number`},
		{"compose -m laplace:epsilon=0.1 -k 99999999999999999999 --delta 1e-6", "write a whole number between 1 and 1000000000"},
		{"compose -m laplace:epsilon=0.1 -k 1000000000 -m pure:epsilon=0.1 --delta 1e-6", "more than 1000000000 uses in all"},
		{"compose " + l + "-k 11 --delta 1e-6", "its times are given twice"},
		{"compose -k 10 -k 11 -m laplace:epsilon=0.1 --delta 1e-6", "its times are given twice"},
		{"compose -m laplace:epsilon=0.1 -k --delta 1e-6", "see discreet account compose --help"},
		{"compose " + l + "--delta 1e-6 --direction sideways", `must be one of "both","remove","add"`},
		{"compose " + l + "--delta 1e-6 more", "see discreet account compose --help"},
		{"calibrate " + g + "--epsilon 1 --delta 0", "write a delta such as 1e-6, or use laplace"},
		{"calibrate " + g + "--epsilon 1 --delta 1", "delta is 1, but must be at least 0 and below 1"},
		{"calibrate " + g + "--epsilon 0 --delta 1e-6", "epsilon is 0, but must be above 0"},
		{"calibrate " + g + "--epsilon -1 --delta 1e-6", "epsilon is -1, but must be above 0"},
		{"calibrate " + g + "--epsilon NaN --delta 1e-6", "must be above 0"},
		{"calibrate " + g + "--epsilon 1", "missing flags: --delta=D"},
		{"calibrate -m gaussian:sigma=1 --epsilon 1 --delta 1e-6",
			"no mechanism leaves its noise open: write one without it, such as gaussian"},
		{"calibrate -m gaussian -m laplace --epsilon 1 --delta 1e-6", "leave it open for one kind of mechanism"},
		{"calibrate -m gaussian -m laplace:epsilon=2 -k 9 --epsilon 1 --delta 1e-6", "use the mechanisms less often"},
		{"calibrate -m laplace -k 1000000000 --epsilon 1 --delta 0", "no noise up to 1e+08 is enough"},
		{"plot " + l + "-o " + dir + "/x.pdf", "x.pdf: write to a file that ends in .svg or .png"},
		{"plot " + l + "-o " + dir + "/x", "ends in .svg or .png"},
		{"plot " + l + "-o " + dir + "/none/x.svg", "none: this folder does not exist; create it or name another"},
		{"plot " + l + "-m gaussian:sigma=1 -k 10", "give --mechanism once"},
		{"plot " + l + "--epsilon 1", "--epsilon is for --what loss: give --delta here"},
		{"plot -m laplace:epsilon=0.1", "add --times, the number of queries to plot, such as --times 1000"},
		{"plot " + l + "--delta 0", "simple composition"},
		{"plot " + l + "--delta x", "write a number such as 1e-6"},
		{"plot " + l + "--what nothing", `must be one of "epsilon","loss"`},
		{"plot " + l + "--what loss --epsilon -1", "at least 0"},
		{"plot --what loss", "missing flags: --mechanism=M"},
	} {
		args := append([]string{"account"}, strings.Fields(c.args)...)
		if r := command(args...).wants(t, 2, "refused: ", c.says); strings.Count(r.err, "\n") != 1 {
			t.Errorf("%q says %q", args, r.err)
		}
		command(append([]string{args[0], args[1], "--json"}, args[2:]...)...).fails(t, 2, "refused")
	}
	command("account").wants(t, 2, "account")
	only(t, dir)
}
