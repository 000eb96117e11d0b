package outer

import (
	"strconv"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// gather prints an aggregate that keeps all values, or how often each is there, which DuckDB does
// outside of its limit of memory. Beside it a list is made of the same values, with as many bytes
// as these take at most, and that is counted: where it has no room, both end. In a window DuckDB
// keeps all rows itself first, and counts them.
func (p *printer) gather(how form, name string, f *pg.FuncCall) {
	if f.Over != nil {
		if how == tallying {
			p.refuse(f.Location, "use it with GROUP BY", "%s cannot be a window function", p.called(f))
			return
		}
		p.plainCall(name, f)
		return
	}
	p.gathered++ // no two lists are the same, of which DuckDB would make one
	p.say("CASE WHEN coalesce(len(list({'a': ")
	p.copied(2, func() {
		if f.AggWithinGroup {
			p.expr(f.AggOrder[0].GetSortBy().GetNode())
		} else {
			p.expr(f.Args[0])
		}
		if how == tallying {
			p.say(", 'c': 0::HUGEINT, 'd': 0::HUGEINT, 'e': 0::HUGEINT")
		}
		p.say(", 'b': ", strconv.Itoa(p.gathered), "::BIGINT})), 0) >= 0 THEN ")
		p.plainCall(name, f)
	})
	p.say(" END")
}
