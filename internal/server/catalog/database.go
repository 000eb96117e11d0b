package catalog

import "github.com/discreet-dp/discreet/internal/server/catalog/datum"

// databases are the datasets that the user may ask, and the one that is asked.
func (c *Catalog) databases() []string {
	var names []string
	for _, name := range c.policy.Names() {
		if _, ok := c.policy.Datasets[name].Analysts[c.session.User]; ok || name == c.session.Database {
			names = append(names, name)
		}
	}
	return names
}

func (c *Catalog) databaseOID(name string) uint32 {
	for i, n := range c.databases() {
		if n == name {
			return firstDB + uint32(i)
		}
	}
	return 0
}

func pgDatabase(c *Catalog, add func(row)) {
	for _, name := range c.databases() {
		add(row{"oid": datum.Int(c.databaseOID(name)), "datname": datum.Text(name), "datdba": datum.Int(ownerOID), "encoding": datum.Int(6), "datlocprovider": datum.Text("c"), "datallowconn": datum.True,
			"datconnlimit": datum.Int(-1), "datfrozenxid": datum.Int(722), "datminmxid": datum.Int(1), "dattablespace": datum.Int(1663), "datcollate": datum.Text("C"), "datctype": datum.Text("C")})
	}
}
