package bytelimit

import "encoding/json"

// Rows is about how many bytes rows take, all of them and the largest.
func Rows(rows [][]any) (all, largest int) {
	for _, row := range rows {
		n := list(row)
		all, largest = all+n, max(largest, n)
	}
	return all, largest
}

// list is what a row or an array takes: interfaces, and what they point to.
func list(values []any) int {
	n := 24
	for _, v := range values {
		n += 24
		switch v := v.(type) {
		case string:
			n += 8 + len(v)
		case json.Number:
			n += 8 + len(v)
		case []any:
			n += list(v)
		}
	}
	return n
}
