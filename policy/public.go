package policy

const publicRowsMeans = "how many rows of this table count at most for one row that they are joined to, and the noise grows with it"

// readPublic reads whether everybody may know the table.
func (t *Table) readPublic(r *reader, f fields) {
	if v, ok := f.get("public"); ok {
		public, ok := r.truth(v, "public")
		// A value that is wrong still says what kind of table was meant.
		t.Public = public || !ok
	}
}

// readPublicKeys reads what a public table has in place of a unit.
func (t *Table) readPublicKeys(r *reader, f fields) {
	t.UnitKind = NoUnit
	for _, key := range []string{"path", "max_groups"} {
		if v, ok := f.get(key); ok {
			r.at(v, "the table is public, so its rows are about nobody whom the budget protects; remove '%s', or remove public: true", key)
		}
	}
	if v, ok := f.get("unique"); ok {
		if text, ok := r.text(v, "unique", "the column that is different in every row, such as code"); ok {
			t.UniqueColumn = text
		}
	}
	if v, ok := f.get("max_rows"); ok {
		if n, ok := r.whole(v, "max_rows", maxRows, publicRowsMeans); ok {
			t.MaxRows = n
		}
	}
}

// checkUnique refuses a promise about a column that no join can name.
func (t *Table) checkUnique(r *reader, f fields) {
	if t.UniqueColumn == "" || t.Columns == nil || t.Columns[t.UniqueColumn] != nil {
		return
	}
	v, _ := f.get("unique")
	r.at(v, "unique names the column %s, which is not listed under columns; list it, so that it can be joined on%s", quote(t.UniqueColumn),
		didYouMean(t.UniqueColumn, t.order...))
}
