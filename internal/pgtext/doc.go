// Package pgtext writes values as PostgreSQL does: json and jsonb, arrays, and floating-point
// numbers, byte by byte. It knows texts and neither a database nor a protocol.
package pgtext
