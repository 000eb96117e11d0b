package catalog

import (
	"strings"

	"github.com/discreet-dp/discreet/internal/server/catalog/datum"
	"github.com/discreet-dp/discreet/internal/server/catalog/interpret"
	"github.com/discreet-dp/discreet/internal/server/catalog/oid"
)

// privilegeFunctions are the functions about privileges. Everybody may read, and nobody anything
// else.
var privilegeFunctions = []function{
	{"has_table_privilege|has_any_column_privilege(text|oid,text) bool", hasPrivilege(oid.Regclass, "select")},
	{"has_table_privilege|has_any_column_privilege(name|oid,text|oid,text) bool", hasPrivilege(oid.Regclass, "select")},
	{"has_schema_privilege(text|oid,text) bool", hasPrivilege(oid.Regnamespace, "usage")},
	{"has_schema_privilege(name|oid,text|oid,text) bool", hasPrivilege(oid.Regnamespace, "usage")},
	{"has_database_privilege(text|oid,text) bool", hasPrivilege(0, "connect")},
	{"has_database_privilege(name|oid,text|oid,text) bool", hasPrivilege(0, "connect")},
	{"has_function_privilege(text|oid,text) bool", hasPrivilege(oid.Regprocedure, "execute")},
	{"has_function_privilege(name|oid,text|oid,text) bool", hasPrivilege(oid.Regprocedure, "execute")},
	{"has_sequence_privilege(text|oid,text) bool", hasPrivilege(oid.Regclass, "")},
	{"has_sequence_privilege(name|oid,text|oid,text) bool", hasPrivilege(oid.Regclass, "")},
	{"has_tablespace_privilege(text|oid,text) bool", hasPrivilege(0, "")},
	{"has_tablespace_privilege(name|oid,text|oid,text) bool", hasPrivilege(0, "")},
	{"has_column_privilege(text|oid,text|int2,text) bool", hasColumnPrivilege},
	{"has_column_privilege(name,text|oid,text|int2,text) bool", hasColumnPrivilege},
	{"pg_has_role(name|oid,text) bool", hasRole},
	{"pg_has_role(name|oid,name|oid,text) bool", hasRole},
	{"aclexplode(aclitem[]) (grantor oid, grantee oid, privilege_type text, is_grantable bool)", (*Catalog).explodeACL},
}

// hasPrivilege makes a function that says whether one of the rights in its last argument is granted
// on the object before it, which may be named as t is.
func hasPrivilege(t uint32, granted string) func(*Catalog, *interpret.Call) (datum.Value, error) {
	return func(c *Catalog, call *interpret.Call) (datum.Value, error) {
		n := len(call.Args)
		switch object := call.Args[n-2].(type) {
		case datum.Text:
			if t != 0 {
				if _, err := c.ParseName(string(object), t); err != nil {
					return nil, err
				}
			}
		case datum.Int:
			if t == oid.Regclass && !c.exists(uint32(object)) {
				return nil, nil
			}
		}
		for right := range strings.SplitSeq(strings.ToLower(call.Text(n-1)), ",") {
			if granted != "" && strings.TrimSpace(right) == granted {
				return datum.True, nil
			}
		}
		return datum.False, nil
	}
}

func hasColumnPrivilege(_ *Catalog, call *interpret.Call) (datum.Value, error) {
	return datum.Bool(strings.Contains(strings.ToLower(call.Text(len(call.Args)-1)), "select")), nil
}

func hasRole(c *Catalog, call *interpret.Call) (datum.Value, error) {
	role := call.Args[len(call.Args)-2]
	return datum.Bool(role == datum.Text(c.session.User) || role == datum.Int(userOID)), nil
}

// rights are the letters of an aclitem.
var rights = map[byte]string{'a': "INSERT", 'r': "SELECT", 'w': "UPDATE", 'd': "DELETE", 'D': "TRUNCATE", 'x': "REFERENCES", 't': "TRIGGER",
	'U': "USAGE", 'C': "CREATE", 'T': "TEMPORARY", 'c': "CONNECT", 'X': "EXECUTE"}

// explodeACL reads aclitems such as ana=r/owner.
func (c *Catalog) explodeACL(call *interpret.Call) (datum.Value, error) {
	role := func(name string) datum.Value {
		if name == bootstrapName {
			return datum.Int(bootstrapOID)
		}
		return datum.Int(c.roleOID(strings.ReplaceAll(strings.Trim(name, `"`), `""`, `"`)))
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
