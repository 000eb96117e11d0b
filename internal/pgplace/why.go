package pgplace

import (
	"crypto/x509"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// Why says why there is no connection, to the owner. The driver says much of it twice, and what a
// certificate lacks in the words of a library. None of it has the password.
func Why(err error) string {
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
		return "its certificate is of an authority that is not known here; where it is your own, write sslrootcert=FILE into the address"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "its certificate has expired or is not valid yet, by the clock of this machine"
	}
	var failed *pgconn.ConnectError
	if errors.As(err, &failed) {
		err = failed.Unwrap()
	}
	text := err.Error()
	if strings.Contains(text, "server refused TLS connection") {
		return "it has no TLS: set ssl = on there, with a certificate"
	}
	for _, again := range []string{"failed to write startup message: write failed: ", "dial error: ", "hostname resolving error: "} {
		text = strings.ReplaceAll(text, again, "")
	}
	return text
}
