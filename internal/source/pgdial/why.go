package pgdial

import (
	"errors"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/discreet-dp/discreet/internal/address"
)

// Why says why there is no connection, to the owner. The driver says much of it twice, and what a
// certificate lacks in the words of a library. None of it has the password.
func Why(err error) string {
	if text := address.Certificate(err); text != "" {
		return text
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
