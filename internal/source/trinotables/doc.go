// Package trinoplace knows where a Trino cluster is, by an address without a password, and asks it
// through database/sql: with a certificate that is verified unless it is on this machine, as one
// user, under a name by which an administrator sees and limits it, and with settings that nobody
// but this package chooses.
//
// What Trino says is for the owner. [Failure] has one text for everybody else.
package trinotables
