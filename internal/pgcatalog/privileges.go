package pgcatalog

import (
	"strings"

	"github.com/discreet-dp/discreet/internal/pgcatalog/datum"
	"github.com/discreet-dp/discreet/internal/pgcatalog/interpret"
	"github.com/discreet-dp/discreet/internal/pgcatalog/oid"
)

// privilegeFunctions are the functions about privileges. Everybody may read, and nobody anything
// else.
var privilegeFunctions = func() []function {
	out := []function{
		{"has_column_privilege(text|oid,text|int2,text) bool", hasColumnPrivilege},
		{"has_column_privilege(name|oid,text|oid,text|int2,text) bool", hasColumnPrivilege},
		{"pg_has_role(name|oid,text) bool", hasRole},
		{"pg_has_role(name|oid,name|oid,text) bool", hasRole},
		{"aclexplode(aclitem[]) (grantor oid, grantee oid, privilege_type text, is_grantable bool)", explodeACL},
		{"has_parameter_privilege(text,text) bool", hasPrivilege(0, "", "set", "alter system")},
		{"has_parameter_privilege(name|oid,text,text) bool", hasPrivilege(0, "", "set", "alter system")},
		{"row_security_active(text|oid) bool", func(*database, *interpret.Call) (datum.Value, error) { return datum.False, nil }},
	}
	for names, k := range map[string]struct {
		kind    uint32 // how its objects are named; 0 where they are not looked for
		granted string
		others  string
	}{
		"has_table_privilege|has_any_column_privilege": {oid.Regclass, "select", "insert update delete truncate references trigger rule"},
		"has_schema_privilege":                         {oid.Regnamespace, "usage", "create"},
		"has_database_privilege":                       {0, "connect", "create temporary temp"},
		"has_function_privilege":                       {oid.Regprocedure, "execute", ""},
		"has_sequence_privilege":                       {oid.Regclass, "", "usage select update"},
		"has_tablespace_privilege":                     {0, "", "create"},
		"has_language_privilege":                       {0, "usage", ""},
		"has_type_privilege":                           {oid.Regtype, "usage", ""},
		"has_foreign_data_wrapper_privilege":           {0, "", "usage"},
		"has_server_privilege":                         {0, "", "usage"},
	} {
		do := hasPrivilege(k.kind, k.granted, strings.Fields(k.others)...)
		out = append(out, function{names + "(text|oid,text) bool", do}, function{names + "(name|oid,text|oid,text) bool", do})
	}
	return out
}()

// hasPrivilege makes a function that says whether one of the rights in its last argument is granted
// on the object before it, which may be named as t is.
func hasPrivilege(t uint32, granted string, others ...string) func(*database, *interpret.Call) (datum.Value, error) {
	return func(db *database, call *interpret.Call) (datum.Value, error) {
		n := len(call.Args)
		if role, ok := call.Args[0].(datum.Text); ok && n == 3 && db.roles.oid(string(role)) == 0 && role != "public" {
			return nil, interpret.Fail("42704", "role %q does not exist", clip(string(role)))
		}
		switch object := call.Args[n-2].(type) {
		case datum.Text:
			name := string(object)
			if t == oid.Regnamespace {
				name = datum.Quote(name)
			}
			if t != 0 {
				if _, err := db.ParseName(name, t); err != nil {
					return nil, err
				}
			}
		case datum.Int:
			if t == oid.Regclass && !db.schema.exists(uint32(object)) || t == oid.Regnamespace && !isSchema(uint32(object)) {
				return nil, nil
			}
		}
		has := false
		for right := range strings.SplitSeq(strings.ToLower(call.Text(n-1)), ",") {
			name := strings.TrimSuffix(strings.TrimSpace(right), " with grant option")
			switch {
			case name == granted && granted != "":
				has = has || name == strings.TrimSpace(right)
			case !contains(others, name):
				return nil, interpret.Fail("22023", "unrecognized privilege type: %q", clip(strings.TrimSpace(right)))
			}
		}
		return datum.Bool(has), nil
	}
}

func contains(all []string, name string) bool {
	for _, s := range all {
		if s == name {
			return true
		}
	}
	return false
}

func isSchema(o uint32) bool {
	return o == oid.CatalogSchema || o == oid.PublicSchema || o == oid.InformationSchema
}

func hasColumnPrivilege(_ *database, call *interpret.Call) (datum.Value, error) {
	return datum.Bool(strings.Contains(strings.ToLower(call.Text(len(call.Args)-1)), "select")), nil
}

func hasRole(db *database, call *interpret.Call) (datum.Value, error) {
	role := call.Args[len(call.Args)-2]
	return datum.Bool(role == datum.Text(db.session.User) || role == datum.Int(userOID)), nil
}

var rights = map[byte]string{'a': "INSERT", 'r': "SELECT", 'w': "UPDATE", 'd': "DELETE", 'D': "TRUNCATE", 'x': "REFERENCES", 't': "TRIGGER",
	'U': "USAGE", 'C': "CREATE", 'T': "TEMPORARY", 'c': "CONNECT", 'X': "EXECUTE"}

// explodeACL reads aclitems such as ana=r/owner.
func explodeACL(db *database, call *interpret.Call) (datum.Value, error) {
	role := func(name string) datum.Value {
		if name == bootstrapName {
			return datum.Int(bootstrapOID)
		}
		return datum.Int(db.roles.oid(strings.ReplaceAll(strings.Trim(name, `"`), `""`, `"`)))
	}
	var out datum.List
	for _, v := range call.List(0) {
		s, _ := v.(datum.Text)
		i := strings.LastIndexByte(string(s), '=')
		if i < 0 {
			continue
		}
		letters, grantor, _ := strings.Cut(string(s[i+1:]), "/")
		for _, letter := range []byte(letters) {
			if right := rights[letter]; right != "" {
				out = append(out, datum.List{role(grantor), role(string(s[:i])), datum.Text(right), datum.False})
			}
		}
	}
	return out, nil
}
