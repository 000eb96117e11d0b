package interpret

import (
	"time"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/server/catalog/datum"
	"github.com/discreet-dp/discreet/internal/server/catalog/oid"
)

// now is the time of the query: the same wherever it stands in it.
func (r *run) now() datum.Time {
	if r.time.IsZero() {
		r.time = time.Now().UTC().Truncate(time.Microsecond)
	}
	return datum.Time{Time: r.time}
}

// sessionFunctions are the functions that answer what is called without parentheses.
var sessionFunctions = map[pg.SQLValueFunctionOp]string{
	pg.SQLValueFunctionOp_SVFOP_CURRENT_ROLE: "current_user", pg.SQLValueFunctionOp_SVFOP_CURRENT_USER: "current_user",
	pg.SQLValueFunctionOp_SVFOP_USER: "current_user", pg.SQLValueFunctionOp_SVFOP_SESSION_USER: "current_user",
	pg.SQLValueFunctionOp_SVFOP_CURRENT_CATALOG: "current_database", pg.SQLValueFunctionOp_SVFOP_CURRENT_SCHEMA: "current_schema",
}

// sessionTimes are the types of the times that are called without parentheses.
var sessionTimes = map[pg.SQLValueFunctionOp]uint32{
	pg.SQLValueFunctionOp_SVFOP_CURRENT_DATE: oid.Date, pg.SQLValueFunctionOp_SVFOP_LOCALTIMESTAMP: oid.Timestamp,
	pg.SQLValueFunctionOp_SVFOP_LOCALTIMESTAMP_N: oid.Timestamp, pg.SQLValueFunctionOp_SVFOP_CURRENT_TIMESTAMP: oid.Timestamptz,
	pg.SQLValueFunctionOp_SVFOP_CURRENT_TIMESTAMP_N: oid.Timestamptz,
}

// sessionValue binds what is called without parentheses, such as CURRENT_USER.
func (s *scope) sessionValue(f *pg.SQLValueFunction) (*expr, error) {
	if name := sessionFunctions[f.Op]; name != "" {
		c, err := s.b.bindCall([]string{name}, nil)
		if err != nil {
			return nil, err
		}
		return &expr{typ: c.typ, eval: c.eval}, nil
	}
	t := sessionTimes[f.Op]
	if t == 0 {
		return nil, unsupported("the time of day")
	}
	return &expr{typ: t, eval: func(e *env) (datum.Value, error) { return e.run.cast(e.run.now(), oid.Timestamptz, t) }}, nil
}
