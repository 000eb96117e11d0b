package policy

import (
	"cmp"
	"maps"
	"net"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// wantAddress is how the address of a PostgreSQL database is spelled.
const wantAddress = "an address such as postgres://discreet@db.example.org/hospital?sslmode=verify-full"

// IsPostgres reports whether a source is the address of a PostgreSQL database.
func IsPostgres(source string) bool {
	return strings.HasPrefix(source, "postgres://") || strings.HasPrefix(source, "postgresql://")
}

// Postgres is an address without its user and options: where the data is, for messages and to tell
// databases apart. Spellings of one place are one.
func Postgres(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "a PostgreSQL database"
	}
	host, port := postgresHost(u)
	if strings.HasPrefix(host, "/") {
		host = path.Clean(host)
	}
	if isLoopback(host) {
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
			return "has the option " + quote(name) + ", and there may be " + strings.Join(postgresOptions, ", ") +
				"; a host, a port, a user and a database stand before the question mark"
		case len(options[name]) != 1:
			return "has the option " + quote(name) + " twice"
		}
	}
	if host, _ := postgresHost(u); strings.ContainsAny(host, ", ") || strings.Contains(postgresName(u), "/") {
		return "names more than one server or database"
	}
	return ""
}

// readPostgres reads the address of a database. A password in it would be in the policy, in
// backups and on screens, so there is none.
func (d *Dataset) readPostgres(r *reader, v place, text string) bool {
	d.Engine = "duckdb" // into which its tables are copied
	u, err := url.Parse(text)
	switch {
	case err != nil || strings.ContainsFunc(text, unicode.IsControl) || !utf8.ValidString(text) || u.Fragment != "":
		r.at(v, "'source' is not the address of a PostgreSQL database; write %s", wantAddress)
		return false
	case hasPassword(u):
		r.at(v, "'source' has a password in it, which everybody sees who sees the policy; put it into a file of PostgreSQL's kind and "+
			"write ?passfile=PATH, or into the environment as PGPASSWORD")
		return false
	case u.Host == "" && u.Query().Get("host") == "" || strings.Trim(u.Path, "/") == "" || u.User.Username() == "":
		r.at(v, "'source' does not name a host, a user and a database; write %s", wantAddress)
		return false
	}
	if problem := checkOptions(u); problem != "" {
		r.at(v, "'source' %s; write %s", problem, wantAddress)
		return false
	}
	switch mode := u.Query().Get("sslmode"); {
	case mode == "verify-full" || PostgresIsHere(text):
	case mode == "verify-ca":
		r.at(v, "'source' has sslmode=verify-ca, with which any server of the same authority can pretend to be this one; write "+
			"sslmode=verify-full")
		return false
	default:
		r.at(v, "'source' is on another machine, and what is read from there has to be encrypted and from the right server; write "+
			"sslmode=verify-full, and sslrootcert=PATH where its authority is your own")
		return false
	}
	d.Source = text
	return true
}

func hasPassword(u *url.URL) bool {
	_, set := u.User.Password()
	return set || u.Query().Has("password") || u.Query().Has("sslpassword")
}

// PostgresIsHere reports whether a server is on this machine: behind a socket, or at a loopback
// address.
func PostgresIsHere(address string) bool {
	host, _, _, _ := PostgresServer(address)
	return strings.HasPrefix(host, "/") || isLoopback(host)
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
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
	schema, name, ok := strings.Cut(text, ".")
	if !ok || schema == "" || name == "" || strings.ContainsAny(text, "\"\\") || strings.ContainsFunc(text, unicode.IsControl) {
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
	if sourceOK && d.SourceKind() != PostgresDatabase {
		r.at(v, "'trusted' is about views and foreign tables of a PostgreSQL database, and the source is none; remove it")
		return
	}
	t.Trusted, _ = r.truth(v, "trusted")
}

// maxRefresh is the longest time for which a copy of the data may be used.
const maxRefresh = 366 * 24 * time.Hour

// readRefresh reads for how long a copy of a PostgreSQL database is used.
func (d *Dataset) readRefresh(r *reader, f fields, sourceOK bool) {
	v, ok := f.get("refresh")
	if !ok {
		return
	}
	text, ok := r.text(v, "refresh", "a time such as 1h or 24h")
	if !ok {
		return
	}
	long, err := time.ParseDuration(text)
	switch {
	case sourceOK && d.SourceKind() != PostgresDatabase:
		r.at(v, "'refresh' says for how long a copy of a PostgreSQL database is used, and the source is none; remove it")
	case err != nil || long < 0 || long > maxRefresh:
		r.at(v, "'refresh' is for how long a copy of the data is used before it is looked whether it has changed; write a time such as "+
			"10m, 1h or 24h")
	default:
		d.Refresh = long
	}
}
