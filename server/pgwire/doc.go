// Package pgwire is the door for PostgreSQL's clients: version 3 of the wire protocol, with psql, JDBC and everything that is built on libpq at the other end.
package pgwire
