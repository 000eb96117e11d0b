package interpret

import (
	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/server/catalog/datum"
	"github.com/discreet-dp/discreet/internal/server/catalog/oid"
)

// resolve finds a column by its name, or by the name of its relation and its own.
func (s *scope) resolve(parts []string, position int32) (*expr, error) {
	hidden := false
	for f := s; f != nil; f = f.outer {
		if !hidden {
			x, err := f.local(parts)
			if err != nil {
				return nil, locate(err, position)
			}
			if x != nil {
				return x.raise(f.depth(s)), nil
			}
		}
		hidden = f.hidden
	}
	if len(parts) > 1 {
		table := parts[len(parts)-2]
		for f := s; f != nil; f = f.outer {
			for _, sp := range f.spaces {
				if sp.alias == table {
					for _, fd := range sp.fields {
						if fd.name == parts[len(parts)-1] {
							return nil, locate(hint(Fail("42P01", "invalid reference to FROM-clause entry for table %q", clip(table)),
								"There is an entry for it, but it cannot be referenced from this part of the query."), position)
						}
					}
					return nil, locate(Fail("42703", "column %s.%s does not exist", clip(table), clip(parts[len(parts)-1])), position)
				}
			}
		}
		return nil, locate(Fail("42P01", "missing FROM-clause entry for table %q", clip(table)), position)
	}
	return nil, locate(Fail("42703", "column %q does not exist", clip(parts[0])), position)
}

// local is resolve in one scope. It returns nil where there is no such column.
func (f *scope) local(parts []string) (*expr, error) {
	name := parts[len(parts)-1]
	ambiguous := func() error { return Fail("42702", "column reference %q is ambiguous", clip(name)) }
	if len(parts) == 1 {
		found, several := named(f.stars, name)
		if several {
			return nil, ambiguous()
		}
		if found != nil {
			return found.expr(), nil
		}
		// System columns, then whole rows.
		var system *expr
		for _, sp := range f.spaces {
			if x := f.systemColumn(sp, name); x != nil {
				if system != nil {
					return nil, ambiguous()
				}
				system = x
			}
		}
		if system != nil {
			return system, nil
		}
		for _, sp := range f.spaces {
			if sp.alias == name && sp.whole != nil {
				return sp.whole(), nil
			}
		}
		return nil, nil
	}
	sp := f.space(parts[:len(parts)-1])
	if sp == nil {
		return nil, nil
	}
	found, several := named(sp.fields, name)
	if several {
		return nil, ambiguous()
	}
	if found != nil {
		return found.expr(), nil
	}
	return f.systemColumn(sp, name), nil
}

// systemColumns are the types of the columns that every relation has.
var systemColumns = map[string]uint32{"tableoid": oid.Oid, "xmin": oid.Xid}

// systemColumn is such a column of a relation in FROM, or nil.
func (f *scope) systemColumn(sp *space, name string) *expr {
	t := systemColumns[name]
	if sp.heading == nil || t == 0 {
		return nil
	}
	f.refs |= 1 << sp.rte
	value := datum.Int(1)
	if name == "tableoid" {
		value = datum.Int(sp.heading.OID)
	}
	return &expr{typ: t, eval: func(e *env) (datum.Value, error) {
		if e.row[sp.rte] == nil {
			return nil, nil
		}
		return value, nil
	}}
}

// columnRef binds the name of a column.
func (s *scope) columnRef(c *pg.ColumnRef) (*expr, error) {
	for _, f := range c.Fields {
		if f.GetString_() == nil {
			return nil, locate(Fail("42601", "* is not allowed here"), c.Location)
		}
	}
	parts := nameParts(c.Fields)
	if len(parts) == 4 || len(parts) == 3 && parts[0] == s.b.r.db.Name() && oid.Schema(parts[1]) != 0 {
		parts = parts[1:]
	}
	if len(parts) > 3 {
		return nil, locate(Fail("42601", "improper qualified name"), c.Location)
	}
	return s.resolve(parts, c.Location)
}
