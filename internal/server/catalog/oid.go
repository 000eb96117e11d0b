package catalog

import "strconv"

// oidOf is a value as an OID, and 0 where it is NULL.
func oidOf(v any) uint32 {
	n, _ := v.(int64)
	return uint32(n)
}

func atoid(s string) uint32 {
	n, _ := strconv.ParseUint(s, 10, 32)
	return uint32(n)
}

func itoa(n uint32) string { return strconv.FormatUint(uint64(n), 10) }
