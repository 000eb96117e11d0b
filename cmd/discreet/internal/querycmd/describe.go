package querycmd

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/internal/table"
	"github.com/discreet-dp/discreet/policy"
)

// What is shown here is in the policy. Nothing is read from the data.

func printDatasets(w io.Writer, p *policy.Policy, current *policy.Dataset) {
	t := &table.Table{Header: []string{"", "dataset", "unit", "budget", "tables"}}
	for _, name := range p.Names() {
		ds := p.Datasets[name]
		mark := ""
		if ds == current {
			mark = "*"
		}
		budget := "epsilon " + ds.Budget.Epsilon.String()
		if !ds.Budget.Pure() {
			budget += " at delta " + ds.Budget.Delta.String()
		}
		t.Add(mark, name, ds.Unit.String(), budget, strings.Join(ds.TableNames(), ", "))
	}
	t.Write(w)
}

func printTables(w io.Writer, ds *policy.Dataset) {
	t := &table.Table{Header: []string{"table", "columns", "a person has"}, Right: []bool{false, true}}
	for _, name := range ds.TableNames() {
		t.Add(name, strconv.Itoa(len(ds.Tables[name].Columns)), ownerOfRows(ds.Tables[name]))
	}
	for _, name := range ds.ViewNames() {
		t.Add(name, "-", "a view: "+ds.Views[name])
	}
	t.Write(w)
}

func printColumns(w io.Writer, ds *policy.Dataset, of *policy.Table) {
	t := &table.Table{Header: []string{"column", "type", "null", "bounds", "step", "sum and avg", "group by", "keys"}}
	for _, name := range of.ColumnNames() {
		c := of.Columns[name]
		cells := console.DescribeColumn(of, c)
		null, step := "yes", "-"
		if !c.Nullable {
			null = "no"
		}
		if c.Bounds != nil && c.Granularity != nil && c.Type != policy.Date {
			step = c.Show(1)
		}
		t.Add(name, cells[2], null, cells[3], step, cells[5], cells[6], keyList(c))
	}
	t.Write(w)
	fmt.Fprintf(w, "unit: %v; a person %s\n", ds.Unit, strings.Replace("has "+ownerOfRows(of), "has is", "is", 1))
}

// keyList shows the first keys and says how many there are.
func keyList(c *policy.Column) string {
	if c.Keys == policy.PrivateKeys {
		return "private"
	}
	keys := c.PublicValues()
	if c.Keys != policy.PublicKeys && len(keys) > 2 {
		return fmt.Sprintf("all %d between the bounds", len(keys))
	}
	var shown []string
	length := 0
	for i, v := range keys {
		text := c.ShowValue(v)
		if length += len(text) + 2; length > 60 && i > 0 {
			return fmt.Sprintf("%s, ... (%d)", strings.Join(shown, ", "), len(keys))
		}
		shown = append(shown, text)
	}
	if len(shown) == 0 {
		return "-"
	}
	return strings.Join(shown, ", ")
}
