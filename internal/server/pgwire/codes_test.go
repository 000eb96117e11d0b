package pgwire

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/discreet-dp/discreet/internal/test/testpg"
)

// TestCodesArePostgreSQLs: for a statement that is refused here, PostgreSQL has the same code for
// somebody who may not read the tables.
func TestCodesArePostgreSQLs(t *testing.T) {
	server := testpg.Shared(t)
	url := server.Database(t, "codes",
		"CREATE TABLE patients (pid bigint, age bigint, sex text, zip text, cost numeric, smoker boolean)",
		"CREATE TABLE visits (pid bigint, ward text, day date, cost numeric)")
	theirs, err := pgx.Connect(background, url)
	must(t, err)
	t.Cleanup(func() { theirs.Close(background) })
	ours := startTestServer(t, nil).ana(t)
	for _, sql := range []string{
		"SELECT * FROM patients",
		"SELECT * FROM patients LIMIT 3",
		"SELECT age, sex FROM patients WHERE age > 50 ORDER BY age",
		"SELECT DISTINCT cost FROM patients",
		"SELECT DISTINCT ON (age) age, sex FROM patients",
		"SELECT pid, count(*) FROM patients GROUP BY pid",
		"SELECT 1 FROM patients LIMIT 1",
		"SELECT EXISTS (SELECT 1 FROM patients WHERE age > 100)",
		"SELECT string_agg(sex, ',') FROM patients",
		"SELECT min(sex) FROM patients",
		"SELECT rank() OVER (ORDER BY age) FROM patients",
		"SELECT * FROM (SELECT * FROM patients LIMIT 5) AS t",
		"SELECT * FROM patients FOR UPDATE",
		"SELECT * FROM patients, visits",
		"SELECT age FROM patients UNION ALL SELECT age FROM patients",
		"SELECT count(*) FROM patients WHERE cost > (SELECT avg(cost) FROM patients)",
		"SELECT count(*) FROM patients a JOIN patients b ON a.zip = b.zip",
		"COPY patients TO STDOUT",
		"COPY (SELECT age FROM patients) TO STDOUT",
		"SELECT count(*) FROM doctors",
		"SELECT count(*) FROM elsewhere.patients",
		"SELECT count(*) FROM patients WHERE nothing = 1",
		"SELECT nothing FROM patients",
		"SELECT count(*) FROM patients WHERE visits.cost = 1",
		"SELECT count(*) FROM patients JOIN visits ON patients.pid = visits.pid WHERE cost > 1",
		"SELECT count(*) FROM patients JOIN patients ON true",
		"SELECT count(*) FROM patients WHERE never(age) = 1",
		"SELECT never(age) FROM patients",
		"SELECT sum(sex) FROM patients",
		"SELECT sum(age, cost) FROM patients",
		"SELECT count(*) FROM patients WHERE age = 'forty'",
		"SELECT count(*) FROM visits WHERE day = 'someday'",
		"SELECT count(*) FROM patients WHERE sex = 1",
		"SELECT count(*) FROM patients WHERE age + sex = 1",
		"SELECT count(*) FROM patients WHERE age LIKE '1%'",
		"SELECT count(*) FROM patients WHERE age",
		"SELECT count(*) FROM patients WHERE age > 5 AND sex",
		"SELECT count(*) FROM visits WHERE CAST(day AS integer) = 5",
		"SELECT count(*) FROM patients WHERE coalesce(age, smoker) = 1",
		"SELECT age, count(*) FROM patients",
		"SELECT age, count(*) FROM patients GROUP BY sex",
		"SELECT count(*) FROM patients WHERE count(*) > 5",
		"SELECT avg(sum(age)) FROM patients",
		"SELECT grouping(smoker), count(*) FROM patients GROUP BY sex",
		"SELECT count(*) FROM patients WHERE rank() OVER () = 1",
		"SELECT sex, count(*) FROM patients GROUP BY 7",
		"SELECT lower(DISTINCT sex) FROM patients",
		"SELECT sex, count(*) FROM patients GROUP BY sex ORDER BY 5",
		"WITH a AS (SELECT 1), a AS (SELECT 2) SELECT count(*) FROM patients, a",
		"SELECT count(*) FROM patients WHERE age IN (SELECT age, pid FROM patients)",
		"SELECT count(*) FROM patients WHERE sex ~ '['",
		"SELECT count(*) FROM patients WHERE CAST(cost AS numeric(1001, 2)) = 5",
		"SELECT count(* FROM patients",
		"SELECT count(*) FROM patients WHERE age = $1",
	} {
		_, err := theirs.PgConn().Exec(background, sql).ReadAll()
		want := sqlstate(err)
		if _, err = ours.PgConn().Exec(background, sql).ReadAll(); sqlstate(err) != want || want == "" {
			t.Errorf("%s: PostgreSQL has %s; %v", sql, want, err)
		}
	}
}
