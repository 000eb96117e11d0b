// Package trinotables looks at tables of a Trino cluster: what they are, who may do what with them,
// and in which state they are.
//
// Nothing that an analyst writes comes here. What is asked of the cluster is what this package
// writes, names of the policy, and the owner's version query: so nothing that goes wrong here can
// depend on a question, and no message of Trino's reaches anybody but the owner.
//
// A table of Iceberg or Delta has versions, and statements name the one that was looked at, so that
// all of a question see one state. The files of a Hive table say whether it has changed, and who
// reads several times looks again afterwards. Other stores do not say; then the owner does.
//
// A cluster is asked through database/sql, by an address without a password: with a certificate
// that is verified unless it is on this machine, as one user, under a name by which an
// administrator sees and limits it, and with settings that nobody but this package chooses. What
// Trino says is for the owner. [Failure] has one text for everybody else.
package trinotables
