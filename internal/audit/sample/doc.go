// Package sample draws, for tests, rows of every type of column and expressions over them, often at
// the edges where databases disagree, and says what each stored value is read as. Every engine is
// held against the same ones.
package sample
