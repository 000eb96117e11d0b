package sqlgen

import (
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/policy"
)

// Unclamped prints a number as it is before the clamp to its bounds, where it is a column of a
// table that is read as it is and has some. Whoever adds it up has to clamp it to them.
func (p *ExprPrinter) Unclamped(e tree.Expr) (string, *policy.Bounds) {
	if c, ok := e.(*tree.Column); ok && p.isBoundedScan(c) {
		return p.row[0].unclamped(c.Index), c.Field.Source.Bounds
	}
	return "", nil
}

// isBoundedScan reports whether a column is a number of a table that is read as it is, with bounds.
func (p *ExprPrinter) isBoundedScan(c *tree.Column) bool {
	f, _ := p.row.frame(c.Index)
	scan, ok := f.relation.(*tree.Scan)
	return ok && len(scan.Table.Path) <= 1 && c.Field.Source != nil && c.Field.Source.Bounds != nil && c.Field.Type.Kind == tree.Number
}

// Coded says of which column of which table an expression is, where it is one that was stored with
// codes.
func (p *ExprPrinter) Coded(e tree.Expr) (table, column string) {
	c, ok := e.(*tree.Column)
	if !ok || c.Type().Kind != tree.Text {
		return "", ""
	}
	f, at := p.row.frame(c.Index)
	scan, ok := f.relation.(*tree.Scan)
	if !ok || p.Tables[scan.Table.Name].Codes[scan.Fields()[at].Name] == "" {
		return "", ""
	}
	return scan.Table.Name, scan.Fields()[at].Name
}

// Code prints the code of such an expression.
func (p *ExprPrinter) Code(e tree.Expr) string {
	f, at := p.row.frame(e.(*tree.Column).Index)
	f.coded[at] = true
	return fmt.Sprintf("%s.c%d", f.alias, at)
}

// Number prints the number of the person whose a row is, where the rows are those of a table that
// has it. It is another for another person of that table, and says nothing else: who comes before
// decides it, so nothing but who is who may follow from it.
func (p *Printer) Number() (number, table string) {
	scan, ok := p.relation.relation.(*tree.Scan)
	if !ok || p.Tables[scan.Table.Name].Number == "" {
		return "", ""
	}
	p.relation.number = true
	return p.relation.alias + ".n", scan.Table.Name
}

// TableRows prints the rows of a table to train on, of which each column was printed before, as
// what follows FROM. The columns are called c0, c1 and so on.
//
// Of people of whom not all rows count there are MaxRows, those with the smallest salted hash of
// what is in them. Rows that are equal in all columns are as good as each other, so the choice is
// one of the person's rows and of nothing else. The salt is the table's own hash: public, and
// another for every training. Where every row is a person its number is not in it, as elsewhere.
func (p *Printer) TableRows(t *tree.Table, columns []string) (names []string, from string) {
	var list, where []string
	for i, c := range columns {
		names = append(names, fmt.Sprintf("c%d", i))
		list = append(list, c+" AS "+names[i])
	}
	if t.Where != nil {
		where = append(where, p.Row.Expr(t.Where))
	}
	if t.Bounded() {
		// Rows of nobody are left out, as everywhere.
		unit := p.Unit()
		list, where = append(list, unit+" AS u"), append(where, unit+" IS NOT NULL")
	}
	rows := "(SELECT " + strings.Join(list, ", ") + " FROM " + p.FromClause(where...) + ")"
	if !t.Bounded() {
		return names, rows
	}
	codes := strings.Join(names, ", ")
	order := p.Hash(append([]string{p.typedParameter(t.Hash(), p.Text), p.person()}, names...)...) + ", " + codes
	return names, fmt.Sprintf("(SELECT %s FROM (SELECT *, row_number() OVER (PARTITION BY u ORDER BY %s) AS i FROM %s) WHERE i <= %d)",
		codes, order, rows, t.MaxRows())
}
