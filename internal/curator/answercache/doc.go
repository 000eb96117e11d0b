// Package answercache keeps what was released, in the ledger, and finds it again: by the name of
// the purchase, and for questions that can be made of an earlier answer at least as exact as theirs
// ([Cache.Recall]). What was released is public, so to give it again, or sums of it, costs nothing.
// It never sees an exact value.
//
// What is written follows from the question and from what was released, and has a version: an
// answer that was kept by an earlier version of the program is found and read by this one.
package answercache
