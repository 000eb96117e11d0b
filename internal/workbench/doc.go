// Package workbench is what a program gets of the library that brings its own numbers: exact noise,
// releases, accounting, and training on rows that it sends. It is an [http.Handler], with no user,
// no policy and no ledger behind it: whoever sends rows has them, and what their releases cost
// together is theirs to add up. Several servers are asked together here too, with the tokens that
// the program has: what each charges is in its own ledger.
//
// Bodies are a line of JSON, and for what takes or gives many numbers these behind it, eight bytes
// each with the lowest first: whole numbers for noise and releases, IEEE 754 for rows.
package workbench
