// Package sessionhost is what the packages of sessions have of the curator: sparse vectors,
// streams, holdouts and trainings. They see no engine and no ledger of their own. An [Access] lets
// them charge, run, note and tell of a failure by way of the curator, which keeps the order of
// these and can lock out; a [Host] runs a session of package session on it, for one [Payer].
package sessionhost
