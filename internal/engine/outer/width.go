package outer

import pg "github.com/pganalyze/pg_query_go/v6"

// A * is as many columns as there are in FROM, and WITH queries of many * over each other would
// multiply: DuckDB makes all of these columns when it plans, outside of its limits of memory and of
// time. So they are counted first.

// source is an element of FROM.
type source struct {
	name  string // as DuckDB compares it
	width int    // columns, at most
}

// see notes an element of FROM.
func (p *printer) see(name string, width int) { p.sight = append(p.sight, source{fold(name), width}) }

// total is how many columns elements of FROM have together.
func total(all []source) (n int) {
	for _, s := range all {
		n += s.width
	}
	return n
}

// countMatched counts the columns that NATURAL and USING compare, as often as there are tables on
// the left in which DuckDB looks for each; the two sides are in sight. It cannot be stopped there.
func (p *printer) countMatched(j *pg.JoinExpr, left, right int) {
	n := len(j.UsingClause)
	if j.IsNatural {
		n = min(total(p.sight[left:right]), total(p.sight[right:]))
	}
	if p.matched += n * (right - left); p.matched > maxMatched {
		p.refuse(-1, "join with ON, or fewer tables", "NATURAL JOIN and USING compare too many columns of too many tables")
	}
	p.countEqual(n)
}

// countEqual counts conditions that two things are equal. From each two of them DuckDB makes a
// third one, and cannot be stopped there either.
func (p *printer) countEqual(n int) {
	if p.equal += n * p.weight; p.equal > maxEqual {
		p.refuse(-1, "join fewer tables, or on fewer columns", "more than %d conditions of the statement compare two columns", maxEqual)
	}
}

// equalities is how many conditions in ON, WHERE or HAVING hold two things together of which
// neither is a constant. What is no equality may be made one, by NOT or by a list of one.
func equalities(n *pg.Node) (sum int) {
	if b := n.GetBoolExpr(); b != nil {
		for _, arg := range b.Args {
			sum += equalities(arg)
		}
		return sum
	}
	x := n.GetAExpr()
	if x == nil || isConstant(x.Lexpr) || isConstant(x.Rexpr) {
		return 0
	}
	return 1
}

func isConstant(n *pg.Node) bool {
	for n.GetTypeCast() != nil {
		n = n.GetTypeCast().Arg
	}
	return n.GetAConst() != nil
}

// width is how many columns a SELECT has at most, whose FROM is what is in sight from somewhere on.
// JOIN USING shows columns once that are counted twice.
func (p *printer) width(targets []*pg.Node, from int) int {
	n, all := 0, total(p.sight[from:])
	for _, t := range targets {
		switch c := t.GetResTarget().GetVal().GetColumnRef(); {
		case !isStar(c):
			n++
		case len(c.Fields) == 1:
			n += all
		default:
			n += p.named(text(c.Fields[0]))
		}
	}
	return n
}

// named is how many columns what has a name in FROM has, here or around.
func (p *printer) named(name string) int {
	n, found := 0, false
	for _, s := range p.sight {
		if s.name == fold(name) {
			n, found = max(n, s.width), true
		}
	}
	if !found {
		p.refuse(-1, "write a name that is in FROM", "there is no %q of which all columns could be selected", name)
	}
	return n
}
