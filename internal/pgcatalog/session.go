package pgcatalog

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/internal/pgcatalog/datum"
	"github.com/discreet-dp/discreet/internal/pgcatalog/interpret"
	"github.com/discreet-dp/discreet/internal/pgcatalog/inventory"
	"github.com/discreet-dp/discreet/internal/pgcatalog/oid"
)

// ServerVersion is the PostgreSQL whose catalogue this one looks like.
const (
	ServerVersion    = "15.0"
	ServerVersionNum = "150000"
)

// defaults are the settings that have another value here than PostgreSQL gives them. What the
// session says comes before them.
var defaults = map[string]string{
	"client_encoding": "UTF8", "default_transaction_read_only": "on", "in_hot_standby": "off", "jit": "off", "lc_collate": "C",
	"lc_ctype": "C", "lc_messages": "C", "log_timezone": "UTC", "server_encoding": "UTF8", "server_version": ServerVersion,
	"server_version_num": ServerVersionNum, "session_authorization": "", "is_superuser": "off", "role": "none", "TimeZone": "UTC",
	"track_activities": "off", "track_counts": "off", "transaction_read_only": "on", "default_with_oids": "off",
}

type settings struct {
	// own returns a setting that the session has; nil for none.
	own func(name string) (string, bool)
	// names are settings that PostgreSQL does not have.
	names []string
}

// find returns a setting, by its name in any letter case.
func (s settings) find(name string) (string, bool) {
	if s.own != nil {
		for _, n := range []string{name, strings.ToLower(name)} {
			if v, ok := s.own(n); ok {
				return v, true
			}
		}
	}
	listed := inventory.FindSetting(name)
	if listed != nil {
		name = listed.Name
	}
	if v, ok := defaults[name]; ok {
		return v, true
	}
	if listed != nil {
		return listed.Show(listed.Value), true
	}
	return "", false
}

// get is a setting, or empty where there is none.
func (s settings) get(name string) string {
	v, _ := s.find(name)
	return v
}

// pgSettings has the settings of PostgreSQL 15, and those of the session that PostgreSQL does not
// have.
func pgSettings(db *database, add func(row)) {
	names := slices.Clone(db.settings.names)
	for i := range inventory.Settings {
		if s := &inventory.Settings[i]; s.Current() {
			names = append(names, s.Name)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return strings.Compare(strings.ToLower(a), strings.ToLower(b)) })
	for _, n := range names {
		v := db.settings.get(n)
		s := inventory.FindSetting(n)
		if s == nil {
			add(row{"name": n, "setting": v, "category": "Discreet", "short_desc": "", "context": "user", "vartype": "string",
				"source": "session", "pending_restart": "f"})
			continue
		}
		if raw, err := s.Read(v); err == nil && s.Unit != "" {
			v = raw
		}
		r := row{"name": n, "setting": v, "category": s.Category, "short_desc": s.Description, "context": s.Context, "vartype": s.Type,
			"source": "default", "boot_val": s.Value, "reset_val": v, "pending_restart": "f"}
		for column, value := range map[string]string{"unit": s.Unit, "min_val": s.Min, "max_val": s.Max} {
			if value != "" {
				r[column] = value
			}
		}
		if s.Values != nil {
			r["enumvals"] = array(slices.Clone(s.Values)...)
		}
		add(r)
	}
}

// searchPath returns the schemas that exist of the search path. The implicit ones are in front.
func (s settings) searchPath(implicit bool) []string {
	var out []string
	if implicit {
		out = append(out, "pg_catalog")
	}
	for part := range strings.SplitSeq(s.get("search_path"), ",") {
		part = strings.TrimSpace(part)
		if q, ok := strings.CutPrefix(part, `"`); ok {
			part = strings.TrimSuffix(q, `"`)
		} else {
			part = strings.ToLower(strings.Trim(part, "'"))
		}
		if oid.Schema(part) != 0 && !(implicit && part == "pg_catalog") {
			out = append(out, part)
		}
	}
	return out
}

// visible says whether a schema is in the search path.
func (s settings) visible(schema string) bool { return slices.Contains(s.searchPath(true), schema) }

// sessionFunctions are the functions about the session and its settings.
var sessionFunctions = []function{
	{"version() text", version},
	{"pg_backend_pid() int4", func(db *database, _ *interpret.Call) (datum.Value, error) { return datum.Int(db.session.PID), nil }},
	{"current_user() name", func(db *database, _ *interpret.Call) (datum.Value, error) { return datum.Text(db.session.User), nil }},
	{"current_database() name", func(db *database, _ *interpret.Call) (datum.Value, error) {
		return datum.Text(db.session.Database), nil
	}},
	{"current_schema() name", currentSchema},
	{"current_schemas(bool) name[]", func(db *database, call *interpret.Call) (datum.Value, error) {
		return datum.Texts(db.settings.searchPath(call.Args[0] == datum.True)...), nil
	}},
	{"pg_postmaster_start_time|pg_conf_load_time() timestamptz", func(db *database, _ *interpret.Call) (datum.Value, error) {
		return datum.Time{Time: db.start}, nil
	}},
	{"current_setting(text,bool=) text", func(db *database, call *interpret.Call) (datum.Value, error) {
		return showSetting(db, call, len(call.Args) > 1 && call.Args[1] == datum.True)
	}},
	{"lax set_config(text,text,bool) text", setConfig},
	{"pg_encoding_to_char(int4) name", func(_ *database, call *interpret.Call) (datum.Value, error) {
		return datum.Text(map[int64]string{0: "SQL_ASCII", 6: "UTF8"}[call.Int(0)]), nil
	}},
	{"pg_char_to_encoding(name) int4", func(_ *database, call *interpret.Call) (datum.Value, error) {
		if s := strings.ToLower(call.Text(0)); s == "utf8" || s == "utf-8" || s == "unicode" {
			return datum.Int(6), nil
		}
		return datum.Int(-1), nil
	}},
	{"pg_show_all_settings() (name text, setting text, unit text, category text, short_desc text, extra_desc text, context text, " +
		"vartype text, source text, min_val text, max_val text, enumvals text[], boot_val text, reset_val text, sourcefile text, " +
		"sourceline int4, pending_restart bool)", showAllSettings},
	{"pg_get_keywords() (word text, catcode char, barelabel bool, catdesc text, baredesc text)", listKeywords},
}

func version(db *database, _ *interpret.Call) (datum.Value, error) {
	v := "PostgreSQL " + db.settings.get("server_version")
	if !strings.Contains(v, "discreet") {
		v += " (discreet)"
	}
	return datum.Text(v + ", a synthesised catalogue"), nil
}

// currentSchema is the first schema of the search path, or NULL.
func currentSchema(db *database, _ *interpret.Call) (datum.Value, error) {
	if p := db.settings.searchPath(false); len(p) > 0 {
		return datum.Text(p[0]), nil
	}
	return nil, nil
}

// showSetting is the setting that the first argument names. One that does not exist is NULL where
// it may be missing.
func showSetting(db *database, call *interpret.Call, missing bool) (datum.Value, error) {
	if v, ok := db.settings.find(call.Text(0)); ok {
		return call.NewText(v)
	}
	if missing {
		return nil, nil
	}
	return nil, interpret.Fail("42704", "unrecognized configuration parameter %q", clip(call.Text(0)))
}

func setConfig(db *database, call *interpret.Call) (datum.Value, error) {
	name, value := call.Text(0), call.Text(1)
	switch {
	case call.Args[0] == nil:
		return nil, interpret.Fail("22004", "SET requires parameter name")
	case len(name) > 200 || len(value) > 4096:
		return nil, interpret.Fail("54000", "a setting is too long")
	case db.session.Set == nil:
		return nil, interpret.Fail("0A000", "settings cannot be set here")
	}
	if err := db.session.Set(name, value, call.Args[2] == datum.True); err != nil {
		var e *interpret.Error
		if errors.As(err, &e) {
			return nil, e
		}
		return nil, interpret.Fail("22023", "%s", err.Error())
	}
	// What depends on a setting is made anew.
	db.schema.resetRows("pg_settings", "pg_stat_activity")
	return showSetting(db, call, true)
}

func listKeywords(*database, *interpret.Call) (datum.Value, error) {
	var out datum.List
	for _, w := range datum.Words() {
		out = append(out, datum.List{datum.Text(w), datum.Text("R"), datum.False, datum.Text("reserved"), datum.Text("requires AS")})
	}
	return out, nil
}

func showAllSettings(db *database, _ *interpret.Call) (datum.Value, error) {
	var out datum.List
	for _, t := range db.schema.byName["pg_catalog.pg_settings"].Rows() {
		out = append(out, datum.List(t))
	}
	return out, nil
}

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

func pgCursors(db *database, add func(row)) {
	if db.session.Kept == nil {
		return
	}
	cursors, _ := db.session.Kept()
	for _, k := range cursors {
		add(row{"name": k.Name, "statement": k.Statement, "is_holdable": truth(k.Hold), "is_binary": truth(k.Binary),
			"is_scrollable": truth(k.Scroll), "creation_time": moment(k.Created)})
	}
}

func pgPreparedStatements(db *database, add func(row)) {
	if db.session.Kept == nil {
		return
	}
	_, prepared := db.session.Kept()
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

// bootstrapName is whom the system's relations belong to. Nobody logs in as it.
const bootstrapName = "postgres"

// ownerName is the name of the role that the tables belong to. Nobody logs in as it.
func ownerName(user string) string {
	if user == "owner" {
		return "table_owner"
	}
	return "owner"
}

// roles are those that a session knows of.
type roles struct {
	user  string
	owner string // whom the tables belong to
}

// name is the name of a role, where there is one of this OID.
func (r roles) name(o uint32) (string, bool) {
	switch o {
	case ownerOID:
		return r.owner, true
	case bootstrapOID:
		return bootstrapName, true
	case userOID:
		return r.user, true
	}
	return "", false
}

// oid is the OID of a role, or 0.
func (r roles) oid(name string) uint32 {
	switch name {
	case r.user:
		return userOID
	case r.owner:
		return ownerOID
	case bootstrapName:
		return bootstrapOID
	}
	return 0
}

// ownerOf is the name of the role that a relation belongs to.
func (r roles) ownerOf(rel *relation) string {
	if rel.policy {
		return r.owner
	}
	return bootstrapName
}

// acl is who may do what with a table of the policy.
func (r roles) acl() string {
	return array(r.owner+"=arwdDxt/"+r.owner, aclName(r.user)+"=r/"+r.owner)
}

// aclName writes a role as an aclitem has it.
func aclName(s string) string {
	for _, b := range []byte(s) {
		if !(b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '_') {
			return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
		}
	}
	return s
}

// pgRole has the user, and whom the tables and the system belong to, as clients join with it. Other
// analysts are nobody's business.
func pgRole(db *database, add func(row)) {
	for _, r := range []struct {
		oid           uint32
		name          string
		super, logins bool
	}{{bootstrapOID, bootstrapName, true, false}, {ownerOID, db.roles.owner, false, false}, {userOID, db.session.User, false, true}} {
		if r.oid != userOID && r.name == db.session.User {
			continue // a user of this name is the one that is meant
		}
		add(row{"oid": number(r.oid), "rolname": r.name, "rolsuper": truth(r.super), "rolinherit": "t", "rolcreaterole": truth(r.super),
			"rolcreatedb": truth(r.super), "rolcanlogin": truth(r.logins), "rolpassword": "********", "rolreplication": truth(r.super),
			"rolbypassrls": truth(r.super), "rolconnlimit": "-1"})
	}
}

func pgUser(db *database, add func(row)) {
	add(row{"usename": db.session.User, "usesysid": number(userOID), "usecreatedb": "f", "usesuper": "f", "userepl": "f",
		"usebypassrls": "f"})
}
