package policy

import (
	"cmp"
	"errors"
	"maps"
	"net"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/discreet-dp/discreet/internal/address"
)

// wantAddress is how the address of a PostgreSQL database is spelled.
const wantAddress = "an address such as postgres://discreet@db.example.org/hospital?sslmode=verify-full"

// IsPostgres reports whether a source is the address of a PostgreSQL database.
func IsPostgres(source string) bool { return address.IsPostgres(source) }

// Postgres is an address without its user and options: where the data is, for messages and to tell
// databases apart. Spellings of one place are one.
func Postgres(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return "a PostgreSQL database"
	}
	host, port := postgresHost(u)
	if strings.HasPrefix(host, "/") {
		host = path.Clean(host)
	}
	if address.IsHere(host) && !strings.HasPrefix(host, "/") {
		host = "localhost"
	}
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	return "postgres://" + net.JoinHostPort(host, port) + "/" + url.PathEscape(postgresName(u))
}

// PostgresServer is what an address names: the host or the folder of its socket, the port, the user
// and the database. No environment and no option changes them.
func PostgresServer(address string) (host, port, user, database string) {
	u, err := url.Parse(address)
	if err != nil {
		return "", "", "", ""
	}
	host, port = postgresHost(u)
	return host, port, u.User.Username(), postgresName(u)
}

func postgresHost(u *url.URL) (host, port string) {
	if u.Host != "" {
		return u.Hostname(), cmp.Or(u.Port(), "5432")
	}
	return u.Query().Get("host"), cmp.Or(u.Query().Get("port"), "5432")
}

func postgresName(u *url.URL) string { return strings.TrimPrefix(u.Path, "/") }

// postgresOptions are those that an address may have, each of them once: the last of two counts for
// the driver, others say the same as the address itself, or set what a connection is to run with.
var postgresOptions = []string{"sslmode", "sslrootcert", "sslcert", "sslkey", "passfile", "target_session_attrs", "krbsrvname", "krbspn",
	"channel_binding", "require_auth", "connect_timeout", "application_name"}

// checkOptions returns what is wrong with the options of an address.
func checkOptions(u *url.URL) string {
	options, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return "has options that do not parse"
	}
	for _, name := range slices.Sorted(maps.Keys(options)) {
		socket := u.Host == "" && (name == "host" || name == "port")
		switch {
		case !socket && !slices.Contains(postgresOptions, name):
			return "has the option " + quote(name) + ", which is not one of " + strings.Join(postgresOptions, ", ") +
				"; write the host, port, user and database before the question mark"
		case len(options[name]) != 1:
			return "has the option " + quote(name) + " twice"
		}
	}
	if host, _ := postgresHost(u); strings.ContainsAny(host, ", ") || strings.Contains(postgresName(u), "/") {
		return "names more than one server or database"
	}
	return ""
}

// CheckPostgres says what is wrong with the address of a database, without repeating it.
func CheckPostgres(address string) error {
	if problem := addressProblem(address); problem != "" {
		return errors.New(strings.Replace(problem, "'source'", "the address", 1))
	}
	return nil
}

func (in sourceReader) readPostgres(v element, text string) bool {
	in.d.Engine = "duckdb" // into which its tables are copied
	if problem := addressProblem(text); problem != "" {
		in.r.at(v, "%s", problem)
		return false
	}
	in.d.Source = text
	return true
}

// addressProblem says what is wrong with an address. A password in it would be in the policy, in
// backups and on screens, so there is none.
func addressProblem(text string) string {
	u, err := url.Parse(text)
	switch {
	case err != nil || strings.ContainsFunc(text, unicode.IsControl) || !utf8.ValidString(text) || u.Fragment != "":
		return "'source' is not the address of a PostgreSQL database; write " + wantAddress
	case hasPassword(u):
		return "'source' has a password in it, which everybody who sees the policy can read; put it into a PostgreSQL password file " +
			"and write ?passfile=PATH, or into the environment as PGPASSWORD"
	case u.Host == "" && u.Query().Get("host") == "" || strings.Trim(u.Path, "/") == "" || u.User.Username() == "":
		return "'source' does not name a host, a user and a database; write " + wantAddress
	}
	if problem := checkOptions(u); problem != "" {
		return "'source' " + problem + "; write " + wantAddress
	}
	switch mode := u.Query().Get("sslmode"); {
	case mode == "verify-full" || PostgresIsHere(text):
	case mode == "verify-ca":
		return "'source' has sslmode=verify-ca, with which any server of the same authority can pretend to be this one; write " +
			"sslmode=verify-full"
	default:
		return "'source' is on another machine, so the connection must be encrypted and the server verified; write " +
			"sslmode=verify-full, and sslrootcert=PATH if its authority is your own"
	}
	return ""
}

func hasPassword(u *url.URL) bool {
	_, set := u.User.Password()
	return set || u.Query().Has("password") || u.Query().Has("sslpassword")
}

// PostgresIsHere reports whether a server is on this machine: behind a socket, or at a loopback
// address.
func PostgresIsHere(text string) bool {
	host, _, _, _ := PostgresServer(text)
	return address.IsHere(host)
}

// CheckRelation says why a policy cannot name a table of a PostgreSQL database, or nothing.
func CheckRelation(schema, table string) string {
	if problem := checkName(table); problem != "" {
		return "the name of the table " + problem
	}
	if strings.Contains(schema, ".") || !relationSpelt(schema+"."+table) {
		return "the name of its schema contains a dot or a sign that a policy cannot spell"
	}
	return ""
}

func relationSpelt(text string) bool {
	schema, name, ok := strings.Cut(text, ".")
	return ok && schema != "" && name != "" && !strings.ContainsAny(text, "\"\\") && !strings.ContainsFunc(text, unicode.IsControl)
}

// readRelation reads which table of a PostgreSQL database a table is.
func (t *Table) readRelation(r *reader, f fields) bool {
	t.Relation = "public." + t.Name
	v, given := f.get("source")
	if !given {
		return true
	}
	text, ok := r.text(v, "source", "the schema and the name of a table of the database, such as clinic.patients")
	if !ok {
		return false
	}
	if !relationSpelt(text) {
		r.at(v, "'source' is not a table of the database; write its schema and its name, such as clinic.patients")
		return false
	}
	t.Relation = text
	return true
}

// readTrusted reads whether the owner answers for what is no plain table.
func (t *Table) readTrusted(r *reader, f fields, d *Dataset, sourceOK bool) {
	v, ok := f.get("trusted")
	if !ok {
		return
	}
	if sourceOK && !d.SourceKind().Remote() {
		r.at(v, "'trusted' is about views and foreign tables of a PostgreSQL database or a Trino cluster, and the source is neither; "+
			"remove it")
		return
	}
	t.Trusted, _ = r.truth(v, "trusted")
}

// maxRefresh is the longest time for which a copy of the data may be used.
const maxRefresh = 366 * 24 * time.Hour

// readRefresh reads for how long data on a server is taken to be as it was.
func (in sourceReader) readRefresh(f fields, sourceOK bool) {
	v, ok := f.get("refresh")
	if !ok {
		return
	}
	text, ok := in.r.text(v, "refresh", "a time such as 1h or 24h")
	if !ok {
		return
	}
	long, err := time.ParseDuration(text)
	switch {
	case sourceOK && !in.d.SourceKind().Remote():
		in.r.at(v,
			"'refresh' says how long a PostgreSQL database or a Trino cluster is taken to be unchanged, and the source is neither; "+
				"remove it")
	case err != nil || long < 0 || long > maxRefresh:
		in.r.at(v, "'refresh' says how long the data is taken to be unchanged before it is checked for changes; write a time such as "+
			"10m, 1h or 24h")
	default:
		in.d.Refresh = long
	}
}

// IsTrino reports whether a source is the address of a Trino cluster.
func IsTrino(source string) bool { return address.IsTrino(source) }

// CheckTrino says what is wrong with the address of a Trino cluster, without repeating it.
func CheckTrino(text string) error {
	if _, err := address.ParseTrino(text); err != nil {
		return errors.New("the address " + err.Error())
	}
	return nil
}

// Trino is an address without its user and options: where the data is, for messages and to tell
// clusters apart.
func Trino(text string) string {
	at, err := address.ParseTrino(text)
	if err != nil {
		return "a Trino cluster"
	}
	return at.Where()
}

func (in sourceReader) readTrino(v element, text string) bool {
	in.d.Engine = "trino"
	if _, err := address.ParseTrino(text); err != nil {
		in.r.at(v, "'source' %v", err)
		return false
	}
	in.d.Source = text
	return true
}

// readTrinoRelation reads which table of a Trino cluster a table is. Trino takes names for the same
// that differ in letter case alone, so they are in lower case here.
func (t *Table) readTrinoRelation(r *reader, f fields, d *Dataset) bool {
	at, err := address.ParseTrino(d.Source)
	if err != nil {
		return false // it is said elsewhere
	}
	const want = "the schema and the name of a table, such as clinic.patients, or with the catalog before them"
	text := t.Name
	v, given := f.get("source")
	if given {
		var ok bool
		if text, ok = r.text(v, "source", want); !ok {
			return false
		}
	} else {
		v = f.at
	}
	parts := strings.Split(text, ".")
	if !given {
		parts = []string{t.Name}
	}
	switch {
	case len(parts) == 1 && at.Schema == "":
		r.at(v, "nothing says which schema the table is in; write %s, or put the schema into the address: trino://USER@HOST/CATALOG/SCHEMA",
			want)
		return false
	case len(parts) == 1:
		parts = []string{at.Catalog, at.Schema, parts[0]}
	case len(parts) == 2:
		parts = append([]string{at.Catalog}, parts...)
	}
	relation := strings.ToLower(strings.Join(parts, "."))
	if !trinoSpelt(relation) {
		r.at(v, "'source' is not a table of the cluster; write %s", want)
		return false
	}
	t.Relation = relation
	return true
}

// trinoSpelt reports whether a text is a catalog, a schema and a table. A dollar stands for what a
// store says about a table, and not for its rows.
func trinoSpelt(text string) bool {
	parts := strings.Split(text, ".")
	if len(parts) != 3 || strings.ContainsAny(text, "\"\\$@") || strings.ContainsFunc(text, unicode.IsControl) {
		return false
	}
	return parts[0] != "" && parts[1] != "" && parts[2] != "" && parts[1] != "information_schema" && parts[0] != "system"
}

// CheckTrinoRelation says why a policy cannot name a table of a Trino cluster, or nothing.
func CheckTrinoRelation(catalog, schema, table string) string {
	if problem := checkName(table); problem != "" {
		return "the name of the table " + problem
	}
	if !trinoSpelt(catalog + "." + schema + "." + table) {
		return "its name contains a dot or a sign that a policy cannot spell"
	}
	return ""
}
