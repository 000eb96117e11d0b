// Package groupcommit decides what a ledger writes, and writes it in groups: calls that come at the
// same time wait in a queue, are decided one after the other by the rules of package chain, are
// written together by a [Store], and are answered together when that is on stable storage. Where
// the records go is the store's business: package sqlite puts them into a file, package postgres
// into a database that several servers share.
package groupcommit
