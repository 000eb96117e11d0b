// Package address says what everybody has to know about addresses of databases, of data and of
// ledgers alike, and who is to read them further: package policy, and the packages that connect.
package address

import (
	"net"
	"strings"
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
