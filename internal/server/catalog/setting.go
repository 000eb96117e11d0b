package catalog

import (
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/server/catalog/oid"
)

// ServerVersion is the PostgreSQL whose catalogue this one looks like.
const (
	ServerVersion    = "15.0"
	ServerVersionNum = "150000"
)

// defaults are the settings that clients ask for. What the session says comes before them.
var defaults = map[string]string{
	"application_name": "", "block_size": "8192", "bytea_output": "hex", "check_function_bodies": "on", "client_encoding": "UTF8",
	"client_min_messages": "notice",
	"DateStyle":           "ISO, MDY", "db_user_namespace": "off", "default_table_access_method": "heap", "default_tablespace": "",
	"default_transaction_deferrable": "off", "default_transaction_isolation": "read committed", "default_transaction_read_only": "on",
	"default_with_oids": "off", "extra_float_digits": "1", "in_hot_standby": "off", "integer_datetimes": "on",
	"IntervalStyle": "postgres", "is_superuser": "off",
	"lc_collate": "C", "lc_ctype": "C", "lc_messages": "C", "lc_monetary": "C", "lc_numeric": "C", "lc_time": "C", "lock_timeout": "0",
	"max_connections": "100", "max_identifier_length": "63", "max_index_keys": "32", "search_path": `"$user", public`,
	"server_encoding": "UTF8",
	"server_version":  ServerVersion, "server_version_num": ServerVersionNum, "session_authorization": "", "ssl": "off",
	"standard_conforming_strings": "on", "statement_timeout": "0", "TimeZone": "UTC", "transaction_deferrable": "off",
	"transaction_isolation": "read committed", "transaction_read_only": "on", "row_security": "on", "escape_string_warning": "on",
	"idle_in_transaction_session_timeout": "0", "jit": "off", "datestyle": "ISO, MDY", "intervalstyle": "postgres", "timezone": "UTC",
	"array_nulls": "on", "backslash_quote": "safe_encoding", "quote_all_identifiers": "off", "synchronize_seqscans": "on",
	"wal_level": "replica", "max_prepared_transactions": "0",
	"password_encryption": "scram-sha-256", "track_activities": "off", "track_counts": "off",
}

// findSetting returns a setting, by its name in any letter case.
func (c *Catalog) findSetting(name string) (string, bool) {
	if c.session.Setting != nil {
		for _, n := range []string{name, strings.ToLower(name)} {
			if v, ok := c.session.Setting(n); ok {
				return v, true
			}
		}
	}
	if v, ok := defaults[name]; ok {
		return v, true
	}
	for n, v := range defaults {
		if strings.EqualFold(n, name) {
			return v, true
		}
	}
	return "", false
}

func (c *Catalog) setting(name string) string {
	v, _ := c.findSetting(name)
	return v
}

func pgSettings(c *Catalog, add func(row)) {
	names := slices.Clone(c.session.Names)
	for n := range defaults {
		// PostgreSQL spells three of them with capitals in this view, and clients ask in small
		// letters too, but there is one row for each.
		if n == "datestyle" || n == "intervalstyle" || n == "timezone" || n == "default_with_oids" || n == "session_authorization" {
			continue
		}
		names = append(names, n)
	}
	slices.SortFunc(names, func(a, b string) int { return strings.Compare(strings.ToLower(a), strings.ToLower(b)) })
	for _, n := range names {
		v := c.setting(n)
		kind := "string"
		if _, err := strconv.Atoi(v); err == nil {
			kind = "integer"
		} else if v == "on" || v == "off" {
			kind = "bool"
		}
		add(row{"name": n, "setting": v, "category": "Discreet", "short_desc": "", "context": "user", "vartype": kind,
			"source": "default", "boot_val": defaults[n], "reset_val": defaults[n], "pending_restart": "f"})
	}
}

// forget drops the rows of relations that depend on what a session does.
func (c *Catalog) forget(names ...string) {
	for _, name := range names {
		if r := c.byName["pg_catalog."+name]; r != nil {
			r.rows, r.made, r.index = nil, false, nil
		}
	}
}

// searchPath returns the schemas that exist of the search path. The implicit ones are in front.
func (c *Catalog) searchPath(implicit bool) []string {
	var out []string
	if implicit {
		out = append(out, "pg_catalog")
	}
	for part := range strings.SplitSeq(c.setting("search_path"), ",") {
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
