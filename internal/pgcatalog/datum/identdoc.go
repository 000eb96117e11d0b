// Package ident reads and writes names as PostgreSQL does.
package datum
