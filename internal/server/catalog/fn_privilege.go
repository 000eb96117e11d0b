package catalog

import (
	"slices"
	"strings"
)

// These are the functions about privileges.
func init() {
	defineSet("aclexplode(aclitem[]) oid", []Column{{"grantor", tOid}, {"grantee", tOid}, {"privilege_type", tText}, {"is_grantable", tBool}}, aclExplode)
	define("acldefault(char,oid) aclitem[]", func(r *run, a []any, _ []uint32) (any, error) {
		owner := r.c.owner
		if name, ok := r.c.roleName(oidOf(a[1])); ok {
			owner = aclName(name)
		}
		switch a[0] {
		case "r":
			return []any{owner + "=arwdDxt/" + owner}, nil
		case "d":
			return []any{"=Tc/" + owner, owner + "=CTc/" + owner}, nil
		case "n":
			return []any{owner + "=UC/" + owner}, nil
		case "f":
			return []any{"=X/" + owner, owner + "=X/" + owner}, nil
		case "l", "T":
			return []any{"=U/" + owner, owner + "=U/" + owner}, nil
		}
		return []any{}, nil
	})
	definePrivileges()
}

// aclExplode reads aclitems such as ana=r/owner.
func aclExplode(r *run, a []any, _ []uint32) ([]any, error) {
	roles := func(name string) int64 {
		switch strings.ReplaceAll(strings.Trim(name, `"`), `""`, `"`) {
		case r.c.owner:
			return ownerOID
		case bootstrapName:
			return bootstrapOID
		case r.c.session.User:
			return userOID
		}
		return 0
	}
	letters := map[byte]string{'a': "INSERT", 'r': "SELECT", 'w': "UPDATE", 'd': "DELETE", 'D': "TRUNCATE", 'x': "REFERENCES", 't': "TRIGGER", 'U': "USAGE", 'C': "CREATE",
		'T': "TEMPORARY", 'c': "CONNECT", 'X': "EXECUTE"}
	var out []any
	for _, v := range a[0].([]any) {
		s, _ := v.(string)
		i := strings.LastIndexByte(s, '=')
		if i < 0 {
			continue
		}
		rights, grantor, _ := strings.Cut(s[i+1:], "/")
		for _, c := range []byte(rights) {
			if p := letters[c]; p != "" {
				out = append(out, tuple{roles(grantor), roles(s[:i]), p, false})
			}
		}
	}
	return out, nil
}

// definePrivileges adds has_..._privilege, with and without a user, by name or OID.
func definePrivileges() {
	kinds := map[string]struct {
		t      uint32
		rights []string
	}{
		"has_table_privilege":                {tRegclass, []string{"select"}},
		"has_any_column_privilege":           {tRegclass, []string{"select"}},
		"has_schema_privilege":               {tRegnamespace, []string{"usage"}},
		"has_database_privilege":             {0, []string{"connect"}},
		"has_function_privilege":             {tRegprocedure, []string{"execute"}},
		"has_language_privilege":             {0, []string{"usage"}},
		"has_sequence_privilege":             {tRegclass, nil},
		"has_tablespace_privilege":           {0, nil},
		"has_type_privilege":                 {tRegtype, []string{"usage"}},
		"has_server_privilege":               {0, nil},
		"has_foreign_data_wrapper_privilege": {0, nil},
	}
	for name, k := range kinds {
		test := func(r *run, object any, t uint32, right any) (any, error) {
			if s, ok := object.(string); ok && k.t != 0 && t != tOid {
				if _, err := r.c.lookupReg(s, k.t); err != nil {
					return nil, err
				}
			}
			if o, ok := object.(int64); ok && k.t == tRegclass && !r.c.exists(uint32(o)) {
				return nil, nil
			}
			for part := range strings.SplitSeq(lower(right), ",") {
				if slices.Contains(k.rights, strings.TrimSpace(part)) {
					return true, nil
				}
			}
			return false, nil
		}
		for _, object := range []string{"text", "oid"} {
			define(name+"("+object+",text) bool", func(r *run, a []any, ts []uint32) (any, error) { return test(r, a[0], ts[0], a[1]) })
			for _, user := range []string{"name", "oid"} {
				define(name+"("+user+","+object+",text) bool", func(r *run, a []any, ts []uint32) (any, error) { return test(r, a[1], ts[1], a[2]) })
			}
		}
	}
	for _, table := range []string{"text", "oid"} {
		for _, column := range []string{"text", "int2"} {
			right := func(v any) (any, error) { return strings.Contains(lower(v), "select"), nil }
			define("has_column_privilege("+table+","+column+",text) bool", func(r *run, a []any, _ []uint32) (any, error) { return right(a[2]) })
			define("has_column_privilege(name,"+table+","+column+",text) bool", func(r *run, a []any, _ []uint32) (any, error) { return right(a[3]) })
		}
	}
	for _, sig := range []string{"name,name,text", "oid,oid,text", "name,oid,text", "oid,name,text", "name,text", "oid,text"} {
		define("pg_has_role("+sig+") bool", func(r *run, a []any, _ []uint32) (any, error) {
			switch v := a[len(a)-2].(type) {
			case string:
				return v == r.c.session.User, nil
			case int64:
				return v == userOID, nil
			}
			return false, nil
		})
	}
	define("row_security_active(oid) bool", fixed(false))
	define("row_security_active(text) bool", fixed(false))
}
