package catalog

import (
	"time"

	"github.com/discreet-dp/discreet/internal/server/catalog/oid"
)

// Cursor is a cursor of the session, or a portal of the protocol.
type Cursor struct {
	Name, Statement      string
	Hold, Binary, Scroll bool
	Created              time.Time
}

// Prepared is a prepared statement of the session.
type Prepared struct {
	Name, Statement string
	Parameters      []uint32 // their types
	SQL             bool     // of PREPARE, and not of the protocol
	Created         time.Time
}

func pgCursors(c *Catalog, add func(row)) {
	if c.session.Kept == nil {
		return
	}
	cursors, _ := c.session.Kept()
	for _, k := range cursors {
		add(row{"name": k.Name, "statement": k.Statement, "is_holdable": truth(k.Hold), "is_binary": truth(k.Binary),
			"is_scrollable": truth(k.Scroll), "creation_time": moment(k.Created)})
	}
}

func pgPreparedStatements(c *Catalog, add func(row)) {
	if c.session.Kept == nil {
		return
	}
	_, prepared := c.session.Kept()
	for _, p := range prepared {
		types := make([]string, len(p.Parameters))
		for i, t := range p.Parameters {
			types[i] = oid.Types(nil).Format(t, -1)
		}
		add(row{"name": p.Name, "statement": p.Statement, "prepare_time": moment(p.Created), "parameter_types": array(types...),
			"from_sql": truth(p.SQL), "generic_plans": "0", "custom_plans": "0"})
	}
}

func moment(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05.999999+00") }
