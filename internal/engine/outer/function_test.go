package outer

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
)

// worldly matches the functions of DuckDB that read or change something beyond their arguments. A
// new version may bring one that the pattern does not know; it is not on our list either.
var worldly = regexp.MustCompile(
	`^(read_|parquet_|duckdb_|pragma_|pg_|current_|get_current|has_|inet_|json_|uuid|arrow_|st_|icu_|__|test_|enable_|disable_|which_|write_)|` +
		`random|query|glob|sniff|getenv|getvariable|setseed|nextval|currval|sleep|now|today|clock|transaction|txid|version|setting|secret|schema|catalog|user|log_|logs|checkpoint|scan|summary|stats|error|ago$|_log$`)

// functionsOfDuckDB lists them by name, with their kinds and whether one of them is volatile.
func functionsOfDuckDB(t *testing.T) map[string]string {
	t.Helper()
	// Not through Run, whose answers have limits; the instance is the same.
	in, err := open(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer in.close()
	rows, err := in.conn.QueryContext(t.Context(), "SELECT function_name, string_agg(DISTINCT function_type || ' ' || "+
		"coalesce(stability, ''), ',') FROM duckdb_functions() GROUP BY 1")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	out := map[string]string{}
	for rows.Next() {
		var name, kinds string
		if err := rows.Scan(&name, &kinds); err != nil {
			t.Fatal(err)
		}
		out[name] = kinds
	}
	if rows.Err() != nil || len(out) < 800 {
		t.Fatal(len(out), rows.Err())
	}
	return out
}

// TestFunctions holds our list against that of the DuckDB in use: every name is there, consistent
// and harmless, and every other function of DuckDB is refused wherever a function can stand.
func TestFunctions(t *testing.T) {
	all := functionsOfDuckDB(t)
	parserKnows := "percentile_cont percentile_disc" // and gives other names
	macros := map[string]bool{"split_part": true, "nullif": true}
	for name, f := range functions {
		as := name
		if f.as != "" {
			as = f.as
		}
		kinds, ok := all[as]
		switch {
		case !ok && !strings.Contains(parserKnows, as):
			t.Errorf("%s is not in DuckDB", as)
		case strings.Contains(kinds, "VOLATILE"):
			t.Errorf("%s is volatile", as)
		case worldly.MatchString(as):
			t.Errorf("%s is worldly", as)
		case strings.Contains(kinds, "macro") && !macros[as]:
			t.Errorf("%s is a macro: it may copy its arguments, or call others", as)
		case f.role == scalar && strings.Contains(kinds, "aggregate"), f.role != scalar && strings.Contains(kinds, "scalar"):
			t.Errorf("%s is %s", as, kinds)
		case f.min > f.max:
			t.Errorf("%s takes %d to %d arguments", as, f.min, f.max)
		}
	}
	refused := 0
	for name := range all {
		quoted := `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
		for _, args := range []string{"", "1", "'x'", "1, 2", "k, m"} {
			if _, ours := functions[name]; !ours {
				mustRefuse(t, "SELECT "+quoted+"("+args+") FROM s")
				mustRefuse(t, "SELECT "+quoted+"("+args+") OVER () FROM s")
				refused++
			}
			if name != "generate_series" && name != "unnest" {
				mustRefuse(t, "SELECT * FROM "+quoted+"("+args+") AS x")
			}
			mustRefuse(t, "SELECT main."+quoted+"("+args+") FROM s")
		}
		mustRefuse(t, "SELECT * FROM s, "+quoted)
	}
	if refused < 3000 {
		t.Errorf("only %d were refused", refused)
	}
}

func mustRefuse(t *testing.T, text string) {
	t.Helper()
	stmt, err := parse(text)
	if err != nil {
		return // it does not get as far
	}
	_, err = Check(stmt, names(released()))
	var r *api.Refusal
	if !errors.As(err, &r) && !strings.HasSuffix(text, `FROM s, "s"`) {
		t.Errorf("not refused: %s", text)
	}
}

// TestEveryFunctionRuns calls each of our list once, so that the list promises nothing that DuckDB
// does not have. Several are in one SELECT, which takes as long as one of them; where it fails each
// is called alone.
func TestEveryFunctionRuns(t *testing.T) {
	arguments := map[string]string{
		"acosh": "1", "asin": "0.5", "acos": "0.5", "atanh": "0.5", "factorial": "5", "chr": "65", "gcd": "4, 6", "lcm": "4, 6",
		"mod":  "4, 3",
		"left": "k, 1", "right": "k, 1", "substring": "k, 1", "substr": "k, 1", "split_part": "k, 'a', 1", "repeat": "'x', m",
		"lpad": "k, m", "rpad": "k, 3, 'x'",
		"extract": "", "date_part": "'year', DATE '2024-01-01'", "date_trunc": "'month', DATE '2024-01-01'", "make_date": "2024, 1, 1",
		"make_timestamp": "2024, 1, 1, 0, 0, 0",
		"age":            "DATE '2024-01-01', DATE '2023-01-01'", "strftime": "DATE '2024-01-01', '%Y'", "dayname": "DATE '2024-01-01'",
		"monthname": "DATE '2024-01-01'", "last_day": "DATE '2024-01-01'",
		"replace": "k, 'a', 'b'", "regexp_replace": "k, 'a', 'b'", "translate": "k, 'a', 'b'", "concat_ws": "',', k",
		"string_agg": "k, ','", "bool_and": "m > 1", "bool_or": "m > 1", "every": "m > 1",
		"percentile_cont": "0.5", "percentile_disc": "0.5", "ntile": "2", "nth_value": "m, 1", "position": "k, 'a'",
	}
	texts := "length char_length character_length octet_length bit_length lower upper strpos position btrim ltrim rtrim reverse " +
		"starts_with ascii md5 regexp_like concat"
	calls := map[role][]string{}
	for name, f := range functions {
		args, ok := arguments[name]
		if !ok {
			one := "m"
			if strings.Contains(" "+texts+" ", " "+name+" ") {
				one = "k"
			}
			args = strings.TrimSuffix(strings.Repeat(one+", ", f.min), ", ")
		}
		call := `"` + name + `"(` + args + ")"
		switch {
		case name == "extract":
			call = "EXTRACT(year FROM DATE '2024-01-01')"
		case name == "age":
			call = "CAST(" + call + " AS text)"
		case f.role == window:
			call += " OVER (ORDER BY m)"
		case f.role == ordered:
			call += " WITHIN GROUP (ORDER BY m)"
		}
		calls[f.role] = append(calls[f.role], call)
	}
	for _, all := range calls {
		for some := range slices.Chunk(all, 12) {
			_, err := ask(t, "SELECT "+strings.Join(some, ", ")+" FROM s")
			if err == nil {
				continue
			}
			for _, call := range some {
				if _, alone := ask(t, "SELECT "+call+" FROM s"); alone != nil {
					t.Errorf("%s: %v", call, alone)
					err = nil
				}
			}
			if err != nil {
				t.Errorf("%v run alone, and together: %v", some, err)
			}
		}
	}
}

// TestBareNames: no name alone, even in quotes, is read by DuckDB as something of the session, but
// for those that Check refuses.
func TestBareNames(t *testing.T) {
	all := functionsOfDuckDB(t)
	in, err := open(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer in.close()
	read := func(name string) bool {
		rows, err := in.conn.QueryContext(t.Context(), "SELECT "+quote(name))
		if err == nil {
			rows.Close()
		}
		return err == nil
	}
	for _, word := range sessionWords {
		all[word] = ""
		mustRefuse(t, "SELECT "+quote(word))
		mustRefuse(t, "SELECT "+quote(strings.ToUpper(word))+" FROM r")
	}
	seen := 0
	for name := range all {
		if read(name) {
			seen++
			mustRefuse(t, "SELECT "+quote(name))
		}
	}
	if seen < 3 {
		t.Errorf("only %d names were read", seen)
	}
	for _, text := range []string{"SELECT 'now'::timestamp", "SELECT 'today'::date", "SELECT DATE 'yesterday'"} {
		if out, err := ask(t, text); err == nil {
			t.Errorf("%s: %s", text, show(out))
		}
	}
}
