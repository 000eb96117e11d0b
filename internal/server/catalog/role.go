package catalog

import "strings"

// bootstrapName is whom the system's relations belong to. Nobody logs in as it, and no list of roles has it.
const bootstrapName = "postgres"

// ownerOf is the name of the role that the tables belong to. Nobody logs in as it.
func ownerOf(user string) string {
	if user == "owner" {
		return "table_owner"
	}
	return "owner"
}

// roleName is the name of a role, where there is one of this OID.
func (c *Catalog) roleName(o uint32) (string, bool) {
	switch o {
	case ownerOID:
		return c.owner, true
	case bootstrapOID:
		return bootstrapName, true
	case userOID:
		return c.session.User, true
	}
	return "", false
}

// ownerOf is the name of the role that a relation belongs to.
func (c *Catalog) ownerOf(r *relation) string {
	if r.policy {
		return c.owner
	}
	return bootstrapName
}

// acl is who may do what with a table of the policy.
func (c *Catalog) acl() []any {
	return []any{c.owner + "=arwdDxt/" + c.owner, aclName(c.session.User) + "=r/" + c.owner}
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

// pgRole has the user, and whom the tables belong to, as clients join with it. Other analysts are nobody's business.
func pgRole(c *Catalog, add func(values)) {
	add(values{"oid": ownerOID, "rolname": c.owner, "rolsuper": false, "rolinherit": true, "rolcreaterole": false, "rolcreatedb": false,
		"rolcanlogin": false, "rolpassword": "********", "rolreplication": false, "rolbypassrls": false, "rolconnlimit": -1})
	add(values{"oid": userOID, "rolname": c.session.User, "rolsuper": false, "rolinherit": true, "rolcreaterole": false, "rolcreatedb": false,
		"rolcanlogin": true, "rolpassword": "********", "rolreplication": false, "rolbypassrls": false, "rolconnlimit": -1})
}

func pgUser(c *Catalog, add func(values)) {
	add(values{"usename": c.session.User, "usesysid": userOID, "usecreatedb": false, "usesuper": false, "userepl": false, "usebypassrls": false})
}
