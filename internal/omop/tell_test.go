package omop_test

import (
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/omop"
	"github.com/discreet-dp/discreet/policy"
)

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
	schemas, err := omop.Tell([]policy.Schema{
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
		"does not see to it that concept_id is different", "'shoe_size' is left out: the common data model does not have it",
		"'PERSON_SOURCE_value' is left out: it is what the source wrote", "'valid_start_date' is left out", "keys: private",
		"LEFT OUT: salaries is no table", "LEFT OUT: note. It is free text", "LEFT OUT: public.measurement is a view",
		"LEFT OUT: OBSERVATION has no column person_id"} {
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
	if _, err := omop.Tell([]policy.Schema{schema("persons", "person_id")}); err == nil || !strings.Contains(err.Error(), "no table "+
		"person") {
		t.Errorf("without people: %v", err)
	}
}
