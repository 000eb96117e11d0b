package catalog

import (
	"testing"

	"github.com/discreet-dp/discreet/policy"
)

// unlistedPolicy has no column of a person listed, as drafts do.
const unlistedPolicy = `
datasets:
  clinic:
    engine: duckdb
    source: clinic.duckdb
    unit: patients.pid
    budget: {epsilon: 10}
    analysts: {ana: {}}
    tables:
      patients:
        unique: pid
        columns:
          age: {type: integer, bounds: [0, 110]}
      visits:
        path: patient -> patients.pid
        max_rows: 50
        max_groups: 5
        columns:
          cost: {type: decimal, bounds: [0, 5000], granularity: 0.01}
      drugs:
        path: visit -> visits.vid
        max_rows: 100
        max_groups: 5
        columns:
          visit: {type: integer}
          dose: {type: integer, bounds: [0, 1000]}
      codes:
        public: true
        unique: code
        columns:
          code: {type: text}
    views:
      all_patients: SELECT * FROM older
      older: SELECT p.pid, age, age + 1 AS next, cost AS spent FROM patients p JOIN visits ON patient = p.pid WHERE age > 60
      medians: SELECT patient, median(cost) AS m FROM visits GROUP BY patient
      known: SELECT code FROM codes
`

// How tables join is to be seen whatever the policy lists: in columns, keys and comments, of views
// too.
func TestIdentities(t *testing.T) {
	p, err := policy.Parse("policy.yaml", []byte(unlistedPolicy))
	if err != nil {
		t.Fatal(err)
	}
	c := New(p, "clinic", Session{User: "ana"})
	const people = "join on it, and count people with COUNT(DISTINCT "
	for sql, want := range map[string]string{
		"SELECT conrelid::regclass, pg_get_constraintdef(oid) FROM pg_constraint ORDER BY oid": `patients|PRIMARY KEY (pid)
codes|UNIQUE (code)
visits|PRIMARY KEY (vid)
visits|FOREIGN KEY (patient) REFERENCES patients(pid)
drugs|FOREIGN KEY (visit) REFERENCES visits(vid)`,
		"SELECT attname, format_type(atttypid, atttypmod), col_description(attrelid, attnum) FROM pg_attribute WHERE attrelid = " +
			"'visits'::regclass ORDER BY attnum": `cost|numeric|bounds 0 to 5000; noisy; private
patient|text|says whose a row is, as patients.pid does; ` + people + `patient); its values are never shown
vid|bigint|tells rows apart; drugs.visit leads here, join on it; its values are never shown`,
		"SELECT attname, format_type(atttypid, atttypmod), col_description(attrelid, attnum) FROM pg_attribute WHERE attrelid = " +
			"'all_patients'::regclass ORDER BY attnum": `pid|text|says whose a row is; ` + people + `pid); its values are never shown
age|bigint|bounds 0 to 110; noisy; private
next|bigint|noisy; private
spent|numeric|bounds 0 to 5000; noisy; private`,
		"SELECT attname, col_description(attrelid, attnum) FROM pg_attribute WHERE attrelid = 'medians'::regclass ORDER BY attnum": `` +
			`patient|says whose a row is, as patients.pid does; ` + people + `patient); its values are never shown
m|noisy; private`,
		"SELECT obj_description('visits'::regclass)": "private; answers are noisy; at most 50 rows of a person count in a group, and a " +
			"person in at most 5 groups; patient says whose a row is",
		"SELECT obj_description('known'::regclass), col_description('known'::regclass, 1)": "a view of public tables; it can be joined " +
			"to private tables|~",
		"SELECT table_name, column_name FROM information_schema.key_column_usage WHERE position_in_unique_constraint = 1 ORDER BY 1": `` +
			"drugs|visit\nvisits|patient",
	} {
		if got := show(t, c, sql); got != want {
			t.Errorf("%s:\n%s\nand not\n%s", sql, got, want)
		}
	}
}
