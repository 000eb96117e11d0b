package dialect

import (
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// cut prints at most so many rows of each person, those with the smallest salted hash of what is in
// them, and no rows of nobody. Rows that are equal are as good as each other, so the choice is one
// of the person's rows and of nothing else.
//
// To put all rows of all people into an order takes thirty times as long as to count them. So only
// people who have more are looked at again, and of somebody who has very many only rows with a
// small hash are sorted: a share that follows from how many this person has. Where many of those
// are equal, fewer may be kept than could be.
func (p *Printer) cut(c *tree.Cut, f *frame) string {
	in := p.frame(c.From)
	var what, hashed []string
	for i, field := range c.Fields() {
		name := strings.TrimPrefix(in.field(i), in.alias+".")
		if i == c.Unit() {
			continue
		}
		what, hashed = append(what, name), append(hashed, name)
		if field.Type.Kind == tree.Real {
			// 0 and -0 are equal, so which of them a minimum is, or the first of two rows, is left
			// to a database. They are spelled in two ways.
			hashed[len(hashed)-1] = fmt.Sprintf("CASE WHEN %[1]s = 0 THEN %[2]s ELSE %[1]s END", name, p.Double("0"))
		}
	}
	unit, all, many := fmt.Sprintf("f%d", c.Unit()), "r"+f.alias, "m"+f.alias
	hash := p.Hash(append([]string{p.arg(c.Salt(), p.Text)}, hashed...)...)
	order := strings.Join(append([]string{"h"}, what...), ", ")
	list := f.fields(func(i int) string { return fmt.Sprintf("f%d", i) })
	once := p.Once
	if s, ok := c.From.(*tree.Scan); ok && len(s.Table.Path) <= 1 {
		once = p.Again // to read it again is faster than to keep it
	}
	on := fmt.Sprintf("%s.%s = %s.u", all, unit, many)
	text := fmt.Sprintf("WITH %[1]s AS %[2]s(SELECT * FROM %[3]s), "+
		"%[4]s AS %[11]s(SELECT %[5]s AS u, count(*) AS n FROM %[1]s GROUP BY %[5]s HAVING count(*) > %[6]d) "+
		"SELECT %[7]s FROM %[12]s "+
		"UNION ALL SELECT %[7]s FROM (SELECT *, row_number() OVER (PARTITION BY %[5]s ORDER BY %[8]s) AS i FROM "+
		"(SELECT %[1]s.*, %[9]s AS h, n FROM %[1]s JOIN %[4]s ON %[13]s) WHERE %[10]s) WHERE i <= %[6]d",
		all, once, p.source(in), many, unit, c.Rows, list, order, hash, p.Smallest("h", "n", 2*c.Rows+sorted),
		p.Once, p.AntiJoin(all, many, on, unit+" IS NOT NULL"), on)
	// Nothing that stands above is computed below, for rows that are left out: a database would
	// move a condition there.
	return "WITH c" + f.alias + " AS " + p.Once + "(" + text + ") SELECT " + list + " FROM c" + f.alias
}

// sorted is how many rows of one person are put into an order in no time worth speaking of.
const sorted = 16_000
