package outer

import (
	"strconv"
	"unicode/utf8"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// DuckDB makes texts for 2048 rows at a time, outside of its memory limit. Each text here is at
// most a small multiple of MaxText before it is cut to MaxText, and there are at most maxGrowing of
// them in a statement.

// grow prints something that makes a text longer, and cuts it.
func (p *printer) grow(pos int32, print func()) {
	if p.growing++; p.growing > maxGrowing {
		p.refuse(pos, "make fewer texts in one statement", "more than %d expressions make texts longer", maxGrowing)
		return
	}
	p.say(`"left"(`)
	print()
	p.say(", ", strconv.Itoa(MaxText), ")")
}

func (p *printer) grown(f *pg.FuncCall) {
	if f.Over != nil { // a text of all rows, for each row
		p.refuse(f.Location, "use it with GROUP BY", "%s cannot be a window function", p.called(f))
		return
	}
	p.grow(f.Location, func() { p.plainCall(p.called(f), f) })
}

// short refuses an argument that is not a short text constant.
func (p *printer) short(f *pg.FuncCall, n *pg.Node, most int) {
	c := n.GetAConst()
	if c.GetSval() == nil || utf8.RuneCountInString(c.GetSval().Sval) > most {
		p.refuse(f.Location, "write it as a constant in single quotes",
			"%s takes here a constant text with a length of at most %d", p.called(f), most)
		return
	}
}

func (p *printer) replaced(f *pg.FuncCall) {
	p.short(f, f.Args[2], maxPadding)
	if len(f.Args) == 4 {
		p.short(f, f.Args[3], 2)
	}
	p.grown(f)
}

// repeat takes one character, so that what it makes is as long as its count.
func (p *printer) repeat(f *pg.FuncCall) {
	p.short(f, f.Args[0], 1)
	p.grow(f.Location, func() {
		p.say("repeat(")
		p.expr(f.Args[0])
		p.say(", ")
		p.count(f.Args[1])
		p.say(")")
	})
}

// pad is lpad and rpad. PostgreSQL fills with spaces.
func (p *printer) pad(f *pg.FuncCall) {
	p.grow(f.Location, func() {
		p.say(p.called(f), "(")
		p.expr(f.Args[0])
		p.say(", ")
		p.count(f.Args[1])
		p.say(", ")
		if len(f.Args) == 3 {
			p.expr(f.Args[2])
		} else {
			p.say("' '")
		}
		p.say(")")
	})
}

// count prints a length that is not above MaxText.
func (p *printer) count(n *pg.Node) {
	p.say("CAST(least(")
	p.expr(n)
	p.say(", ", strconv.Itoa(MaxText), ") AS INTEGER)")
}

// splitPart is a macro in DuckDB, which writes its arguments several times.
func (p *printer) splitPart(f *pg.FuncCall) {
	p.copied(4, func() { p.plainCall("split_part", f) })
}
