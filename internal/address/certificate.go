package address

import (
	"crypto/x509"
	"errors"
	"fmt"
	"strings"
)

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
		return "its certificate is of an authority that is not known here; where it is your own, write sslrootcert=FILE into the address"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "its certificate has expired or is not valid yet, by the clock of this machine"
	}
	return ""
}
