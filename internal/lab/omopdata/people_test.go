package omopdata

import (
	"slices"
	"testing"
)

// TestSQL: the same people for the same seed, and others for another.
func TestSQL(t *testing.T) {
	one := SQL(30, 1)
	if !slices.Equal(one, SQL(30, 1)) || slices.Equal(one, SQL(30, 2)) {
		t.Error("the seed does not decide who there is")
	}
	if more := SQL(31, 1); len(more) < len(one) || !slices.Equal(more[:len(ddl)], one[:len(ddl)]) {
		t.Error("one more person changes the tables")
	}
}
