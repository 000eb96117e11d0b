package catalog

import "strings"

// bootstrapName is whom the system's relations belong to. Nobody logs in as it, and no list of
// roles has it.
const bootstrapName = "postgres"

// ownerName is the name of the role that the tables belong to. Nobody logs in as it.
func ownerName(user string) string {
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

// roleOID is the OID of a role, or 0.
func (c *Catalog) roleOID(name string) uint32 {
	switch name {
	case c.session.User:
		return userOID
	case c.owner:
		return ownerOID
	case bootstrapName:
		return bootstrapOID
	}
	return 0
}

// relationOwner is the name of the role that a relation belongs to.
func (c *Catalog) relationOwner(r *relation) string {
	if r.policy {
		return c.owner
	}
	return bootstrapName
}

// acl is who may do what with a table of the policy.
func (c *Catalog) acl() string {
	return array(c.owner+"=arwdDxt/"+c.owner, aclName(c.session.User)+"=r/"+c.owner)
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

// pgRole has the user, and whom the tables belong to, as clients join with it. Other analysts are
// nobody's business.
func pgRole(c *Catalog, add func(row)) {
	add(row{"oid": number(ownerOID), "rolname": c.owner, "rolsuper": "f", "rolinherit": "t", "rolcreaterole": "f", "rolcreatedb": "f",
		"rolcanlogin": "f", "rolpassword": "********", "rolreplication": "f", "rolbypassrls": "f", "rolconnlimit": "-1"})
	add(row{"oid": number(userOID), "rolname": c.session.User, "rolsuper": "f", "rolinherit": "t", "rolcreaterole": "f",
		"rolcreatedb": "f", "rolcanlogin": "t", "rolpassword": "********", "rolreplication": "f", "rolbypassrls": "f",
		"rolconnlimit": "-1"})
}

func pgUser(c *Catalog, add func(row)) {
	add(row{"usename": c.session.User, "usesysid": number(userOID), "usecreatedb": "f", "usesuper": "f", "userepl": "f",
		"usebypassrls": "f"})
}
