package catalog

import (
	"strings"

	"github.com/discreet-dp/discreet/internal/server/catalog/datum"
)

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

// ownerOf is the name of the role that a relation belongs to.
func (c *Catalog) ownerOf(r *relation) string {
	if r.policy {
		return c.owner
	}
	return bootstrapName
}

// acl is who may do what with a table of the policy.
func (c *Catalog) acl() datum.List {
	return datum.Texts(c.owner+"=arwdDxt/"+c.owner, aclName(c.session.User)+"=r/"+c.owner)
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
func pgRole(c *Catalog, add func(row)) {
	add(row{"oid": datum.Int(ownerOID), "rolname": datum.Text(c.owner), "rolsuper": datum.False, "rolinherit": datum.True, "rolcreaterole": datum.False, "rolcreatedb": datum.False,
		"rolcanlogin": datum.False, "rolpassword": datum.Text("********"), "rolreplication": datum.False, "rolbypassrls": datum.False, "rolconnlimit": datum.Int(-1)})
	add(row{"oid": datum.Int(userOID), "rolname": datum.Text(c.session.User), "rolsuper": datum.False, "rolinherit": datum.True, "rolcreaterole": datum.False, "rolcreatedb": datum.False,
		"rolcanlogin": datum.True, "rolpassword": datum.Text("********"), "rolreplication": datum.False, "rolbypassrls": datum.False, "rolconnlimit": datum.Int(-1)})
}

func pgUser(c *Catalog, add func(row)) {
	add(row{"usename": datum.Text(c.session.User), "usesysid": datum.Int(userOID), "usecreatedb": datum.False, "usesuper": datum.False, "userepl": datum.False, "usebypassrls": datum.False})
}
