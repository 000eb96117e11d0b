package plan

import (
	pg "github.com/pganalyze/pg_query_go/v6"
)

func (c *checker) from(nodes []*pg.Node) error {
	if len(nodes) == 0 {
		return refuse(-1, "write SELECT ... FROM a table; "+known("tables", c.dataset.Tables), "there is no FROM")
	}
	if len(nodes) > 1 {
		return refuse(location(nodes[1]), "ask about one table at a time", "joins cannot be used yet")
	}
	if j := nodes[0].GetJoinExpr(); j != nil {
		return refuse(location(j.Rarg), "ask about one table at a time", "joins cannot be used yet")
	}
	v := nodes[0].GetRangeVar()
	if v == nil {
		return refuse(location(nodes[0]), "name one table; "+known("tables", c.dataset.Tables), "subqueries, functions and samples cannot be used in FROM")
	}
	if v.Catalogname != "" || v.Schemaname != "" || !v.Inh || len(v.GetAlias().GetColnames()) > 0 {
		return refuse(v.Location, "write the table's name alone; "+known("tables", c.dataset.Tables), "a table is named without schema, ONLY or column aliases")
	}
	t, ok := lookup(c.dataset.Tables, v.Relname)
	if !ok {
		return refuse(v.Location, known("tables", c.dataset.Tables), "there is no table %q", v.Relname)
	}
	c.table, c.alias = t, v.Relname
	if v.Alias != nil {
		c.alias = v.Alias.Aliasname
	}
	return nil
}
