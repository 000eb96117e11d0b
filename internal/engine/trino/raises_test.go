package trino

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/audit/sample"
	"github.com/discreet-dp/discreet/internal/dialect"
	"github.com/discreet-dp/discreet/internal/testtrino"
)

// A statement that fails if and only if a row reaches an operator tells of that row exactly. So all
// that is printed is listed here, with what it was tried with; docs/trino.md says what keeps the
// rest away. What is printed and not listed fails a test.

// ends is a table of one row with what stands at the ends of types.
const ends = "(SELECT BIGINT '1' AS i, BIGINT '9223372036854775807' AS x, BIGINT '-9223372036854775808' AS n, DECIMAL '" + nines +
	"' AS d, nan() AS q, infinity() AS f, VARCHAR 'abc' AS s, DATE '-5877641-06-23' AS d0, DATE '5881580-07-11' AS d1, " +
	"DATE '0001-01-01' AS y1, DATE '9999-12-31' AS y9, CAST(NULL AS bigint) AS z, rpad('x', 1048576, 'y') AS long)"

// tried are the functions, with what TRY makes a value or NULL of.
var tried = map[string][]string{
	"abs": {"abs(n)", "abs(-d)", "abs(q)"}, "sign": {"sign(n)", "sign(d)", "sign(q)"}, "truncate": {"truncate(f)"},
	"round": {"round(f)"}, "floor": {"floor(q)"}, "ceil": {"ceil(f)"}, "sqrt": {"sqrt(-1E0)"}, "ln": {"ln(-1E0)"},
	"log10": {"log10(0E0)"}, "exp": {"exp(1000E0)"}, "power": {"power(0E0, -i)", "power(-1E0, 0.5E0)"}, "is_finite": {"is_finite(q)"},
	"nullif": {"nullif(i, 1)"}, "coalesce": {"coalesce(z, x)"}, "greatest": {"greatest(x, z)"},
	"array_max": {"array_max(ARRAY[q, f])", "array_max(filter(ARRAY[z], v -> v IS NOT NULL))"}, "array_min": {"array_min(ARRAY[q, f])"},
	"filter": {"filter(ARRAY[z], v -> v IS NOT NULL)"}, "transform": {"transform(ARRAY[i], v -> v / 0)"},
	"reduce": {"reduce(ARRAY[1], 0, (a, b) -> CASE a WHEN 9 THEN 1 END, a -> a IN (1))"}, "element_at": {"element_at(ARRAY[1], i + 5)",
		"element_at(ARRAY[1], i - 1)"}, "map": {"element_at(map(ARRAY[i, i], ARRAY[1, 2]), i)"},
	"bitwise_and": {"bitwise_and(x, n)"}, "bitwise_xor": {"bitwise_xor(x, n)"}, "bitwise_right_shift": {"bitwise_right_shift(x, 70)"},
	"to_big_endian_64": {"to_big_endian_64(n)"}, "from_big_endian_64": {"from_big_endian_64(to_utf8(s))"},
	"xxhash64": {"xxhash64(to_utf8(long))"}, "to_hex": {"to_hex(to_utf8(long))"},
	"to_utf8": {"to_utf8(long)"}, "from_utf8": {"from_utf8(X'ff')"},
	"length": {"length(long)"}, "lower": {"lower(long)"}, "upper": {"upper(long)"}, "strpos": {"strpos(s, '')"},
	"starts_with": {"starts_with(s, '')"}, "substr": {"substr(s, n)", "substr(s, -6)"}, "substring": {"substring(s, 1048576, x)"},
	"lpad": {"lpad(s, 1000, 'ab')", "lpad(s, x, 'a')", "lpad(s, 9, '')"}, "rpad": {"rpad(s, x, 'a')"},
	"trim": {"trim(BOTH 'y' FROM long)", "trim(BOTH '' FROM s)"}, "rtrim": {"rtrim(s)"}, "translate": {"translate(long, 'y', 'z')"},
	"replace": {"replace(long, 'y', 'zz')", "replace(s, '', 'x')"}, "split_part": {"split_part(s, 'b', x)", "split_part(s, 'b', i - 1)"},
	"split":     {"split(s, '')", "split(long, 'y')", "CAST(split(s, 'b') AS array(bigint))", "map(split(s, 'b'), ARRAY[i])"},
	"concat_ws": {"concat_ws('-', s, NULL)", "concat_ws('-', long, long)"}, "regexp_extract": {"regexp_extract(s, '(')"},
	"regexp_extract_all": {"regexp_extract_all(s, '(?s).')"}, "codepoint": {"codepoint(CAST(s AS varchar(1)))",
		"codepoint(CAST(substr(s, 9) AS varchar(1)))"},
	"date_add": {"date_add('month', -120000, y1)", "date_add('day', 4000000, date_add('month', 120000, CAST(y9 AS timestamp(6))))",
		"date_add('day', x, CAST(y9 AS timestamp(6)))"}, "date_diff": {"date_diff('day', DATE '1970-01-01', d0)"},
	"date_trunc":          {"date_trunc('week', y1)", "date_trunc('year', CAST(y9 AS timestamp(6)))"},
	"from_unixtime_nanos": {"from_unixtime_nanos(d)"},
	"year":                {"year(d0)"}, "quarter": {"quarter(d1)"}, "month": {"month(d0)"}, "week": {"week(d0)"}, "day": {"day(d1)"},
	"day_of_week": {"day_of_week(d0)"}, "day_of_year": {"day_of_year(d1)"}, "year_of_week": {"year_of_week(d0)"},
	"try": {"TRY(1 / 0)"}, "try_cast": {"TRY_CAST(d AS bigint)", "TRY_CAST(q AS bigint)", "TRY_CAST(s AS timestamp(6))"},
	"cast": {"CAST(d AS bigint)", "CAST(f AS " + decimal + ")", "CAST(s AS date)", "CAST(s AS boolean)", "CAST(s AS decimal(38,5))",
		"CAST(x AS decimal(18,0))", "CAST(CAST('" + nines + "9' AS varchar) AS " + decimal + ")"},
	"": {"x + 1", "n - 1", "x * 2", "n / -1", "i / (i - i)", "i % (i - i)", "d + d", "d * d", "d % CAST(i - i AS " + decimal + ")", "-n",
		"long || 'x'", `s LIKE 'a\' ESCAPE '\'`},
	// No rows are too many for these, and no values.
	"count": {}, "max": {}, "row_number": {}, "rank": {}, "dense_rank": {}, "first_value": {}, "last_value": {}, "unnest": {}, "exists": {},
	// These are in uncaught. How many is a constant from 1 to 1,000,000 (of lag and lead: 0).
	"sum": {}, "min": {}, "row": {}, "ntile": {}, "nth_value": {}, "lag": {}, "lead": {},
}

// uncaught are statements about the row that fail inside of TRY, or where there is none, and about
// no row do not: docs/trino.md says for each what keeps it away.
var uncaught = []string{
	"SELECT TRY(date_add('day', x, DATE '1970-01-01')) FROM t", "SELECT TRY(date_add('month', 1, d1)) FROM t",
	"SELECT TRY(date_trunc('year', d0)) FROM t", "SELECT TRY(codepoint(CAST(s AS varchar(1)))) FROM (SELECT w AS s, i FROM t) AS t",
	"SELECT min(ROW(i, z), 3) FROM (SELECT i, z FROM t UNION ALL SELECT i, z FROM t)", "SELECT min(i, 10001) FROM t",
	"SELECT sum(d) FROM (SELECT d FROM t UNION ALL SELECT d FROM t)", "SELECT sum(x) FROM (SELECT x FROM t UNION ALL SELECT x FROM t)",
	"SELECT ntile(i - 1) OVER (ORDER BY i) FROM t", "SELECT nth_value(i, i - 1) OVER (ORDER BY i) FROM t",
	"SELECT long || 'x' FROM t", "SELECT 1 / 0 FROM t",
}

// words are those of SQL that stand before brackets.
var words = strings.Fields("all and array as between by case decimal else from in into join not on or over select then timestamp " +
	"values varchar when where with char date double bigint")

// TestPrinted: no function is printed that was not tried.
func TestPrinted(t *testing.T) {
	named := regexp.MustCompile(`([A-Za-z_][A-Za-z_0-9]+) ?\(`)
	quoted := regexp.MustCompile(`'(?:[^']|'')*'|"(?:[^"]|"")*"`)
	found := map[string]string{}
	for way := range 2 {
		for _, c := range sample.Corpora(t, "../../plan/testdata", "trino") {
			_, all := spelledAll(t, c, way)
			for _, text := range slices.Concat(all...) {
				for _, m := range named.FindAllStringSubmatch(quoted.ReplaceAllString(text, "''"), -1) {
					found[strings.ToLower(m[1])] = "a statement"
				}
			}
		}
	}
	// The questions of the corpus do not need all of them: those that the printers write out.
	for _, pattern := range []string{"*.go", "../../dialect/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatal(pattern, err)
		}
		for _, file := range files {
			for _, text := range literals(t, file) {
				for _, m := range named.FindAllStringSubmatch(text, -1) {
					found[strings.ToLower(m[1])] = file
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if _, ok := tried[name]; !ok && !slices.Contains(words, name) && !slices.Contains(elsewhere, name) {
			t.Errorf("%s is printed (%s): try it at the ends of its arguments, in raises_test.go and in docs/trino.md", name, found[name])
		}
	}
	for name := range sqlDialect.Functions {
		if _, ok := tried[name]; !ok && !slices.Contains(ours, name) {
			t.Errorf("%s is a function of the planner's: say in raises_test.go what is printed for it", name)
		}
	}
}

// ours are functions of the planner that are printed as others, and elsewhere is what stands before
// brackets in texts that no statement of a question has: errors, and other databases.
var (
	ours = strings.Fields("trunc || add_days add_micros days_between extract add_interval timestamp date parse_integer parse_decimal " +
		"parse_boolean parse_date parse_timestamp text matches right ltrim btrim concat least")
	elsewhere = strings.Fields("approx_distinct sequence")
)

// literals are the texts of a file that is no test.
func literals(t *testing.T, file string) (out []string) {
	t.Helper()
	if strings.HasSuffix(file, "_test.go") {
		return nil
	}
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			if s, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING {
				out = append(out, s)
			}
		case *ast.CallExpr: // call("TRY") prints a function, too
			if id, ok := n.Fun.(*ast.Ident); ok && len(n.Args) == 1 && (id.Name == "call" || id.Name == "extreme") {
				if l, ok := n.Args[0].(*ast.BasicLit); ok {
					out = append(out, strings.Trim(l.Value, `"`)+"(")
				}
			}
		}
		return true
	})
	return out
}

// TestRaises: what is said of functions here is so.
func TestRaises(t *testing.T) {
	s := newSchema(t, "memory")
	wild := newWild(t)
	s.Run(t, "CREATE TABLE "+s.table("t")+" AS SELECT e.*, k AS w FROM "+ends+" AS e CROSS JOIN (SELECT max(k) AS k FROM "+wild+") AS w")
	about := func(text, where string) error {
		from := "(SELECT * FROM " + s.table("t") + " WHERE " + where + ") AS t"
		text = regexp.MustCompile(`FROM t\b`).ReplaceAllLiteralString(text, "FROM "+from)
		rows, err := s.DB(t, testtrino.Reader).QueryContext(t.Context(), text)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
		}
		return rows.Err()
	}
	var list []string
	for _, name := range slices.Sorted(maps.Keys(tried)) {
		for _, x := range tried[name] {
			list = append(list, fmt.Sprintf("CASE WHEN TRY(%s) IS NULL THEN 1 ELSE 0 END", x))
		}
	}
	list = append(list, hash("long", "s", "z", "long"), rank("'salt'",
		dialect.Ranked{Text: "long", Type: varchar}, dialect.Ranked{Text: "z", Type: bigint}))
	if err := about("SELECT "+strings.Join(list, ", ")+" FROM t", "i = 1"); err != nil {
		t.Errorf("TRY does not catch all: %v", err)
	}
	for _, text := range uncaught {
		if err := about(text, "i = 1"); err == nil {
			t.Errorf("over one row this does not fail any more: %s", text)
		}
		if err := about(text, "i = 2"); err != nil {
			t.Errorf("over no row: %v in %s", err, text)
		}
	}
}
