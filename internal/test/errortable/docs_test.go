package errortable

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// statements are what happened, in the order of the page, each by the name of its case.
var statements = []struct{ name, happened string }{
	{"refusal without place", "The question cannot be asked"},
	{"disagreement", "Two checks of the question disagree; tell the owner"},
	{"price", "Asked only where it is free, and it is not"},
	{"around", "The outer query reached a limit of its own"},
	{"around what was bought", "The same after answers inside were paid for; they stay free"},
	{"budget", "The budget does not cover it"},
	{"stream part", "The budget does not cover the rest; the stream's part is paid for"},
	{"lockout", "No new answers until the owner releases a failure"},
	{"lockout after the charge", "The same, noticed after the charge"},
	{"limit", "Too many questions at once, or too fast"},
	{"opening", "The data is still being opened"},
	{"ending", "The server is shutting down"},
	{"timeout", "The server's time limit"},
	{"canceled", "Canceled by the asker"},
	{"canceled, free", "Canceled before anything was charged"},
	{"withdrawn", "Canceled before its turn"},
	{"revoked", "The user was revoked, or has another password"},
	{"unchecked", "The users cannot be read"},
	{"request", "The request's name was used for another question"},
	{"window", "The budget was renewed meanwhile"},
	{"lapsed", "The window ended before there was an answer"},
	{"lapsed after the charge", "The same, noticed after this charge"},
	{"invalid", "A field is not as it must be"},
	{"write", "The ledger could not be written; nothing was charged"},
	{"write, charged", "The ledger could not be written after the charge"},
	{"write, broken", "The ledger has stopped"},
	{"write, unknown", "It is not known whether the ledger was written"},
	{"corrupt", "The ledger is damaged"},
	{"stale", "An owner's signature is of an older state"},
	{"signature", "An owner's signature is wrong or missing"},
	{"no session", "No such session"},
	{"session used", "A session has ended"},
	{"data", "The data cannot be read"},
	{"labels", "The labels of a holdout cannot be read"},
	{"changing", "The data changed while it was read"},
	{"moved", "The data changed while an answer was sharpened"},
	{"holdout run", "A score could not be computed"},
	{"no model", "No such model"},
	{"training", "A model could not be trained"},
	{"unsupported", "The server cannot do that"},
	{"internal", "Anything else"},
}

// kinds of problems over HTTP.
var kinds = map[string]string{
	"refused":     "The question cannot be asked; `instead` says what to write",
	"budget":      "The budget does not cover it",
	"price":       "`free` was asked for, and it is not; `price` says what it costs",
	"closed":      "No new answers until the owner [releases a failure](owner.md#a-question-has-failed)",
	"limit":       "Too many, too fast, or too much kept; wait as long as `Retry-After` says, or delete some",
	"opening":     "The data is still being opened",
	"ending":      "The server is shutting down",
	"ended":       "The session has ended; another one costs as much again",
	"timeout":     "The server's time limit was reached. If `spent` is not false, it counts as a failure",
	"canceled":    "Canceled before the answer",
	"request":     "The `Idempotency-Key` was charged with another question",
	"window":      "The budget was renewed meanwhile; use a new key",
	"moved":       "The data changed meanwhile; use a new key, which is charged in full",
	"ledger":      "The ledger could not be written; send the same key again later",
	"data":        "The data or labels cannot be read now, or are changing",
	"training":    "The model could not be trained; the charge stays",
	"denied":      "Not logged in, wrong credentials, or revoked",
	"locked":      "Too many failed attempts to log in",
	"origin":      "The cookie came from a page of another site",
	"proxy":       "The proxy's headers cannot be read",
	"role":        "For owners, for analysts, or for somebody else",
	"users":       "The users cannot be read now",
	"signature":   "Signed with another key, or not at all",
	"stale":       "The draft is outdated: draft again",
	"exists":      "The name is taken",
	"revoked":     "The user was revoked; a new password lets them in",
	"running":     "Another check of the ledger is running",
	"invalid":     "The input is not as the document says; `errors` says where",
	"body":        "The body is missing, too long, late, or not JSON in UTF-8",
	"path":        "Nothing is at this address",
	"method":      "The address has other methods",
	"missing":     "It does not exist, or is not yours",
	"unsupported": "The server cannot do that",
	"unexpected":  "Anything else, always in the same words",
}

// refusals are the kinds of what is wrong with a question, by their codes.
var refusals = map[string]string{
	"0A000": "SQL that is not done here; the hint says what to write",
	"22003": "a number that is too large or has too many digits",
	"22007": "not a date, a time or an interval",
	"22021": "text that is not UTF-8, or has a zero byte",
	"22023": "a value that a function or a setting does not take, such as `dp.epsilon` beyond what a question may cost",
	"22025": "an escape character that is not one, or escapes nothing",
	"2201B": "a pattern that cannot be read",
	"22P02": "a text that is not a value of its type",
	"42000": "a name or a type of the outer query is wrong",
	"42501": "rows of people, or what only a change of the policy allows: keys, bounds, access",
	"42601": "the text is not SQL, or has several statements",
	"42701": "two columns have one name",
	"42702": "the column is in several tables",
	"42703": "no such column",
	"42704": "no such window",
	"42712": "two tables have one name",
	"42803": "a column is neither grouped by nor in an aggregate, or an aggregate stands where none can",
	"42804": "types do not fit, such as a number as a condition",
	"42809": "OVER, FILTER or DISTINCT with a function that is not an aggregate",
	"42846": "no such cast",
	"42883": "no such function or operator, or not for these types",
	"42939": "a reserved name",
	"42P01": "no such table or schema",
	"42P02": "no such parameter, or no value for it",
	"42P10": "not a column of the SELECT list",
	"42P17": "a view or a holdout of the policy is wrong; tell the owner",
	"42P20": "a window stands where none can",
	"53400": "the budget of a stream does not cover it",
	"54001": "too long, too deep, too many groups or rows, or too much work",
}

// states are the codes of the wire that questions can end with beside these.
var states = map[string]string{
	"01000": "a warning: a budget is half, low or almost used up",
	"08P01": "the client does not keep to the protocol, or a message is too long",
	"0A000": "not supported; the hint says what to write",
	"22003": "a parameter is infinite, or has too many digits",
	"22021": "text that is not UTF-8, or has a zero byte",
	"22023": "a setting or parameter has a wrong value, or `dp.request` names another question",
	"22P02": "a parameter cannot be read as text of its type",
	"22P03": "a parameter cannot be read as binary of its type",
	"25001": "not inside a transaction",
	"25006": "nothing can be written here",
	"25P01": "only inside a transaction",
	"25P02": "a statement before it failed in this transaction: ROLLBACK",
	"26000": "no such prepared statement",
	"28000": "too many failed attempts to log in, or TLS is missing",
	"28P01": "wrong name or password",
	"34000": "no such cursor",
	"3B001": "no such savepoint",
	"3D000": "no such dataset for this user",
	"40001": "too many questions at once or too fast; ask again, as many clients do by themselves",
	"42501": "not allowed: files, programs, users and rights",
	"42601": "the text is not SQL",
	"42703": "no such column",
	"42704": "no such setting or type",
	"42P03": "the cursor exists already",
	"42P05": "the prepared statement exists already",
	"42P11": "a cursor cannot be declared so",
	"42P18": "the type of a parameter is not known",
	"53200": "too much is kept for the session, the user or the server; close or DEALLOCATE some",
	"53300": "too many connections",
	"53400": "the budget does not cover it",
	"54001": "the text is too long or deep, or an outer query reached a limit",
	"55000": "not in this state: the budget was renewed, the data changes or cannot be read, a cursor cannot go back",
	"55D00": "no new answers until the owner [releases a failure](owner.md#a-question-has-failed); `EXPLAIN` says whether it is open again",
	"55P02": "the setting cannot be changed",
	"57014": "canceled: by you, by `statement_timeout`, or by the server's time limit, which counts as a failure if it was charged",
	"57P01": "the server is shutting down, or the user was revoked",
	"57P03": "the data is still being opened, or the users cannot be read; ask again",
	"58030": "the ledger could not be written or has stopped; tell the owner",
	"XX000": "anything else, always in the same words",
}

// exits are the codes of commands.
var exits = map[string]string{
	"0": "done",
	"1": "anything else: it failed, was interrupted, or (`audit`) a claim does not stand. A charge may have been made",
	"2": "refused, or the command line is wrong; nothing was spent",
	"3": "the budget does not cover it; nothing was spent",
}

// TestErrorsPage holds docs/errors.md against what listeners and commands tell of each error, and
// against the codes in their sources.
func TestErrorsPage(t *testing.T) {
	const page = "../../../docs/errors.md"
	made := errorsPage(t)
	if flag.Lookup("rewrite").Value.String() == "true" {
		if err := os.WriteFile(page, []byte(made), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if readFile(t, page) != made {
		t.Errorf("%s is of other errors; go test ./internal/test/errortable -run TestErrorsPage -rewrite writes it", page)
	}
}

func errorsPage(t *testing.T) string {
	var b strings.Builder
	b.WriteString("<!-- generated: do not edit; go test ./internal/test/errortable -run TestErrorsPage -rewrite -->\n" +
		"# Errors\n\nThis page is for those whose programs ask questions. It lists every code with which a command, an\n" +
		"HTTP request or a statement can end, and what was charged.\n\n" +
		"Texts are made of the question, the policy and the ledger, never of the data.\n\n" +
		"## What happened, by code\n\nThe exit code is that of a command without a server. *Charged* is what HTTP says as `spent`;\n" +
		"*perhaps* means that it is not known, or does not follow from the code. Ask again under the same\n" +
		"`Idempotency-Key`, `dp.request` or `--request`, and nothing is charged twice.\n\n" +
		"| what happened | charged | HTTP | SQLSTATE | exit code |\n|---|---|---|---|---|\n")
	web := told(t, "../../server/httpapi/testdata/errors.txt", `^(\d+ \w+), spent (\w+)`)
	wire := told(t, "../../server/pgwire/testdata/errors.txt", `^[A-Z]+ (\w{5})`)
	command := told(t, "../../../cmd/discreet/testdata/errors.txt", `^(\d)`)
	for _, s := range statements {
		state := wire[s.name][0]
		if state == "XX000" && s.name != "internal" && s.name != "corrupt" {
			state = "" // statements cannot end so
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", s.happened, web[s.name][1], web[s.name][0], state, command[s.name][0])
	}
	b.WriteString("\nWithout a SQLSTATE, no statement can end so. A refused question has the [SQLSTATE of its\n" +
		"reason](#a-refused-question), such as 42703 for a column that does not exist.\n\n## Exit codes\n\n| code | means |\n|---|---|\n")
	complete(t, "exits", exits, constants(t, "../../../cmd/discreet/internal/console", regexp.MustCompile(`^\d$`)))
	for _, code := range slices.Sorted(maps.Keys(exits)) {
		fmt.Fprintf(&b, "| %s | %s |\n", code, exits[code])
	}
	b.WriteString("\n## HTTP\n\nThe problem's `type` is `urn:discreet:problem:` and the kind; `kind` has it alone. `detail` says\n" +
		"what is wrong, `instead` what to do.\n\n| kind | status | means |\n|---|---|---|\n")
	found := webKinds(t)
	complete(t, "kinds", kinds, found)
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		codes := slices.Sorted(maps.Keys(found[kind]))
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", kind, strings.Join(codes, ", "), kinds[kind])
	}
	b.WriteString("\n## SQLSTATE\n\nQueries of the catalogue (`pg_class` and its like) can end with other codes, which are\n" +
		"PostgreSQL's own.\n\n### A refused question\n\n" +
		"The code is the one that PostgreSQL has for the same statement if you may not read its tables, and\n" +
		"0A000 for SQL that PostgreSQL has and we do not.\n\n| code | what is wrong |\n|---|---|\n")
	complete(t, "refusals", refusals, constants(t, "../../planner/syntax", stateCode))
	for _, state := range slices.Sorted(maps.Keys(refusals)) {
		fmt.Fprintf(&b, "| %s | %s |\n", state, refusals[state])
	}
	b.WriteString("\n### Any statement\n\n" +
		"53400 stands for budgets because an owner has set them as limits. The other codes of class 53 pass by\n" +
		"themselves; a budget does not.\n\n| code | means |\n|---|---|\n")
	complete(t, "states", states, constants(t, "../../server/pgwire", stateCode))
	for _, state := range slices.Sorted(maps.Keys(states)) {
		fmt.Fprintf(&b, "| %s | %s |\n", state, states[state])
	}
	return b.String()
}

// complete compares what the sources have with what this test knows the meaning of.
func complete[V any](t *testing.T, what string, known map[string]string, found map[string]V) {
	t.Helper()
	for one := range found {
		if known[one] == "" {
			t.Errorf("%s lacks what %s means", what, one)
		}
	}
	for one := range known {
		if _, ok := found[one]; !ok {
			t.Errorf("%s has %s, which no source has", what, one)
		}
	}
}

// told reads what was told of each case, by its name.
func told(t *testing.T, file, pattern string) map[string][]string {
	t.Helper()
	out, what := map[string][]string{}, regexp.MustCompile(pattern)
	for line := range strings.Lines(readFile(t, file)) {
		name, text, ok := strings.Cut(line, ": ")
		if m := what.FindStringSubmatch(text); ok && m != nil && !strings.HasPrefix(line, " ") {
			out[name] = m[1:]
		}
	}
	for _, s := range statements {
		if out[s.name] == nil {
			t.Fatalf("%s has nothing of %q", file, s.name)
		}
	}
	return out
}

// webKinds finds the kinds of problems in the sources, each with its numbers.
func webKinds(t *testing.T) map[string]map[string]bool {
	t.Helper()
	numbers := map[string]string{"statusCanceled": "499"}
	for n := 400; n < 600; n++ {
		numbers["Status"+strings.NewReplacer(" ", "", "-", "", "'", "").Replace(http.StatusText(n))] = strconv.Itoa(n)
	}
	out := map[string]map[string]bool{}
	add := func(kind, number string) {
		if out[kind] == nil {
			out[kind] = map[string]bool{}
		}
		if number != "" {
			out[kind][number] = true
		}
	}
	inspect(t, "../../server/httpapi", func(n ast.Node) {
		literal, ok := n.(*ast.CompositeLit)
		if !ok {
			return
		}
		kind, number := "", ""
		for _, e := range literal.Elts {
			field, ok := e.(*ast.KeyValueExpr)
			if !ok {
				return
			}
			name, _ := field.Key.(*ast.Ident)
			switch value := field.Value.(type) {
			case *ast.BasicLit:
				if name != nil && (name.Name == "Kind" || name.Name == "word") {
					kind, _ = strconv.Unquote(value.Value)
				}
			case *ast.Ident:
				if name != nil && name.Name == "word" && value.Name == "canceledWord" {
					kind = "canceled"
				}
				if name != nil && (name.Name == "status" || name.Name == "Status") {
					number = numbers[value.Name]
				}
			case *ast.SelectorExpr:
				if name != nil && (name.Name == "status" || name.Name == "Status") {
					number = numbers[value.Sel.Name]
				}
			}
		}
		if kind != "" && number != "" {
			add(kind, number)
		}
	})
	return out
}

// stateCode is how a SQLSTATE stands in a source.
var stateCode = regexp.MustCompile(`^"[0-9X][0-9A-Z]{4}"$`)

// constants finds those of a package whose value looks so.
func constants(t *testing.T, folder string, value *regexp.Regexp) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	inspect(t, folder, func(n ast.Node) {
		d, ok := n.(*ast.GenDecl)
		if !ok || d.Tok != token.CONST || !d.Lparen.IsValid() { // codes stand together
			return
		}
		for _, spec := range d.Specs {
			for _, v := range spec.(*ast.ValueSpec).Values {
				if l, ok := v.(*ast.BasicLit); ok && value.MatchString(l.Value) {
					out[strings.Trim(l.Value, `"`)] = true
				}
			}
		}
	})
	return out
}

func inspect(t *testing.T, folder string, look func(ast.Node)) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %v", folder, err)
	}
	for _, name := range files {
		if !strings.HasSuffix(name, "_test.go") {
			inspectFile(t, name, look)
		}
	}
}

func inspectFile(t *testing.T, name string, look func(ast.Node)) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool { look(n); return true })
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
