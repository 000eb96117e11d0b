// Package pgaddress says what everybody has to know about addresses of PostgreSQL databases, of
// data and of ledgers alike, and who is to read them further: package policy, and package pgplace.
package pgaddress

import (
	"net"
	"strings"
)

// Is reports whether a text is such an address, by how it begins.
func Is(text string) bool {
	return strings.HasPrefix(text, "postgres://") || strings.HasPrefix(text, "postgresql://")
}

// IsHere reports whether a host is this machine: the folder of a socket, or a loopback address.
// Nothing on another machine is spoken to without TLS that knows it by its name.
func IsHere(host string) bool {
	ip := net.ParseIP(host)
	return strings.HasPrefix(host, "/") || host == "localhost" || ip != nil && ip.IsLoopback()
}
