package duckdb

import (
	"database/sql"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/sqlgen"
	"github.com/discreet-dp/discreet/internal/test/daily"
	"github.com/discreet-dp/discreet/internal/test/generate"
	naive "github.com/discreet-dp/discreet/internal/test/reference"
	"github.com/discreet-dp/discreet/policy"
)

// TestOptimizersAreListed: every allowed rule exists, has a reason, and all others are off in a
// locked engine.
func TestOptimizersAreListed(t *testing.T) {
	e := open(t, dataset(t, csvFolder(t), "source: t.csv\nunit: row\ntables: {t: {columns: {i: {type: integer}}}}"))
	var off string
	mustDo(t, e.now.DB.QueryRowContext(t.Context(), "SELECT current_setting('disabled_optimizers')").Scan(&off))
	disabled := strings.Split(off, ",")
	for i := range disabled {
		disabled[i] = strings.TrimSpace(disabled[i])
	}
	rules := ruleNames(t, e.now)
	for _, rule := range rules {
		if allowed := optimizers[rule] != ""; allowed == slices.Contains(disabled, rule) {
			t.Errorf("%s: allowed is %v, and disabled too", rule, allowed)
		}
	}
	for rule := range optimizers {
		if !slices.Contains(rules, rule) {
			t.Errorf("there is no rule %s", rule)
		}
	}
	for rule := range harmfulOptimizers {
		if !slices.Contains(disabled, rule) || !slices.Contains(rules, rule) {
			t.Errorf("%s is not off", rule)
		}
	}
	// What may be done with a setting is locked, too.
	if _, err := e.now.DB.ExecContext(t.Context(), "SET disabled_optimizers = ''"); err == nil {
		t.Error("the rules can be changed")
	}
}

func csvFolder(t *testing.T) string {
	folder := t.TempDir()
	write(t, folder, "t.csv", "i\n1\n2\n")
	return folder
}

func ruleNames(t *testing.T, s *snapshot) []string {
	rows := must(s.DB.QueryContext(t.Context(), "SELECT name FROM duckdb_optimizers()"))(t)
	defer rows.Close()
	var out []string
	for rows.Next() {
		var name string
		mustDo(t, rows.Scan(&name))
		out = append(out, name)
	}
	return out
}

// TestHarmfulOptimizers shows what the rules do that must be off: with each of them a statement has
// another outcome than without.
func TestHarmfulOptimizers(t *testing.T) {
	for text, rule := range map[string]string{
		"SELECT sum(x * 4000000000::BIGINT * 4000000000::BIGINT) FROM (SELECT unnest([0::BIGINT, 0]) AS " +
			"x)": "expression_rewriter",
		"SELECT count(a), count(b) FROM (SELECT TRY(x * y + 1) AS a, TRY(x * y + 2) AS b FROM (SELECT unnest([4000000000::BIGINT]) AS x, " +
			"unnest([4000000000::BIGINT]) AS y))": "common_subexpressions",
		"SELECT count(*) FROM (SELECT CASE WHEN TRY_CAST(h AS BIGINT) > 5 THEN 5 ELSE TRY_CAST(h AS BIGINT) END AS x FROM wide) WHERE x " +
			"IS NULL": "expression_rewriter",
	} {
		db := sqlDB(t, "CREATE TABLE wide AS SELECT unnest([1::HUGEINT, 170141183460469231731687303715884105727]) AS h")
		outcome := func(setting string) string {
			must(db.ExecContext(t.Context(), "SET disabled_optimizers = '"+setting+"'"))(t)
			var n any
			cells := []any{&n}
			if rule == "common_subexpressions" {
				cells = append(cells, new(any))
			}
			if err := db.QueryRowContext(t.Context(), text).Scan(cells...); err != nil {
				return "an error"
			}
			return fmt.Sprint(n)
		}
		with, without := outcome(""), outcome(rule)
		if with == without {
			t.Errorf("%s: %s with it and without; is it still harmful?", rule, with)
		}
		t.Logf("%s: %s with it, %s without", rule, with, without)
	}
}

func sqlDB(t *testing.T, statements ...string) *sql.DB {
	db := must(sql.Open("duckdb", ""))(t)
	t.Cleanup(func() { db.Close() })
	db.SetMaxOpenConns(1)
	for _, s := range statements {
		must(db.Exec(s))(t)
	}
	return db
}

// TestOptimizersChangeNothing asks everything with the rules that are allowed, with all that are
// not known to do harm, with none, and with each of them alone: the same integers.
func TestOptimizersChangeNothing(t *testing.T) {
	for name, c := range optimizerCorpora(t) {
		t.Run(name, func(t *testing.T) {
			locked := open(t, c.dataset)
			free := must(openUnlocked(t.Context(), c.dataset, asDeclared, Limits{}))(t)
			defer free.close()
			rules := ruleNames(t, free)
			known := slices.Sorted(maps.Keys(harmfulOptimizers))
			settings := map[string][]string{"all rules": known, "no rule": rules}
			for _, alone := range rules {
				if harmfulOptimizers[alone] != "" {
					continue
				}
				settings[alone+" alone"] = slices.DeleteFunc(slices.Clone(rules), func(r string) bool { return r == alone })
			}
			turn := turnOf(t, 256)
			asked, wanted := 0, map[string][]outcome{}
			for i, how := range slices.Sorted(maps.Keys(settings)) {
				if _, err := free.DB.ExecContext(t.Context(), "SET disabled_optimizers = "+sqlgen.QuoteText(strings.Join(settings[how],
					","))); err != nil {
					t.Fatal(err)
				}
				for k, text := range c.questions {
					every := 16 // question with all rules or none
					if strings.HasSuffix(how, " alone") {
						every = 256
					}
					if !daily.Full() && (i+k+turn)%every != 0 {
						continue
					}
					if wanted[text] == nil {
						wanted[text] = c.asked(t, locked, text)
					}
					for _, want := range wanted[text] {
						asked++
						got, err := free.run(t.Context(), want.query)
						if (want.err == nil) != (err == nil) {
							t.Errorf("%s: %s: %v, and %v", how, text, want.err, err)
						} else if err == nil && want.result != opened(got) {
							t.Errorf("%s: %s: %v, and %v", how, text, want.result, opened(got))
						}
					}
				}
			}
			t.Logf("%d questions, with %d settings", asked, len(settings))
			if asked < rounds(4, 100) {
				t.Error("too few for a test")
			}
		})
	}
}

type outcome struct {
	query  *tree.Query
	result string
	err    error
}

// asked returns what the queries of a text give; nothing where it is refused.
func (c optimizerCorpus) asked(t *testing.T, e *Engine, text string) []outcome {
	out := []outcome{}
	s, err := planner.Prepare(c.dataset, text, planner.Options{Public: c.public})
	if err != nil {
		return out
	}
	for _, p := range s.Plans {
		r, err := e.Run(t.Context(), &p.Query)
		one := outcome{query: &p.Query, err: err}
		if err == nil {
			one.result = opened(r)
		}
		out = append(out, one)
	}
	return out
}

type optimizerCorpus struct {
	dataset   *policy.Dataset
	public    tree.Public
	questions []string
}

// optimizerCorpora are expressions on the worst values, questions on a shop, and attacks.
func optimizerCorpora(t *testing.T) map[string]optimizerCorpus {
	folder := t.TempDir()
	owner(t, filepath.Join(folder, "t.duckdb"), "CREATE TABLE t AS "+hostileRows)
	out := map[string]optimizerCorpus{"expressions": {dataset: dataset(t, folder, "source: t.duckdb"+hostileKeys), questions: corpus(0)}}
	shop := t.TempDir()
	out["shop"] = optimizerCorpus{dataset: shopDataset(t, shop, storeShop(t, shop, "duckdb", nil, nil), "add-remove", 2, 2),
		questions: shopQuestions()}
	var attacks []string
	for _, a := range generate.Attacks() {
		attacks = append(attacks, a.Text)
	}
	for _, ds := range generate.Worlds()[:2] {
		made := generate.Make(generate.NewDice("optimizers", 1), ds)
		source := filepath.Join(t.TempDir(), "made.duckdb")
		owner(t, source, made.SQL()...)
		stored := *ds
		stored.Source = source
		out["attacks on "+ds.Name] = optimizerCorpus{&stored, naive.New(ds, made.Tables).Public(), attacks}
	}
	return out
}
