// Package address says what everybody has to know about addresses of databases, of data and of
// ledgers alike, and who is to read them further: package policy, and the packages that connect.
package address

import (
	"cmp"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// IsPostgres reports whether a text is the address of a PostgreSQL database, by how it begins.
func IsPostgres(text string) bool {
	return strings.HasPrefix(text, "postgres://") || strings.HasPrefix(text, "postgresql://")
}

// IsTrino reports whether a text is the address of a Trino cluster, by how it begins.
func IsTrino(text string) bool { return strings.HasPrefix(text, "trino://") }

// IsHere reports whether a host is this machine: the folder of a socket, or a loopback address.
// Nothing on another machine is spoken to without TLS that knows it by its name.
func IsHere(host string) bool {
	ip := net.ParseIP(host)
	return strings.HasPrefix(host, "/") || host == "localhost" || ip != nil && ip.IsLoopback()
}

// Certificate says what is wrong with a server's certificate, to the owner, where that is what an
// error is about; else nothing. A library says it in words of its own.
func Certificate(err error) string {
	var name x509.HostnameError
	var unknown x509.UnknownAuthorityError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, &name):
		names := strings.Join(name.Certificate.DNSNames, ", ")
		if names == "" {
			names = "no name"
		}
		return fmt.Sprintf("its certificate is for %s, and not for %s", names, name.Host)
	case errors.As(err, &unknown):
		return "its certificate is from an authority that is unknown here; if the authority is your own, write sslrootcert=FILE into " +
			"the address"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "its certificate has expired or is not valid yet, by the clock of this machine"
	}
	return ""
}

// Trino is what the address of a Trino cluster says: who asks, where, and about which catalog.
type Trino struct {
	User, Host, Port string
	Catalog          string
	Schema           string // empty where every table names its own
	// Plain says that it is spoken to without TLS, which it may be on this machine alone.
	Plain bool
	// Root is a file with the certificate of the cluster's own authority; Certificate and Key are
	// files with which we say who we are.
	Root, Certificate, Key string
	// PasswordFile and TokenFile have the password or the JWT, and nothing else.
	PasswordFile, TokenFile string
}

// WantTrino is how such an address is spelled.
const WantTrino = "an address such as trino://discreet@trino.example.org:8443/lake/hospital"

// PasswordVariable names the environment variable that has the password for Trino, where the
// address names no file.
const PasswordVariable = "DISCREET_TRINO_PASSWORD"

// trinoOptions are those that an address may have. None of them sets what a statement runs with:
// session properties, roles and credentials of connectors are not for an address to choose.
var trinoOptions = []string{"sslmode", "sslrootcert", "sslcert", "sslkey", "passwordfile", "tokenfile"}

// ParseTrino reads an address. The error says what is wrong with it, in words that follow "the
// address", and repeats nothing of it but names of options.
func ParseTrino(text string) (Trino, error) {
	u, err := url.Parse(text)
	if err != nil || !IsTrino(text) || strings.ContainsFunc(text, unicode.IsControl) || !utf8.ValidString(text) || u.Fragment != "" ||
		u.Opaque != "" {
		return Trino{}, errors.New("is not the address of a Trino cluster; write " + WantTrino)
	}
	options, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return Trino{}, errors.New("has options that do not parse; write " + WantTrino)
	}
	if _, set := u.User.Password(); set || options.Has("password") || options.Has("token") || options.Has("accessToken") {
		return Trino{}, errors.New("has a password in it, which everybody who sees the policy can read; put it into a file and write " +
			"?passwordfile=PATH, or ?tokenfile=PATH for a JWT, or into the environment as " + PasswordVariable)
	}
	for _, name := range slices.Sorted(maps.Keys(options)) {
		switch {
		case !slices.Contains(trinoOptions, name):
			return Trino{}, errors.New("has an unknown option; the options are " + strings.Join(trinoOptions, ", ") +
				"; an address cannot set session properties")
		case len(options[name]) != 1 || options.Get(name) == "":
			return Trino{}, errors.New("has the option " + name + " twice, or empty")
		}
	}
	t := Trino{User: u.User.Username(), Host: u.Hostname(), Root: options.Get("sslrootcert"), Certificate: options.Get("sslcert"),
		Key: options.Get("sslkey"), PasswordFile: options.Get("passwordfile"), TokenFile: options.Get("tokenfile"),
		Plain: options.Get("sslmode") == "disable"}
	if err := t.readTarget(u); err != nil {
		return Trino{}, err
	}
	t.Port = cmp.Or(u.Port(), map[bool]string{true: "8080", false: "443"}[t.Plain])
	return t, t.secure(options.Get("sslmode"))
}

func (t *Trino) readTarget(u *url.URL) error {
	parts := strings.Split(strings.TrimSuffix(strings.TrimPrefix(u.EscapedPath(), "/"), "/"), "/")
	names := make([]string, 2)
	for i, part := range parts {
		name, err := url.PathUnescape(part)
		if err != nil || i > 1 || name == "" || strings.ContainsAny(name, "\"\\") || strings.ContainsFunc(name, unicode.IsControl) {
			return errors.New("names no catalog, or more than a catalog and a schema; write " + WantTrino)
		}
		names[i] = strings.ToLower(name) // as Trino does itself
	}
	t.Catalog, t.Schema = names[0], names[1]
	switch {
	case t.Host == "" || t.User == "":
		return errors.New("does not name a user and a host; write " + WantTrino)
	case strings.ContainsAny(t.Host, ", /"):
		return errors.New("names more than one host; write the host of the coordinator, or of the proxy in front of it")
	case strings.ContainsRune(t.User, ':') || strings.ContainsFunc(t.User, func(c rune) bool { return c <= ' ' || c > '~' }):
		return errors.New("has a user name that cannot be sent; write ASCII letters, digits and signs, without a colon")
	}
	return nil
}

// secure refuses what could be heard or answered by others.
func (t *Trino) secure(mode string) error {
	switch {
	case mode != "" && mode != "verify-full" && mode != "disable":
		return errors.New("has an unknown sslmode; write verify-full, the default, which verifies the name and the certificate of " +
			"the server, or disable, for a server on this machine")
	case t.Plain && !IsHere(t.Host):
		return errors.New("is on another machine, so the connection must be encrypted and the server verified; remove " +
			"sslmode=disable, and write sslrootcert=PATH if its authority is your own")
	case t.Plain && (t.Root != "" || t.Certificate != "" || t.PasswordFile != "" || t.TokenFile != ""):
		return errors.New("has sslmode=disable, with which no password, token or certificate is sent; remove one of the two")
	case (t.Certificate == "") != (t.Key == ""):
		return errors.New("has only one of sslcert and sslkey; write both")
	case t.PasswordFile != "" && t.TokenFile != "":
		return errors.New("names a password and a token; write one of them")
	}
	return nil
}

// Where is the server, for messages and to tell clusters apart. Spellings of one place are one.
func (t Trino) Where() string {
	host := strings.TrimSuffix(strings.ToLower(t.Host), ".")
	if IsHere(host) {
		host = "localhost"
	}
	return "trino://" + net.JoinHostPort(host, t.Port)
}
