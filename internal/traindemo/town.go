package traindemo

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// CSV writes the rows as people see them, with the number of each person in front; the target only
// where it is wanted.
func (d *Data) CSV(w io.Writer, person string, target bool) error {
	columns := append(d.Encoding.Features[:len(d.Encoding.Features):len(d.Encoding.Features)], d.Encoding.Target)
	if !target {
		columns = columns[:len(columns)-1]
	}
	out := bufio.NewWriter(w)
	out.WriteString(person)
	for _, c := range columns {
		out.WriteString("," + c.Name)
	}
	out.WriteByte('\n')
	for n, row := range d.Rows {
		out.WriteString(strconv.Itoa(n + 1))
		for i, c := range columns {
			if c.Categorical() {
				out.WriteString("," + c.Values[row[i]])
			} else {
				out.WriteString("," + strconv.FormatInt(row[i], 10))
			}
		}
		out.WriteByte('\n')
	}
	return out.Flush()
}

// Policy is a policy for the rows as a table of a name, in a folder.
func (d *Data) Policy(table, person, folder, budget string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "datasets:\n  %s:\n    engine: duckdb\n    source: %s\n    unit: %s.%s\n    budget: %s\n    analysts: {ana: {share: "+
		"1}}\n    tables:\n      %s:\n        unique: %s\n        columns:\n",
		table, folder, table, person, budget, table, person)
	for _, c := range append(d.Encoding.Features[:len(d.Encoding.Features):len(d.Encoding.Features)], d.Encoding.Target) {
		if c.Categorical() {
			fmt.Fprintf(&b, "          %s: {type: text, keys: [%s]}\n", c.Name, strings.Join(c.Values, ", "))
		} else {
			fmt.Fprintf(&b, "          %s: {type: integer, bounds: [%d, %d]}\n", c.Name, c.Lo, c.Hi)
		}
	}
	return b.String()
}
