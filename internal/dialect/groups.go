package dialect

import (
	"fmt"
	"math/big"
	"strings"
)

// Groups are partials, one for each person u and group, of which each person keeps at most Max:
// those that come first by their rank, and among equal ranks by their keys. A rank depends on the
// question and on the person's own group, so the same groups are kept wherever, whenever and how
// often it is computed.
type Groups struct {
	From   string // what follows FROM: the partials, and which of them are public
	Rank   string // a number of 64 bits
	Keys   []Kept // the group; no two partials of a person are equal in them
	Rest   []Kept // what else is kept of a partial
	Max    int64  // 0 where everything is kept
	Number bool   // whether a number for each person is needed
}

func (g Groups) order() string { return strings.Join(append([]string{g.Rank}, Names(g.Keys)...), ", ") }

// Kept is a column of a partial. Where Hi is not nil it is an integer that counts as the nearest
// from Lo to Hi, and as 0 where it is NULL, and Steps is how far that lies above Lo.
// Elsewhere Type is the type that it has in the database.
type Kept struct {
	Name   string
	Type   string
	Lo, Hi *big.Int
	Steps  string
}

// Names are the names of columns.
func Names(columns ...[]Kept) []string {
	var out []string
	for _, list := range columns {
		for _, c := range list {
			out = append(out, c.Name)
		}
	}
	return out
}

// GroupsByWindow is [Dialect.Groups] of a database that numbers rows of a partition fast.
func GroupsByWindow(g Groups) (b, keep, number string) {
	b = "SELECT *"
	if g.Max > 0 {
		b += ", row_number() OVER (PARTITION BY u ORDER BY " + g.order() + ") AS n"
		keep = fmt.Sprintf(" WHERE n <= %d", g.Max)
	}
	return b + " FROM " + g.From, keep, "dense_rank() OVER (ORDER BY u)"
}

// Values are rows (u, keys, v), of which each person keeps groups as in [Groups], and in each of
// them at most Rows values v that are not NULL: those that come first by Rank, and then by v.
type Values struct {
	Groups
	Rows int64
	Of   string // the rank of a value
}

// ValuesByWindow is [Dialect.Values] of a database that numbers rows of a partition fast. A rank
// among a person's groups keeps the same ones as a number among partials does, because the order is
// the same and no two groups are equal in it.
func ValuesByWindow(v Values) string {
	unit, ranks, keep := append([]string{"u"}, Names(v.Keys)...), "", ""
	if v.Max > 0 {
		ranks = ", dense_rank() OVER (PARTITION BY u ORDER BY " + v.order() + ") AS n"
		keep = fmt.Sprintf(" AND n <= %d", v.Max)
	}
	ranks += fmt.Sprintf(", row_number() OVER (PARTITION BY %s ORDER BY v IS NULL, %s, v) AS i", strings.Join(unit, ", "), v.Of)
	return fmt.Sprintf("b AS (SELECT *%s FROM %s), s AS (SELECT * FROM b WHERE v IS NOT NULL AND i <= %d%s)", ranks, v.From, v.Rows, keep)
}

// kept is a column that is an integer between two ends.
func (d *Dialect) kept(name string, lo, hi *big.Int) Kept {
	return Kept{name, d.Int64, lo, hi, "(" + d.clamp("coalesce("+name+", 0)", lo, hi) + " - (" + d.Whole(lo) + "))"}
}

// Ranked is a value that a rank depends on, and the type that it has in the database.
type Ranked struct{ Text, Type string }

// PlaceType is the type of a group's place among those of the public keys.
const PlaceType = "place"

// rank prints the rank of something of a person u. The salt is the question's own hash: public, and
// another for every question.
func (r *rows) rank(what ...Ranked) string {
	who := ""
	if unit := r.q.From.Fields()[r.q.From.Unit()]; !r.ByRow {
		who = r.Kinds[unit.Identity]
	}
	return r.Rank(r.salt(), append([]Ranked{{r.person(), who}}, what...)...)
}
