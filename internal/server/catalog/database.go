package catalog

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
		add(row{"oid": number(c.databaseOID(name)), "datname": name, "datdba": number(ownerOID), "encoding": "6", "datlocprovider": "c",
			"datallowconn": "t", "datconnlimit": "-1", "datfrozenxid": "722", "datminmxid": "1", "dattablespace": "1663",
			"datcollate": "C", "datctype": "C"})
	}
}
