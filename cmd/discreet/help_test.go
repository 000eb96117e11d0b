package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/internal/version"
)

func TestHelp(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"demo", "demo shop", "demo stream", "demo train", "train", "predict", "stream", "stream rehearse",
		"stream ask", "stream list", "stream report", "stream synthetic", "init", "check", "prepare", "query", "explain", "ask", "budget",
		"incidents", "incidents list", "incidents release", "ledger", "user", "account", "holdout", "ledger show", "ledger verify",
		"ledger export", "ledger replay", "ledger anchor", "ledger key", "ledger topup", "ledger renew", "account compose",
		"account calibrate", "account plot", "survey", "holdout list", "holdout score", "holdout board", "holdout plan",
		"holdout maxinfo", "holdout pvalue", "holdout demo", "holdout lecture", "audit", "serve", "reload", "mcp",
		"attach", "completion", "version"} {
		r := command(append(strings.Fields(name), "--help")...).wants(t, 0, "Usage: discreet "+name, "\n    discreet "+name)
		if r.err != "" {
			t.Errorf("%s --help says %q", name, r.err)
		}
		for line := range strings.Lines(r.out) {
			if len(line) > 130 {
				t.Errorf("%s --help has a line of %d bytes", name, len(line))
			}
		}
	}
	general := command("--help").wants(t, 0, "Exit codes: 0 answered, 2 refused (nothing spent), 3 budget exhausted", "discreet demo")
	if nothing := command().wants(t, 0); nothing.out != general.out {
		t.Errorf("without arguments it says %q", nothing.out)
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	text := command("version").wants(t, 0, "discreet "+version.Version+" (", runtime.Version(), "DuckDB v1.").out
	if again := command("--version").wants(t, 0).out; again != text {
		t.Errorf("--version says %q, and version %q", again, text)
	}
	if !regexp.MustCompile(`(?m)^ledger in a file +3 +3$`).MatchString(text) || !regexp.MustCompile(`(?m)^users +2 +1 to 2$`).MatchString(text) {
		t.Error(text)
	}
	documented := contents(t, "../../docs/upgrade.md")
	for line := range strings.Lines(text[strings.Index(text, "\n")+1:]) {
		if !strings.Contains(documented, strings.TrimRight("    "+line, " \n")+"\n") {
			t.Errorf("docs/upgrade.md does not have %q", line)
		}
	}
	v := command("--version", "--json").wants(t, 0).decode(t)
	if v["version"] != version.Version || v["commit"] != version.Revision() || v["go"] != runtime.Version() || v["platform"] == "" ||
		!strings.HasPrefix(fmt.Sprint(v["duckdb"]), "v") {
		t.Errorf("got %v", v)
	}
	for _, name := range []string{"ledger_file", "ledger_postgres", "anchor", "users", "policy", "model", "duckdb"} {
		f, _ := v["formats"].(map[string]any)[name].(map[string]any)
		for _, of := range []string{"writes", "reads_from", "reads_to"} {
			if n, ok := f[of].(float64); !ok || n < 1 {
				t.Errorf("%s of %s is %v", of, name, f[of])
			}
		}
	}
}

// full is a screen that nothing can be printed to.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// An answer that could not be printed is no success, and can be had again.
func TestOutputFails(t *testing.T) {
	t.Parallel()
	policy := deploy(t, tenQuestions)
	for _, args := range [][]string{
		{"query", "-p", policy, "--as", "ana", people}, {"query", "-p", policy, "--as", "ana", "--json", people},
		{"budget", "-p", policy}, {"check", policy}, {"version"},
	} {
		var err strings.Builder
		if code := run(context.Background(), args, console.Screen{Out: full{}, Err: &err, Now: time.Now}); code != 1 ||
			!strings.Contains(err.String(), "no space left on device") {
			t.Errorf("%q: exit code %d, %q", args, code, err.String())
		}
	}
	asks(policy, people).wants(t, 0, "free")
}

// A panic must not print what it was about.
type broken struct{}

func (broken) Write([]byte) (int, error) { panic("secret 4711") }

func TestPanicShowsNothing(t *testing.T) {
	t.Parallel()
	var err strings.Builder
	code := run(context.Background(), []string{"version"}, console.Screen{Out: broken{}, Err: &err})
	if code != 1 || strings.Contains(err.String(), "4711") || !strings.Contains(err.String(), "an internal error") {
		t.Errorf("exit code %d, %q", code, err.String())
	}
}

func TestShellWords(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{"a/b.yaml": "a/b.yaml", "my policy.yaml": "'my policy.yaml'", "it's": `'it'\''s'`,
		"": "''", "$(rm)": "'$(rm)'"} {
		if got := console.ShellQuote(word); got != want {
			t.Errorf("%q is written %s; want %s", word, got, want)
		}
	}
}

// TestLanguageByExample asks every question of docs/sql.md and docs/sql-private.md of a small shop.
// What a page shows as an answer, or without one, is answered, and what it shows as a refusal is
// refused in the same words. A block may have several statements.
func TestLanguageByExample(t *testing.T) {
	dir := t.TempDir()
	command("demo", "shop", filepath.Join(dir, "shop"), "--scale", "0.001").wants(t, 0)
	policy := filepath.Join(dir, "shop", "shop.yaml")
	var answered, refused []string // statements, and what is said of them
	var says []string
	for _, name := range []string{"sql.md", "sql-private.md"} {
		for _, block := range strings.Split(contents(t, filepath.Join("..", "..", "docs", name)), "```sql\n")[1:] {
			sql, rest, _ := strings.Cut(block, "```\n")
			shown, follows := strings.CutPrefix(rest, "```\n")
			if shown, _, _ = strings.Cut(shown, "```"); !follows {
				shown = ""
			}
			first, _, _ := strings.Cut(shown, "\n")
			for _, sql := range strings.SplitAfter(strings.TrimSuffix(strings.TrimSpace(sql), ";")+";\n", ";\n") {
				switch {
				case sql == "":
				case strings.HasPrefix(first, "refused: "):
					refused, says = append(refused, sql), append(says, first)
				case strings.Contains(shown, "split: "):
					answered = append(answered, "EXPLAIN "+sql)
				default:
					answered = append(answered, sql)
				}
			}
		}
	}
	// What is answered goes on to its end, and what is refused does not end a dialogue.
	query := []string{"query", "-p", policy, "--as", "ana"}
	all := typed(t, strings.Join(answered, ""), query...).wants(t, 0)
	if n := strings.Count(all.out, "price: "); n != len(answered) {
		t.Errorf("%d of %d were answered\n%s%s", n, len(answered), all.out, all.err)
	}
	typed(t, strings.Join(refused, ""), append(query, "-i")...).wants(t, 0, says...).lacks(t, "price: ")
	if len(answered) < 15 || len(refused) < 3 {
		t.Errorf("%d were answered and %d refused", len(answered), len(refused))
	}
}
