// Package testpg gives a test a PostgreSQL server of its own: a new cluster in a temporary folder,
// on a Unix socket and, where a test asks for it, on a port with TLS, of the PostgreSQL that is
// installed. It works for root, as whom PostgreSQL refuses to run, and for anybody else.
//
// A test is skipped where no PostgreSQL is installed, unless the environment has
// DISCREET_NEED_POSTGRES: then it fails.
package testpg
