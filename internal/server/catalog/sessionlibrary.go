package catalog

import (
	"errors"
	"strings"

	"github.com/discreet-dp/discreet/internal/server/catalog/datum"
	"github.com/discreet-dp/discreet/internal/server/catalog/ident"
	"github.com/discreet-dp/discreet/internal/server/catalog/interpret"
)

// sessionFunctions are the functions about the session and its settings.
var sessionFunctions = []function{
	{"version() text", (*Catalog).version},
	{"pg_backend_pid() int4", func(c *Catalog, _ *interpret.Call) (datum.Value, error) { return datum.Int(c.session.PID), nil }},
	{"current_user() name", func(c *Catalog, _ *interpret.Call) (datum.Value, error) { return datum.Text(c.session.User), nil }},
	{"current_database() name", func(c *Catalog, _ *interpret.Call) (datum.Value, error) { return datum.Text(c.session.Database), nil }},
	{"current_schema() name", (*Catalog).currentSchema},
	{"current_schemas(bool) name[]", func(c *Catalog, call *interpret.Call) (datum.Value, error) {
		return datum.Texts(c.searchPath(call.Args[0] == datum.True)...), nil
	}},
	{"pg_postmaster_start_time|pg_conf_load_time() timestamptz", func(c *Catalog, _ *interpret.Call) (datum.Value, error) {
		return datum.Time{Time: c.start}, nil
	}},
	{"current_setting(text,bool=) text", func(c *Catalog, call *interpret.Call) (datum.Value, error) {
		return c.showSetting(call, len(call.Args) > 1 && call.Args[1] == datum.True)
	}},
	{"lax set_config(text,text,bool) text", (*Catalog).setConfig},
	{"pg_encoding_to_char(int4) name", func(_ *Catalog, call *interpret.Call) (datum.Value, error) {
		return datum.Text(map[int64]string{0: "SQL_ASCII", 6: "UTF8"}[call.Int(0)]), nil
	}},
	{"pg_char_to_encoding(name) int4", func(_ *Catalog, call *interpret.Call) (datum.Value, error) {
		if s := strings.ToLower(call.Text(0)); s == "utf8" || s == "utf-8" || s == "unicode" {
			return datum.Int(6), nil
		}
		return datum.Int(-1), nil
	}},
	{"pg_show_all_settings() (name text, setting text, unit text, category text, short_desc text, extra_desc text, context text, " +
		"vartype text, source text, min_val text, max_val text, enumvals text[], boot_val text, reset_val text, sourcefile text, " +
		"sourceline int4, pending_restart bool)", (*Catalog).showAllSettings},
	{"pg_get_keywords() (word text, catcode char, barelabel bool, catdesc text, baredesc text)", listKeywords},
}

func (c *Catalog) version(*interpret.Call) (datum.Value, error) {
	v := "PostgreSQL " + c.setting("server_version")
	if !strings.Contains(v, "discreet") {
		v += " (discreet)"
	}
	return datum.Text(v + ", a synthesised catalogue"), nil
}

// currentSchema is the first schema of the search path, or NULL.
func (c *Catalog) currentSchema(*interpret.Call) (datum.Value, error) {
	if p := c.searchPath(false); len(p) > 0 {
		return datum.Text(p[0]), nil
	}
	return nil, nil
}

// showSetting is the setting that the first argument names. One that does not exist is NULL where
// it may be missing.
func (c *Catalog) showSetting(call *interpret.Call, missing bool) (datum.Value, error) {
	if v, ok := c.findSetting(call.Text(0)); ok {
		return call.NewText(v)
	}
	if missing {
		return nil, nil
	}
	return nil, interpret.Fail("42704", "unrecognized configuration parameter %q", clip(call.Text(0)))
}

func (c *Catalog) setConfig(call *interpret.Call) (datum.Value, error) {
	name, value := call.Text(0), call.Text(1)
	switch {
	case call.Args[0] == nil:
		return nil, interpret.Fail("22004", "SET requires parameter name")
	case len(name) > 200 || len(value) > 4096:
		return nil, interpret.Fail("54000", "a setting is too long")
	case c.session.Set == nil:
		return nil, interpret.Fail("0A000", "settings cannot be set here")
	}
	if err := c.session.Set(name, value); err != nil {
		var e *interpret.Error
		if errors.As(err, &e) {
			return nil, e
		}
		return nil, interpret.Fail("22023", "%s", err.Error())
	}
	// What depends on a setting is made anew.
	c.forget("pg_settings", "pg_stat_activity")
	return c.showSetting(call, true)
}

func listKeywords(*Catalog, *interpret.Call) (datum.Value, error) {
	var out datum.List
	for _, w := range ident.Words() {
		out = append(out, datum.List{datum.Text(w), datum.Text("R"), datum.False, datum.Text("reserved"), datum.Text("requires AS")})
	}
	return out, nil
}

// showAllSettings are the rows of pg_settings.
func (c *Catalog) showAllSettings(*interpret.Call) (datum.Value, error) {
	var out datum.List
	for _, t := range c.byName["pg_catalog.pg_settings"].Rows() {
		out = append(out, datum.List(t))
	}
	return out, nil
}
