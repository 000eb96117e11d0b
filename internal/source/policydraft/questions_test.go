package policydraft_test

import (
	"context"
	"fmt"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/lab/omopdata"
	"github.com/discreet-dp/discreet/internal/source/policydraft"
	"github.com/discreet-dp/discreet/internal/test/testpg"
	"github.com/discreet-dp/discreet/policy"
)

// cdm makes the made-up database, drafts a policy for it, and grants what the draft says. It
// returns a connection of the administrator and the draft.
func cdm(t *testing.T, people int) (*pgx.Conn, string) {
	t.Helper()
	server := testpg.Shared(t)
	server.Run(t, "postgres", "CREATE DATABASE cdm")
	u, err := url.Parse(server.URL())
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/cdm"
	conn, err := pgx.Connect(t.Context(), u.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	run := func(statements ...string) {
		t.Helper()
		text := strings.Join(statements, ";\n")
		if _, err := conn.PgConn().Exec(t.Context(), text).ReadAll(); err != nil {
			t.Fatalf("%v in %.300s", err, text)
		}
	}
	run("CREATE ROLE discreet LOGIN")
	run(omopdata.SQL(people, 1)...)
	u.User = url.User("discreet")
	d, err := policydraft.DraftPostgres(t.Context(), u.String(), policydraft.Options{OMOP: true,
		DraftOptions: policy.DraftOptions{Dataset: "cdm", Analyst: "ana", Epsilon: "100"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range regexp.MustCompile(`(?m)^#   (GRANT .*;)$`).FindAllStringSubmatch(d.Text, -1) {
		run(g[1])
	}
	return conn, d.Text
}

// documented are the questions of docs/omop.md, each after its heading.
func documented(t *testing.T) [][2]string {
	t.Helper()
	text, err := os.ReadFile("../../../docs/omop.md")
	if err != nil {
		t.Fatal(err)
	}
	var out [][2]string
	for _, m := range regexp.MustCompile("(?s)\n### ([^\n]*)\n.*?```sql\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		out = append(out, [2]string{m[1], m[2]})
	}
	return out
}

// TestQuestions: the questions of docs/omop.md are answered through the curator, from the draft as
// it is, and each answer is as near to what PostgreSQL says to the same text as its error bars say.
func TestQuestions(t *testing.T) {
	conn, draft := cdm(t, 1000)
	// As many rows as anybody has, so that nothing but noise is between the two.
	cut := regexp.MustCompile(`(?s)(\n      (visit_occurrence|condition_occurrence|drug_exposure):.*?max_rows: )\d+`)
	draft = cut.ReplaceAllString(draft, "${1}60")
	path := filepath.Join(t.TempDir(), "cdm.yaml")
	if err := os.WriteFile(path, []byte(draft), 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := discreet.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	questions := documented(t)
	if len(questions) != 10 {
		t.Fatalf("docs/omop.md has %d questions", len(questions))
	}
	for _, q := range questions {
		t.Run(q[0], func(t *testing.T) {
			a, err := db.Ask(t.Context(), api.Question{Analyst: "ana", SQL: q[1], Settings: api.Settings{Epsilon: 4 * dp.One}})
			if err != nil {
				t.Fatal(err)
			}
			near(t, a, truth(t, conn, q[1]))
		})
	}
}

// truth is what PostgreSQL says to the same text.
func truth(t *testing.T, conn *pgx.Conn, sql string) [][]string {
	t.Helper()
	found, err := conn.PgConn().Exec(t.Context(), sql).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var out [][]string
	for _, row := range found[0].Rows {
		var cells []string
		for _, c := range row {
			cells = append(cells, string(c))
		}
		out = append(out, cells)
	}
	return out
}

// near holds an answer against the truth: every value within six times its error bar, which one of
// a hundred million is not. Quantiles have none, and are within a fifth.
func near(t *testing.T, a *api.Answer, want [][]string) {
	t.Helper()
	keys := 0
	for keys < len(a.Columns) && a.Errors[0][keys] == nil {
		keys++
	}
	quantile := keys == len(a.Columns)
	if quantile {
		keys = 0
	}
	exact := map[string][]string{}
	for _, row := range want {
		exact[strings.Join(row[:keys], ",")] = row
	}
	for r, row := range a.Rows {
		var cells []string
		for _, v := range row {
			cells = append(cells, fmt.Sprint(v))
		}
		name := strings.Join(cells[:keys], ",")
		found := exact[name]
		delete(exact, name)
		for i := keys; i < len(cells); i++ {
			is, wanted := number(t, cells[i]), 0.0 // where PostgreSQL has no such group
			if found != nil {
				wanted = number(t, found[i])
			}
			room := wanted / 5
			if !quantile {
				room = 6**a.Errors[r][i] + 3 // of an exact integer the bar may be 0
			}
			if math.Abs(is-wanted) > room {
				t.Errorf("%s: %s is %v, and PostgreSQL says %v; that is more than %v away", name, a.Columns[i].Name, is, wanted, room)
			}
		}
	}
	for name := range exact {
		t.Errorf("%s is not in the answer", name)
	}
}

func number(t *testing.T, text string) float64 {
	t.Helper()
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func schema(table string, columns ...string) policy.Schema {
	s := policy.Schema{Table: table, Source: "postgres://discreet@localhost/cdm", Relation: "public." + table}
	for _, c := range columns {
		typ := policy.Integer
		switch {
		case strings.HasSuffix(strings.ToLower(c), "date"):
			typ = policy.Date
		case strings.HasSuffix(c, "_value") || strings.HasSuffix(c, "_name"):
			typ = policy.Text
		}
		s.Columns = append(s.Columns, policy.SchemaColumn{Name: c, Type: typ, Nullable: true})
	}
	return s
}

// TestTell: tables and columns that are there, whatever letters they are in and whatever keys the
// database has; what the model does not have is left out, and nothing is made up.
func TestTell(t *testing.T) {
	view := schema("measurement", "person_id")
	view.LeftOut, view.Trusted = "public.measurement is a view", true
	schemas, err := policydraft.ApplyOMOP([]policy.Schema{
		schema("concept", "concept_id", "concept_name", "valid_start_date"), schema("OBSERVATION", "OBSERVATION_ID", "OBSERVATION_DATE"),
		schema("PERSON", "PERSON_ID", "YEAR_OF_BIRTH", "shoe_size", "PERSON_SOURCE_value"), schema("salaries", "person_id", "salary"), view,
		schema("death", "person_id", "death_date", "cause_concept_id"), schema("note", "note_id", "person_id"),
	})
	if err != nil {
		t.Fatal(err)
	}
	text, err := policy.Draft(schemas, policy.DraftOptions{Dataset: "cdm", Unit: "PERSON.PERSON_ID"})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"unit: PERSON.PERSON_ID", "path: person_id -> PERSON.PERSON_ID", "bounds: [1900, 2029]", "unique: " +
		"concept_id",
		"does not ensure that concept_id is different", "'shoe_size' is left out: the common data model does not have it",
		"'PERSON_SOURCE_value' is left out: it is the source's own text", "'valid_start_date' is left out", "keys: private",
		"LEFT OUT: salaries is not a table of the common data model", "LEFT OUT: note. It is free text",
		"LEFT OUT: public.measurement is a view", "LEFT OUT: OBSERVATION has no readable column person_id"} {
		if !strings.Contains(text, want) {
			t.Errorf("the draft does not say %q\n%s", want, text)
		}
	}
	p, err := policy.Parse("draft", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	tables := p.Datasets["cdm"].Tables
	if person := tables["PERSON"]; len(tables) != 3 || person.UnitKind != policy.Many || person.MaxRows != 1 || person.MaxGroups != 1 {
		t.Errorf("%d tables, person %+v", len(tables), person)
	}
	if d := tables["death"]; d.MaxRows != 1 || d.MaxGroups != 1 || d.Columns["cause_concept_id"].Keys != policy.PrivateKeys {
		t.Errorf("death %+v", d)
	}
	if c := tables["concept"]; !c.Public || len(c.Columns) != 2 {
		t.Errorf("concept %+v", c)
	}
	if _, err := policydraft.ApplyOMOP([]policy.Schema{schema("persons", "person_id")}); err == nil ||
		!strings.Contains(err.Error(), "no readable table person") {
		t.Errorf("without people: %v", err)
	}
}
