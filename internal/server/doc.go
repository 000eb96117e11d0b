// Package server is the process that `discreet serve` runs: one policy behind two listeners,
// PostgreSQL's wire protocol (package pgwire) and HTTP (package httpapi), for users (package users)
// whose questions are all taken by one dispatcher (package admission). It opens the listeners, and
// it ends in order.
//
// # Opening
//
// [Open] checks the configuration, reads the policy, takes the addresses, opens the ledger and the
// users, and answers nobody yet. What is wrong is said then, in words that say what to do, and
// nothing stays open. [Server.Serve] answers.
//
// # Encryption
//
// With a certificate and its key, both listeners speak TLS, 1.2 at least, and nothing else.
// Without, they are on loopback addresses only, unless [Config.Plaintext] says that something in
// front of them encrypts. What counts is the address that was taken, and not how it was written. A
// certificate that is renewed on disk is used from the next connection on, within seconds; one that
// cannot be read is reported in the log, and the last one that could is kept.
//
// # The end
//
// [Server.Shutdown] goes in this order: /readyz says no; the wire takes no more connections; the
// dispatcher takes no more questions and finishes those that are with the engine, because they are
// paid for; the listeners send what is left and close; users, data and ledger are closed. When the
// time for it is over, questions that still run are interrupted, and their charges stay; answers
// that wait for their tick are let go. The ledger is closed in any case, because one that is left
// open counts as a crash.
//
// # Limits
//
// Questions are limited by the dispatcher, connections by the listeners: [Config.Connections] for
// each of them, a fifth of these, and not less than four, for one address; package clientlimits
// says who makes room, and finds addresses behind the proxies that [Config.TrustProxy] names. A
// request has ten seconds for its head, of 8 KiB, and a minute for all of it.
package server
