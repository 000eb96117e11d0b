package policy

import (
	"strings"
	"testing"
)

// TestPostgresAddress: an address names one server, one database and one role, in a way that the
// driver reads no other into, and TLS knows the server.
func TestPostgresAddress(t *testing.T) {
	for _, c := range []struct{ address, problem string }{
		{"postgres://r@db.example.org/clinic?sslmode=verify-full", ""},
		{"postgresql://r@db.example.org:5433/clinic?sslmode=verify-full&sslrootcert=/a/ca.pem&passfile=/a/b", ""},
		{"postgres://r@localhost/clinic", ""},
		{"postgres://r@[::1]/clinic", ""},
		{"postgres://r@/clinic?host=/run/postgresql&port=5433", ""},
		{"postgres://r@db.example.org/clinic", "sslmode=verify-full"},
		{"postgres://r@db.example.org/clinic?sslmode=require", "sslmode=verify-full"},
		{"postgres://r@db.example.org/clinic?sslmode=verify-ca", "any server"},
		{"postgres://r@db.example.org/clinic?sslmode=verify-full&sslmode=disable", "twice"},
		{"postgres://r@db.example.org/clinic?sslmode=verify-full&ssl=true", "'ssl'"},
		{"postgres://r@db.example.org/clinic?sslmode=verify-full&host=other", "'host'"},
		{"postgres://r@db.example.org/clinic?sslmode=verify-full&port=1", "'port'"},
		{"postgres://r@db.example.org/clinic?sslmode=verify-full&user=postgres", "'user'"},
		{"postgres://r@db.example.org/clinic?sslmode=verify-full&dbname=other", "'dbname'"},
		{"postgres://r@db.example.org/clinic?sslmode=verify-full&service=other", "'service'"},
		{"postgres://r@db.example.org/clinic?sslmode=verify-full&options=-c%20role%3Dpostgres", "'options'"},
		{"postgres://r@db.example.org/clinic?sslmode=verify-full&password=x", "password"},
		{"postgres://r@db.example.org/clinic?sslmode=verify-full&sslpassword=x", "password"},
		{"postgres://r:x@localhost/clinic", "password"},
		{"postgres://r@a.example.org,b.example.org/clinic?sslmode=verify-full", "more than one server"},
		{"postgres://r@/clinic?host=/run/postgresql,evil.example.org", "more than one server"},
		{"postgres://r@/clinic?host=/run/postgresql&host=evil.example.org", "twice"},
		{"postgres://r@localhost/clinic?hostaddr=10.0.0.1", "'hostaddr'"},
		{"postgres://r@localhost//clinic", "more than one server or database"},
	} {
		_, err := Parse("p.yaml", []byte("datasets: {d: {unit: t.a, budget: {epsilon: 1}, analysts: {ana: }, tables: {t: "+
			"{unique: a, source: clinic.t, columns: {a: {type: integer}}}}, source: '"+c.address+"'}}"))
		// A table that is in the database is not found fault with as well.
		if (err == nil) != (c.problem == "") || err != nil && (!strings.Contains(err.Error(), c.problem) ||
			strings.Contains(err.Error(), "Parquet")) {
			t.Errorf("%s: %v", c.address, err)
		}
	}
}

// TestPostgresTwice: a table has one home, however its address is spelled.
func TestPostgresTwice(t *testing.T) {
	const first = "postgres://r@db.example.org/clinic?sslmode=verify-full"
	for _, c := range []struct {
		first, second string
		same          bool
	}{
		{first, "postgresql://other@DB.example.org.:5432/%63linic?sslmode=verify-full", true},
		{first, "postgres://r@db.example.org:5433/clinic?sslmode=verify-full", false},
		{first, "postgres://r@db.example.org/Clinic?sslmode=verify-full", false},
		{"postgres://r@localhost/clinic", "postgres://r@127.0.0.1/clinic", true},
		{"postgres://r@[::1]/clinic", "postgres://r@127.0.0.1:5432/clinic?sslmode=disable", true},
		{"postgres://r@/clinic?host=/run/a", "postgres://r@/clinic?host=/run//a/&port=5432", true},
		{"postgres://r@/clinic?host=/run/a", "postgres://r@/clinic?host=/run/a&port=5433", false},
	} {
		dataset := func(address string) string {
			return "{unit: t.a, budget: {epsilon: 1}, analysts: {ana: }, tables: {t: {unique: a, columns: {a: {type: integer}}}}, " +
				"source: '" + address + "'}"
		}
		_, err := Parse("p.yaml", []byte("datasets: {d: "+dataset(c.first)+", e: "+dataset(c.second)+"}"))
		if same := err != nil && strings.Contains(err.Error(), "two budgets"); same != c.same || err != nil && !same {
			t.Errorf("%s and %s: %v", c.first, c.second, err)
		}
	}
}
