package policy

// readPrepared reads where the table is stored by person. The table stays what its source says: the
// file is made of it, and can be made again.
func (t *Table) readPrepared(r *reader, f fields, d *Dataset, dir string, unitOK bool) {
	v, given := f.get("prepared")
	if !given {
		return
	}
	text, ok := r.text(v, "prepared", "the path of the file that 'discreet prepare' writes, such as prepared/visits.duckdb")
	if !ok || !r.path(v, "prepared", text) {
		return
	}
	if d.SourceKind() == TrinoDatabase {
		r.at(v, "'prepared' is a file for DuckDB, and this table is asked for in a Trino cluster; remove it")
		return
	}
	if !IsDatabase(text) {
		r.at(v, "the prepared file %s is no DuckDB file; its name must end in .duckdb", quote(text))
		return
	}
	if unitOK && !t.Preparable() {
		r.at(v, "a table is stored by person where somebody may have many rows in it and a column says whose they are; remove 'prepared'")
		return
	}
	t.Prepared = resolve(dir, text)
	if t.Prepared == d.Source {
		r.at(v, "this is the dataset's source, and the prepared file is another one that is made of it; give it a name of its own")
		return
	}
	if r.prepared == nil {
		r.prepared = map[string]string{}
	}
	if other := r.prepared[t.Prepared]; other != "" {
		r.at(v, "the table %s has this prepared file already; give each table one of its own", quote(other))
	}
	r.prepared[t.Prepared] = t.Name
}

// Preparable reports whether the table can be stored by person: somebody may have many rows in it,
// and who that is stands in the row.
func (t *Table) Preparable() bool { return t.UnitKind == Many && t.UnitColumn != "" }
