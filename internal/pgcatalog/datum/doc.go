// Package datum has the values of the catalogue: what a column of a row can be, how two of them
// compare, and what tells one from another; and it reads and writes names as PostgreSQL does.
package datum
