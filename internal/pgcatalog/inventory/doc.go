// Package inventory lists what PostgreSQL 15 to 18 have: functions, operators and settings, and
// says why what is not answered here is refused. The lists are PostgreSQL's own (lists_test.go has
// the command that makes them), so that nothing that PostgreSQL has is said not to exist.
package inventory
