package catalog

import (
	"errors"
	"strings"
	"time"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// now is the time of the query: the same wherever it stands in it.
func (r *run) now() time.Time {
	if r.time.IsZero() {
		r.time = time.Now().UTC().Truncate(time.Microsecond)
	}
	return r.time
}

// sqlValue binds what is called without parentheses, such as CURRENT_USER.
func (s *scope) sqlValue(f *pg.SQLValueFunction) (*expr, error) {
	switch f.Op {
	case pg.SQLValueFunctionOp_SVFOP_CURRENT_ROLE, pg.SQLValueFunctionOp_SVFOP_CURRENT_USER, pg.SQLValueFunctionOp_SVFOP_USER, pg.SQLValueFunctionOp_SVFOP_SESSION_USER:
		return constant(tName, s.b.c.session.User), nil
	case pg.SQLValueFunctionOp_SVFOP_CURRENT_CATALOG:
		return constant(tName, s.b.c.session.Database), nil
	case pg.SQLValueFunctionOp_SVFOP_CURRENT_SCHEMA:
		return &expr{typ: tName, eval: func(e *env) (any, error) { return e.run.c.currentSchema(), nil }}, nil
	}
	t := uint32(tTimestamptz)
	switch f.Op {
	case pg.SQLValueFunctionOp_SVFOP_CURRENT_DATE:
		t = tDate
	case pg.SQLValueFunctionOp_SVFOP_LOCALTIMESTAMP, pg.SQLValueFunctionOp_SVFOP_LOCALTIMESTAMP_N:
		t = tTimestamp
	case pg.SQLValueFunctionOp_SVFOP_CURRENT_TIMESTAMP, pg.SQLValueFunctionOp_SVFOP_CURRENT_TIMESTAMP_N:
	default:
		return nil, unsupported("the time of day")
	}
	return &expr{typ: t, eval: func(e *env) (any, error) { return e.run.cast(e.run.now(), tTimestamptz, t) }}, nil
}

// currentSchema is the first schema of the search path, or nil.
func (c *Catalog) currentSchema() any {
	if p := c.searchPath(false); len(p) > 0 {
		return p[0]
	}
	return nil
}

func init() {
	define("version() text", func(r *run, _ []any, _ []uint32) (any, error) {
		v := "PostgreSQL " + r.c.setting("server_version")
		if !strings.Contains(v, "discreet") {
			v += " (discreet)"
		}
		return v + ", a synthesised catalogue", nil
	})
	define("pg_backend_pid() int4", func(r *run, _ []any, _ []uint32) (any, error) { return int64(r.c.session.PID), nil })
	define("current_database() name", func(r *run, _ []any, _ []uint32) (any, error) { return r.c.session.Database, nil })
	define("current_schema() name", func(r *run, _ []any, _ []uint32) (any, error) { return r.c.currentSchema(), nil })
	define("current_schemas(bool) name[]", func(r *run, a []any, _ []uint32) (any, error) { return r.c.searchPath(a[0] == true), nil })
	define("pg_client_encoding() name", fixed("UTF8"))
	define("pg_is_in_recovery() bool", fixed(false))
	define("pg_is_wal_replay_paused() bool", fixed(false))
	define("pg_is_in_backup() bool", fixed(false))
	define("pg_current_logfile() text", fixed(nil))
	define("inet_server_addr() inet", fixed(nil))
	define("inet_client_addr() inet", fixed(nil))
	define("inet_server_port() int4", fixed(nil))
	define("inet_client_port() int4", fixed(nil))
	define("pg_my_temp_schema() oid", fixed(int64(0)))
	define("pg_is_other_temp_schema(oid) bool", fixed(false))
	define("pg_trigger_depth() int4", fixed(int64(0)))
	define("pg_jit_available() bool", fixed(false))
	define("txid_current() int8", fixed(int64(1)))
	define("txid_current_if_assigned() int8", fixed(nil))
	define("txid_current_snapshot() text", fixed("1:1:"))
	define("pg_current_xact_id() xid8", fixed(int64(1)))
	define("pg_current_xact_id_if_assigned() xid8", fixed(nil))
	define("pg_export_snapshot() text", fixed("00000001-00000001-1"))
	define("age(xid) int4", fixed(int64(0)))
	define("pg_last_wal_receive_lsn() pg_lsn", fixed(nil))
	define("pg_last_wal_replay_lsn() pg_lsn", fixed(nil))
	for _, name := range []string{"now", "transaction_timestamp", "statement_timestamp", "clock_timestamp"} {
		define(name+"() timestamptz", func(r *run, _ []any, _ []uint32) (any, error) { return r.now(), nil })
	}
	define("pg_postmaster_start_time() timestamptz", func(r *run, _ []any, _ []uint32) (any, error) { return r.c.start, nil })
	define("pg_conf_load_time() timestamptz", func(r *run, _ []any, _ []uint32) (any, error) { return r.c.start, nil })
	setting := func(r *run, name string, missing bool) (any, error) {
		if v, ok := r.c.settingOf(name); ok {
			return r.text(v)
		}
		if missing {
			return nil, nil
		}
		return nil, fail("42704", "unrecognized configuration parameter %q", clip(name))
	}
	define("current_setting(text) text", func(r *run, a []any, _ []uint32) (any, error) { return setting(r, a[0].(string), false) })
	define("current_setting(text,bool) text", func(r *run, a []any, _ []uint32) (any, error) { return setting(r, a[0].(string), a[1] == true) })
	define("set_config(text,text,bool) text", func(r *run, a []any, _ []uint32) (any, error) {
		name, ok := a[0].(string)
		if !ok {
			return nil, fail("22004", "SET requires parameter name")
		}
		value, _ := a[1].(string)
		if len(name) > 200 || len(value) > 4096 {
			return nil, fail("54000", "a setting is too long")
		}
		if r.c.session.Set == nil {
			return nil, fail("0A000", "settings cannot be set here")
		}
		if err := r.c.session.Set(name, value); err != nil {
			var e *Error
			if errors.As(err, &e) {
				return nil, e
			}
			return nil, fail("22023", "%s", err.Error())
		}
		// What depends on a setting is made anew.
		r.c.forget()
		return setting(r, name, true)
	}).lax = true
	// Nobody else's sessions can be reached from here; cancelling is for the protocol.
	define("pg_cancel_backend(int4) bool", fixed(false))
	define("pg_terminate_backend(int4) bool", fixed(false))
	define("pg_advisory_unlock_all() void", fixed(""))
	define("pg_blocking_pids(int4) int4[]", fixed([]any{}))
	define("pg_safe_snapshot_blocking_pids(int4) int4[]", fixed([]any{}))
	define("pg_encoding_to_char(int4) name", func(r *run, a []any, _ []uint32) (any, error) {
		switch a[0] {
		case int64(6):
			return "UTF8", nil
		case int64(0):
			return "SQL_ASCII", nil
		}
		return "", nil
	})
	define("pg_char_to_encoding(name) int4", func(r *run, a []any, _ []uint32) (any, error) {
		if s := lower(a[0]); s == "utf8" || s == "utf-8" || s == "unicode" {
			return int64(6), nil
		}
		return int64(-1), nil
	})
	define("getdatabaseencoding() name", fixed("UTF8"))
	define("pg_encoding_max_length(int4) int4", fixed(int64(4)))
	defineSet("pg_get_keywords() text", []Column{{"word", tText}, {"catcode", tChar}, {"barelabel", tBool}, {"catdesc", tText}, {"baredesc", tText}}, func(r *run, _ []any, _ []uint32) ([]any, error) {
		var out []any
		for _, w := range words() {
			out = append(out, tuple{w, "R", false, "reserved", "requires AS"})
		}
		return out, nil
	})
	defineSet("pg_show_all_settings() text", []Column{{"name", tText}, {"setting", tText}}, func(r *run, _ []any, _ []uint32) ([]any, error) {
		var out []any
		for _, t := range r.c.data(r.c.byName["pg_catalog.pg_settings"]) {
			out = append(out, tuple{t[0], t[1]})
		}
		return out, nil
	})
	defineSet("pg_timezone_names() text", []Column{{"name", tText}, {"abbrev", tText}, {"utc_offset", tInterval}, {"is_dst", tBool}}, func(r *run, _ []any, _ []uint32) ([]any, error) {
		return []any{tuple{"UTC", "UTC", "00:00:00", false}}, nil
	})
	defineSet("pg_timezone_abbrevs() text", []Column{{"abbrev", tText}, {"utc_offset", tInterval}, {"is_dst", tBool}}, func(r *run, _ []any, _ []uint32) ([]any, error) {
		return []any{tuple{"UTC", "00:00:00", false}}, nil
	})
}
