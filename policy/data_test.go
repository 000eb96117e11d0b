package policy

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/account"
)

var rewrite = flag.Bool("rewrite", false, "write the results into testdata instead of comparing them")

// TestData runs testdata/*.txt. A file holds cases separated by lines of ====,
// each a policy, a line of ----, and what reading it gives: the problems, or
// what was understood. Lines before the first ==== are a comment.
func TestData(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no test data", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			parts := strings.Split(string(text), "====\n")
			for i, c := range parts[1:] {
				in, want, _ := strings.Cut(c, "----\n")
				got := understood("p.yaml", in)
				if *rewrite {
					parts[i+1] = in + "----\n" + got
				} else if got != want {
					t.Errorf("case %d:\n%s\ngot:\n%s\nwant:\n%s", i+1, in, got, want)
				}
			}
			if *rewrite {
				if err := os.WriteFile(file, []byte(strings.Join(parts, "====\n")), 0o666); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// understood shows all that a policy says, or its problems.
func understood(name, text string) string {
	p, err := Parse(name, []byte(text))
	if err != nil {
		return err.Error() + "\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "ledger %s\n", p.Ledger)
	if p.Anchor != (Anchor{}) {
		fmt.Fprintf(&b, "anchor %+v\n", p.Anchor)
	}
	for _, name := range p.Names() {
		d := p.Datasets[name]
		fmt.Fprintf(&b, "dataset %s: %s %q, unit %v, %v\n", d.Name, d.Engine, d.Source, d.Unit, d.Neighbours)
		fmt.Fprintf(&b, "  budget epsilon %v, delta %v, min %v, default %v, max %v; filter %v\n",
			d.Budget.Epsilon, d.Budget.Delta, d.Budget.MinEpsilon, d.Budget.DefaultEpsilon, d.Budget.MaxEpsilon, d.Filter().Limit())
		if d.Budget.KeysDelta > 0 {
			fmt.Fprintf(&b, "  for keys %v, %v a question\n", d.Budget.KeysDelta, d.Budget.DefaultDelta)
		}
		if d.Budget.Renews() {
			fmt.Fprintf(&b, "  renewed every %s, %d windows; all together %v\n", d.Budget.Renewal.Every, d.Budget.Renewal.Windows,
				d.TotalFilter().Limit())
		}
		for _, g := range d.GroupNames() {
			q, _ := d.GroupQuota(g)
			fmt.Fprintf(&b, "  group %s: %s, quota %v, of %v\n", g, showQuota(d.Groups[g].Share, d.Groups[g].Epsilon), q.Limit(),
				d.Groups[g].Analysts)
		}
		for _, name := range d.AnalystNames() {
			q, _ := d.Quota(name)
			a := d.Analysts[name]
			fmt.Fprintf(&b, "  analyst %s: %s, quota %v", name, showQuota(a.Share, a.Epsilon), q.Limit())
			if !a.Expires.IsZero() {
				fmt.Fprintf(&b, ", expires %s", a.Expires.Format(time.DateOnly))
			}
			fmt.Fprintln(&b)
		}
		switch r := d.Release; {
		case r.Immediate:
			fmt.Fprintln(&b, "  released at once")
		case !r.Chosen():
			fmt.Fprintf(&b, "  released every %v, at deadlines: %v\n", r.Tick, r.Deadline())
		}
		if d.Sizes != nil {
			b.WriteString(d.Sizes.Text(d))
		}
		if d.Failures != (Failures{}) {
			fmt.Fprintf(&b, "  bears %d failures of an analyst, %d of all\n", d.FailureLimits().Analyst, d.FailureLimits().Dataset)
		}
		if d.VersionQuery != "" {
			fmt.Fprintf(&b, "  version %q\n", d.VersionQuery)
		}
		for _, name := range d.TableNames() {
			t := d.Tables[name]
			fmt.Fprintf(&b, "  table %s: %v %q, max_rows %d, max_groups %d, files %q, delimiter %q\n",
				t.Name, t.UnitKind, t.UnitColumn, t.MaxRows, t.MaxGroups, d.Files(t), t.Delimiter)
			if t.Public {
				fmt.Fprintf(&b, "    unique column %q\n", t.UniqueColumn)
			}
			if len(t.Path) > 0 {
				fmt.Fprintf(&b, "    path %v\n", t.Path)
			}
			for _, name := range t.ColumnNames() {
				fmt.Fprintf(&b, "    %s\n", showColumn(t.Columns[name]))
			}
		}
		for _, name := range d.ViewNames() {
			fmt.Fprintf(&b, "  view %s: %q\n", name, d.Views[name])
		}
		for _, name := range d.StreamNames() {
			showStream(&b, d, d.Streams[name])
		}
		for _, name := range d.HoldoutNames() {
			h := d.Holdouts[name]
			fmt.Fprintf(&b, "  holdout %s: labels %q %q %q, table %q %q, size %d, threshold %s, noise %s, answers %d, steps %d\n",
				h.Name, h.Labels, h.Column, h.ID, h.Table, h.Train, h.Size, h.Threshold.RatString(), h.Noise.RatString(), h.Answers,
				h.Steps)
		}
	}
	return b.String()
}

func showStream(b *strings.Builder, d *Dataset, s *Stream) {
	q, _ := d.StreamQuota(s.Name)
	fmt.Fprintf(b, "  stream %s: table %s, %d cells, size %d, alpha %v, beta %v, queries %d, budget %v, quota %v, predictor %q\n",
		s.Name, s.Table, s.Cells(), s.Size, s.Alpha, s.Beta, s.Queries, s.Budget, q.Limit(), s.Predictor)
	for _, c := range s.Columns {
		fmt.Fprintf(b, "    %s: %q", c.Name, c.Labels())
		for _, bin := range c.Bins {
			switch {
			case bin.Other:
				b.WriteString(" other")
			case bin.Range:
				fmt.Fprintf(b, " %d..%d", bin.Lo, bin.Hi)
			default:
				fmt.Fprintf(b, " %v", bin.Value)
			}
		}
		if c.Null {
			b.WriteString(" null")
		}
		b.WriteString("\n")
	}
}

func showQuota(share *big.Rat, epsilon dp.Amount) string {
	if share == nil {
		return "epsilon " + epsilon.String()
	}
	return "share " + share.RatString()
}

func showColumn(c *Column) string {
	s := fmt.Sprintf("%s: %v, nullable %v", c.Name, c.Type, c.Nullable)
	if c.Granularity != nil {
		s += ", granularity " + decimal(c.Granularity)
	}
	if b := c.Bounds; b != nil {
		s += fmt.Sprintf(", bounds %s = %d to %d steps = %s to %s", c.boundsText(), b.LoSteps, b.HiSteps,
			b.Lo.RatString(), b.Hi.RatString())
	}
	if c.BoundsFromData {
		s += " from data"
	}
	if c.Keys != NoKeys {
		s += fmt.Sprintf(", %v keys", c.Keys)
	}
	for _, v := range c.KeyValues {
		if v.Null || v.Type != Text {
			s += " " + c.ShowValue(v)
		} else {
			s += fmt.Sprintf(" %q", v.Text)
		}
	}
	return s
}

func TestLoad(t *testing.T) {
	p, err := Load("testdata/hospital.yaml")
	if err != nil {
		t.Fatal(err)
	}
	d := p.Datasets["hospital"]
	if p.Ledger != filepath.Join("testdata", "hospital.ledger") || d.Source != filepath.Join("testdata", "hospital.duckdb") {
		t.Errorf("ledger %s, source %s", p.Ledger, d.Source)
	}
	if got := d.Tables["patients"].ColumnNames(); strings.Join(got, " ") != "age sex diagnosis cost" {
		t.Errorf("columns %v", got)
	}
	if _, err := Load("testdata/none.yaml"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
}

func TestLimits(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"size":     {strings.Repeat("#\n", MaxSize/2+1), "larger than 1 MiB"},
		"comments": {strings.Repeat("#\n", MaxSize/2), "empty"},
		"brackets": {strings.Repeat("[", MaxSize), "not YAML"},
		"closed":   {strings.Repeat("[", 5000) + strings.Repeat("]", 5000), "nested more than"},
		"dashes":   {strings.Repeat("- ", MaxSize/2), "not YAML"},
		"chain":    {chain(maxPath), ""},
		"long":     {chain(maxPath + 1), "more than 32 steps"},
		"longest":  {chain(9_000), "more than 32 steps"},
		"view":     {withView(maxView), ""},
		"views":    {withView(maxView + 1), "at most 64 KiB"},
		"many":     {"datasets:\n" + strings.Repeat(" - a\n", 100_000), "but this is a list"},
		"keys":     {manyKeys(10_001), "at most 10000"},
		"allowed":  {manyKeys(10_000), ""},
		"problems": {strings.Repeat("? [a]\n", 1000), "and 901 more problems"},
	} {
		_, err := Parse("p.yaml", []byte(c.text))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: got %.300v, want %s", name, err, c.want)
		}
	}
}

// chain is a policy whose last table is n steps from the unit.
func chain(n int) string {
	var b strings.Builder
	b.WriteString("datasets: {d: {engine: duckdb, source: a.db, unit: t0.u, budget: {epsilon: 1}, analysts: {a: }, tables: {t0: {unique: " +
		"u, columns: {}}")
	for i := range n {
		key := fmt.Sprintf("t%d.k", i)
		if i == 0 {
			key = "t0.u"
		}
		fmt.Fprintf(&b, ", t%d: {path: p -> %s, max_rows: 1, max_groups: 1, columns: {}}", i+1, key)
	}
	return b.String() + "}}}\n"
}

func withView(size int) string {
	return "datasets: {d: {engine: duckdb, source: a.csv, unit: row, budget: {epsilon: 1}, analysts: {a: }, tables: {t: {columns: {}}}, " +
		"views: {v: '" + strings.Repeat("x", size) + "'}}}\n"
}

func manyKeys(n int) string {
	var b strings.Builder
	b.WriteString("datasets: {d: {engine: duckdb, source: a.csv, unit: row, budget: {epsilon: 1}, analysts: {a: }, tables: {t: {columns: " +
		"{c: {type: text, keys: [")
	for i := range n {
		fmt.Fprintf(&b, "k%d, ", i)
	}
	return b.String() + "]}}}}}}\n"
}

// TestQuotaRoundsDown checks that quotas never add up to more than they say.
func TestQuotaRoundsDown(t *testing.T) {
	d := &Dataset{Budget: Budget{Epsilon: 10}, Analysts: map[string]*Analyst{"third": {Share: big.NewRat(1, 3)}, "all": {}}}
	if q, ok := d.Quota("third"); !ok || q.Limit().Epsilon != 3 || q.Limit().Rho != dp.Unbounded {
		t.Errorf("a third of ten units is %v", q.Limit())
	}
	if q, ok := d.Quota("all"); !ok || q != d.Filter() {
		t.Errorf("no share is %v", q.Limit())
	}
	if _, ok := d.Quota("nobody"); ok {
		t.Error("there is a quota for nobody")
	}
	d.Budget.Delta = dp.One / 1000
	if l := d.Filter().Limit(); l.Epsilon != dp.Unbounded || l.Delta != 0 {
		t.Errorf("the filter follows the budget: %v", l)
	}
	d.Budget.Epsilon, d.Budget.KeysDelta = dp.One, 10
	if q, _ := d.Quota("third"); q.Limit().Delta != 3 || d.Filter().Limit().Delta != 10 {
		t.Errorf("a third of ten units of delta is %v", q.Limit())
	}
	// What the file cannot say admits nothing.
	for _, keys := range []dp.Amount{d.Budget.Delta, d.Budget.Delta + 1} {
		if d.Budget.KeysDelta = keys; d.Filter() != (account.Filter{}) {
			t.Errorf("all of delta is set aside, and there is the filter %v", d.Filter().Limit())
		}
	}
}

// TestDesign reads the policy that the package comment shows.
func TestDesign(t *testing.T) {
	src, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for line := range strings.Lines(string(src)) {
		if strings.HasPrefix(line, "// # The text") {
			break
		}
		if rest, ok := strings.CutPrefix(line, "//\t"); ok {
			text.WriteString(rest)
		}
	}
	file, err := os.ReadFile("testdata/hospital.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if text.String() != string(file) {
		t.Errorf("the package comment and testdata/hospital.yaml differ:\n%s", text.String())
	}
}

// Without noise in the file a budget with a delta is kept by either sum, unless somebody has a part
// of it, or it is renewed.
func TestNoise(t *testing.T) {
	for _, c := range []struct {
		budget, analysts, noise string
		either                  bool
	}{
		{"{epsilon: 1, delta: 1e-6}", "{ana: {}, ben: {}}", "auto", true},
		{"{epsilon: 1, delta: 1e-6}", "{ana: {share: 0.5}, ben: {}}", "gaussian", false},
		{"{epsilon: 1, delta: 1e-6}", "{ana: {epsilon: 1}}", "gaussian", false},
		{"{epsilon: 1, delta: 1e-6, noise: auto}", "{ana: {share: 0.5}}", "auto", true},
		{"{epsilon: 1, delta: 1e-6, noise: laplace}", "{ana: {share: 0.5}}", "laplace", true},
		{"{epsilon: 1, delta: 1e-6, noise: gaussian}", "{ana: {}}", "gaussian", false},
		{"{epsilon: 1, delta: 1e-6, renewal: {every: month, windows: 2}}", "{ana: {}}", "", false},
		{"{epsilon: 1}", "{ana: {}}", "", false},
	} {
		p, err := Parse("p.yaml", []byte("datasets: {d: {engine: duckdb, source: ., unit: row, budget: "+c.budget+", analysts: "+c.analysts+
			", tables: {t: {columns: {x: {type: boolean}}}}}}"))
		if err != nil {
			t.Fatal(err)
		}
		d := p.Datasets["d"]
		limit := d.Filter().Limit()
		if d.Budget.Noise != c.noise || d.Budget.Either() != c.either ||
			c.either != (limit.Epsilon != dp.Unbounded && limit.Rho != dp.Unbounded) {
			t.Errorf("%s for %s: %q, %v, limit %v", c.budget, c.analysts, d.Budget.Noise, d.Budget.Either(), limit)
		}
		for name := range d.Analysts {
			if q, _ := d.Quota(name); c.either && (q.Limit().Epsilon == dp.Unbounded || q.Limit().Epsilon > limit.Epsilon ||
				q.Limit().Rho > limit.Rho) {
				t.Errorf("%s of %s has %v", name, c.analysts, q.Limit())
			}
		}
	}
}
