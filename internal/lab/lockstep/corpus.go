package lockstep

import (
	"fmt"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/policy"
)

// maxCorpusGroups is how many rows an answer of the corpus has at most: drawing noise for more
// takes longer and finds nothing else.
const maxCorpusGroups = 2000

// Corpus makes up questions about every table and column that a dataset lists: counts, sums and
// averages, alone, for groups and for several groupings, with running totals, under conditions on
// every column, with HAVING and ORDER BY, and which groups are the largest. Only questions that can
// be asked are returned.
func Corpus(ds *policy.Dataset) []string {
	var out []string
	for _, name := range ds.TableNames() {
		c := corpus{table: ds.Tables[name]}
		c.write()
		c.join(ds)
		for _, q := range c.questions {
			p, err := planner.Prepare(ds, q, planner.Options{})
			// Which private keys are shown may differ, with a small probability, and what is
			// replayed here must not.
			if err == nil && len(p.Plans) > 0 && len(p.Plans[0].Query.PrivateKeys()) == 0 && p.Plans[0].Query.Groups() <= maxCorpusGroups &&
				!slices.Contains(out, q) {
				out = append(out, q)
			}
		}
	}
	return out
}

// join adds questions about the table together with others: its own rows again, where its path
// leads, and public tables.
func (c *corpus) join(ds *policy.Dataset) {
	if c.table.Public {
		return
	}
	from := func(rest string) {
		c.questions = append(c.questions, "SELECT COUNT(*) FROM "+quoteName(c.table.Name)+" AS a "+rest)
	}
	if u := c.table.UnitColumn; u != "" {
		from("JOIN " + quoteName(c.table.Name) + " AS b ON a." + quoteName(u) + " = b." + quoteName(u))
		from("WHERE EXISTS (SELECT 1 FROM " + quoteName(c.table.Name) + " AS b WHERE a." + quoteName(u) + " = b." + quoteName(u) + ")")
		c.questions = append(c.questions, "SELECT SUM(n) FROM (SELECT "+quoteName(u)+", COUNT(*) AS n FROM "+quoteName(c.table.Name)+
			" GROUP BY "+quoteName(u)+") AS t")
	}
	for _, step := range c.table.Path[:min(1, len(c.table.Path))] {
		for _, how := range []string{"JOIN ", "LEFT JOIN "} {
			from(how + quoteName(step.Table) + " AS b ON a." + quoteName(step.Column) + " = b." + quoteName(step.Key))
		}
	}
	for _, other := range ds.TableNames() {
		public := ds.Tables[other]
		if !public.Public {
			continue
		}
		for _, n := range c.table.ColumnNames() {
			for _, m := range public.ColumnNames() {
				if c.table.Columns[n].Type == public.Columns[m].Type && (n == m || m == public.UniqueColumn) {
					from("LEFT JOIN " + quoteName(other) + " AS b ON a." + quoteName(n) + " = b." + quoteName(m))
				}
			}
		}
	}
}

type corpus struct {
	table     *policy.Table
	questions []string
}

// ask adds a question about the table.
func (c *corpus) ask(list, rest string) {
	c.questions = append(c.questions, strings.TrimSpace("SELECT "+list+" FROM "+quoteName(c.table.Name)+" "+rest))
}

func (c *corpus) write() {
	var summed, keys []string
	c.ask("COUNT(*)", "")
	for _, n := range c.table.ColumnNames() {
		col := c.table.Columns[n]
		c.column(col)
		if col.Bounds != nil && col.Type != policy.Date && col.Type != policy.Timestamp {
			summed = append(summed, quoteName(n))
		}
		if k := len(col.PublicValues()); k > 0 && k <= maxCorpusGroups {
			keys = append(keys, quoteName(n))
		}
	}
	aggregates := "COUNT(*)"
	for _, s := range summed[:min(len(summed), 2)] {
		aggregates += ", SUM(" + s + "), AVG(" + s + ")"
	}
	if len(summed) > 0 {
		c.ask(aggregates, "")
	}
	if len(summed) > 1 {
		a, b := summed[0], summed[1]
		c.ask("SUM("+a+" - "+b+")", "")
		c.ask("SUM("+a+" * "+b+")", "")
		c.ask("COUNT(*)", "WHERE "+a+" / "+b+" > 1")
	}
	for i, k := range keys {
		c.ask(k+", COUNT(*)", "GROUP BY "+k)
		if aggregates != "COUNT(*)" {
			c.ask(k+", "+aggregates, "GROUP BY "+k)
		}
		if i > 0 {
			c.ask("COUNT(*)", "GROUP BY "+keys[i-1]+", "+k)
		}
	}
	if len(keys) > 1 { // what is released together
		c.ask(keys[0]+", "+keys[1]+", "+aggregates, "GROUP BY CUBE ("+keys[0]+", "+keys[1]+")")
	}
	if len(keys) > 0 {
		k := keys[0]
		c.ask(k+", SUM(COUNT(*)) OVER (ORDER BY "+k+")", "GROUP BY "+k)
		c.ask(k+", COUNT(*)", "GROUP BY "+k+" HAVING COUNT(*) > 5")
		c.ask(k+", COUNT(*)", "GROUP BY "+k+" ORDER BY COUNT(*) DESC LIMIT 3")
		c.ask(k, "GROUP BY "+k+" ORDER BY COUNT(*) DESC LIMIT 2")
		if len(summed) > 0 {
			c.ask(k+", MEDIAN("+summed[0]+")", "GROUP BY "+k)
		}
	}
}

func (c *corpus) column(col *policy.Column) {
	n := quoteName(col.Name)
	c.ask("COUNT("+n+")", "")
	c.ask("COUNT(*)", "WHERE "+n+" IS NULL")
	if b := col.Bounds; b != nil {
		middle := spellConstant(col, b.LoSteps+(b.HiSteps-b.LoSteps)/2)
		c.ask("COUNT(*)", "WHERE "+n+" > "+middle)
		c.ask("COUNT(*)", "WHERE "+n+" BETWEEN "+spellConstant(col, b.LoSteps)+" AND "+middle)
		if col.Type != policy.Date && col.Type != policy.Timestamp {
			c.ask("SUM("+n+")", "")
			c.ask("AVG("+n+")", "")
			c.ask("SUM("+n+" - "+middle+")", "WHERE "+n+" <> "+middle)
			c.ask("MEDIAN("+n+"), MAX("+n+")", "")
			c.ask("SUM(0 - "+n+"), COUNT("+n+")", "")
			c.ask("COUNT(*)", "WHERE 1 / ("+n+" - "+middle+") IS NOT NULL") // divides one value by zero
		}
	}
	switch col.Type {
	case policy.Boolean:
		c.ask("COUNT(*)", "WHERE "+n)
		c.ask("COUNT(*)", "WHERE NOT "+n)
	case policy.Date, policy.Timestamp:
		c.ask("COUNT(*)", "WHERE "+n+" >= '2024-02-29'")
	case policy.Text:
		list := "'a', 'é', ''''"
		for _, k := range col.PublicValues()[:min(1, len(col.PublicValues()))] {
			list += ", " + quoteText(k.Text)
			c.ask("COUNT(*)", "WHERE "+n+" <> "+quoteText(k.Text))
		}
		c.ask("COUNT(*)", "WHERE "+n+" IN ("+list+")")
	case policy.Decimal, policy.Integer:
		c.ask("COUNT(*)", "WHERE "+n+" > 0.5 OR "+n+" < 0 - 1e9")
	}
}

// spellConstant spells a point of a column's lattice.
func spellConstant(c *policy.Column, steps int64) string {
	if c.Type == policy.Date || c.Type == policy.Timestamp {
		return quoteText(c.Show(steps))
	}
	return fmt.Sprintf("(%s)", c.Show(steps))
}

func quoteText(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

func quoteName(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }
