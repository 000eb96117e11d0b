package plan

// provenTotal looks once more at everything that will run below the noise: no
// number in it is wider than an engine computes with. Every operation has made
// sure of that already; this is the one place that does not depend on them.
func (c *checker) provenTotal() error {
	all := []Expr{}
	if c.filter != nil {
		all = append(all, c.filter)
	}
	for _, m := range c.aggregates {
		if m.Arg != nil {
			all = append(all, m.Arg)
		}
	}
	copied := 0
	for _, e := range all {
		var err error
		walk(e, func(x Expr) {
			if _, wide := checked(x, -1); wide != nil {
				err = wide
			}
			if long(x) {
				copied++
			}
			if in, ok := x.(*In); ok {
				for _, l := range in.List {
					if _, wide := checked(l, -1); wide != nil {
						err = wide
					}
				}
			}
		})
		if err != nil {
			return err
		}
	}
	if copied > maxLong {
		return refuse(-1, "take the beginning of the texts first, as in lower(left(name, 100))", "more than %d functions of this question work on texts of any length", maxLong)
	}
	return nil
}
