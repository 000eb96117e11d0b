package curator

import (
	"strconv"
)

func quoted(s string) string { return strconv.Quote(s) }
