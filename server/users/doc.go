// Package users knows who may come in: names, roles, passwords, tokens, and the trail of who tried. It is one SQLite file, which the
// command line can change while a server runs, and what it changes counts at once.
//
// # What is stored
//
// Of a password, two things: an argon2id hash, and what SCRAM-SHA-256 needs (a salt, a number of rounds, and two keys), because the wire
// protocol never shows the server a password that argon2id could hash. Whoever steals the file can guess against the weaker of the two, so
// passwords are drawn by us, with 160 bits, unless the owner insists. Of a token, a SHA-256 hash: it is drawn by us too.
//
// # Who is told what
//
// Every failed attempt gets the same words, [ErrDenied], takes the same steps, and a SCRAM exchange for a name that does not exist goes on with a
// salt of its own that stays the same: nobody learns who has an account.
package users
