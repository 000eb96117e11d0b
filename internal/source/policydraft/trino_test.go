package policydraft

import (
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/test/testtrino"
	"github.com/discreet-dp/discreet/policy"
)

const only = "only_draft"

// TestDraftTrino: what Trino says about tables is in the draft, and what it does not say is asked
// for; the draft is a policy.
func TestDraftTrino(t *testing.T) {
	c := testtrino.Shared(t)
	for _, catalog := range []string{"iceberg", "memory"} {
		c.Run(t, "DROP SCHEMA IF EXISTS "+catalog+"."+only+" CASCADE", "CREATE SCHEMA "+catalog+"."+only)
	}
	at := "iceberg." + only + "."
	c.Run(t,
		"CREATE TABLE "+at+"patients (pid bigint NOT NULL, sex varchar NOT NULL, weight decimal(5,1), born date, town varchar "+
			"COMMENT 'Where they "+
			"live now', note array(varchar)) COMMENT 'Everybody who was ever here'",
		"CREATE TABLE "+at+"visits (vid bigint, pid bigint, doctor bigint, cost double, at timestamp(6), ward varchar)",
		"CREATE TABLE "+at+"wards (ward varchar, floor integer)",
		"CREATE TABLE "+at+"days (pid varchar, day date)",
		"CREATE VIEW "+at+"adults AS SELECT pid FROM "+at+"patients",
		"INSERT INTO "+at+"patients VALUES (1, 'F', 62.5, DATE '1980-01-01', 'x', NULL), (2, 'M', 71.5, DATE '1990-02-03', 'y', NULL)")
	address := c.Address(only, "iceberg", only)
	d, err := DraftTrino(t.Context(), address, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"source: \"" + address + "\"", "# refresh: 24h",
		"GUESSED: 1 other tables have a column with the name of its column pid", "unit: patients.pid",
		"# Everybody who was ever here", "# Where they live now",
		"granularity: 0.1", "nullable: false",
		"BY ITS NAME ONLY", "path: pid -> patients.pid",
		"iceberg." + only + ".adults is a view", "trusted: true",
		"LEFT OUT: no foreign key leads from the table 'wards'", "LEFT OUT: no foreign key leads from the table 'days'",
		"YOURS TO DECIDE", "visits.cost",
		`"table": "(patients|visits)(\\$.*)?"`, "GRANT SELECT ON \"iceberg\".\"" + only + "\".\"visits\" TO USER \"" + only + "\"",
	} {
		if !strings.Contains(d.Text, want) {
			t.Errorf("there is no %q in\n%s", want, d.Text)
		}
	}
	if strings.Contains(d.Text, "engine:") || strings.Contains(d.Text, "YOURS TO ANSWER") || strings.Contains(d.Text, "[1980-01-01") {
		t.Error(d.Text)
	}
	p, err := policy.Parse("p.yaml", []byte(d.Text))
	if err != nil {
		t.Fatal(err)
	}
	ds := p.Datasets[only]
	if ds == nil || ds.Engine != "trino" || len(ds.Tables) != 2 || ds.Tables["visits"].Relation != at+"visits" ||
		ds.Tables["visits"].Columns["at"].Type != policy.Timestamp || ds.Tables["patients"].Columns["note"] != nil {
		t.Errorf("%+v", ds)
	}
	t.Run("options", func(t *testing.T) { testOptions(t, c, address) })
}

// What the owner says counts.
func testOptions(t *testing.T, c *testtrino.Cluster, address string) {
	d, err := DraftTrino(t.Context(), address, Options{DraftOptions: policy.DraftOptions{Unit: "visits.doctor", TrustDataBounds: true,
		People: map[string]string{"wards": "ward -> visits.ward"}}})
	if err == nil {
		t.Error("a path to a column that is not unique was drafted: " + d.Text)
	}
	d, err = DraftTrino(t.Context(), address, Options{DraftOptions: policy.DraftOptions{Unit: "patients.pid", TrustDataBounds: true,
		Dataset: "clinic"}})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(d.Text, "[62.5, 71.5]") || !strings.Contains(d.Text, "[1980-01-01, 1990-02-03]") || !strings.Contains(d.Text,
		"clinic:") {
		t.Error(d.Text)
	}
	c.Run(t, "CREATE TABLE memory."+only+".people (person_id bigint, age integer)")
	d, err = DraftTrino(t.Context(), c.Address(only, "memory", only), Options{})
	if err != nil || !strings.Contains(d.Text, "\n    refresh: 24h\n") || !strings.Contains(d.Text, "\n    unit: people.person_id\n") {
		t.Errorf("%v, %+v", err, d)
	}
	c.Run(t, "CREATE SCHEMA IF NOT EXISTS hive."+only, "DROP TABLE IF EXISTS hive."+only+".people", "CREATE TABLE hive."+only+
		".people (person_id bigint, age integer)")
	d, err = DraftTrino(t.Context(), c.Address(only, "hive", only), Options{})
	if err != nil || !strings.Contains(d.Text, "YOURS TO ANSWER: its connector, hive, reads data that something else has") ||
		!strings.Contains(d.Text, "\n        # trusted: true\n") {
		t.Errorf("%v, %+v", err, d)
	}
	for address, says := range map[string]string{c.Address(only, "nowhere", "x"): "there is no catalog nowhere",
		c.Address(only, "memory", "nowhere"): "has no table that the user " + only + " may see in memory.nowhere",
		"trino://a@h":                        "the address names no catalog"} {
		if _, err := DraftTrino(t.Context(), address, Options{}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", address, err)
		}
	}
}
