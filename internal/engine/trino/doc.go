// Package trino runs questions on a Trino cluster: the dialect of its SQL, and the engine over its
// handle. What is the same for every database is in packages dialect and sqlengine.
package trino
