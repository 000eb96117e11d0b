package duckdb

import (
	"fmt"
	"strings"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/internal/audit/sample"
)

// drawNumber draws a number in SQL.
func drawNumber(t *rapid.T, depth int) string {
	switch k := rapid.IntRange(0, 8).Draw(t, "number"); {
	case k == 8:
		return sample.DrawNumber(t, depth)
	case depth == 0 || k < 3:
		return rapid.SampledFrom([]string{"i", "n", "j", "g", "d", "e", "i", "d"}).Draw(t, "column")
	case k == 3:
		return rapid.SampledFrom([]string{"0", "1", "2", "3", "-1", "-7", "0.5", "0.01", "2.25", "100", "9223372036854775807", "'4'",
			"NULL", "1e20", "0.333"}).Draw(t, "constant")
	case k == 4:
		return "(- " + drawNumber(t, depth-1) + ")"
	}
	op := rapid.SampledFrom([]string{"+", "-", "*", "/", "%"}).Draw(t, "operator")
	return "(" + drawNumber(t, depth-1) + " " + op + " " + drawNumber(t, depth-1) + ")"
}

var comparisons = rapid.SampledFrom([]string{"=", "<>", "<", "<=", ">", ">="})

// drawCondition draws a condition in SQL.
func drawCondition(t *rapid.T, depth int) string {
	k := rapid.IntRange(0, 15).Draw(t, "condition")
	if k > 13 {
		return sample.DrawCondition(t, 2)
	}
	if depth == 0 {
		k = min(k, 9)
	}
	compare := comparisons.Draw(t, "comparison")
	switch k {
	case 0, 1, 2:
		return "(" + drawNumber(t, 2) + " " + compare + " " + drawNumber(t, 2) + ")"
	case 3:
		return "(r " + compare + " " + rapid.SampledFrom([]string{"0", "1.5", "i", "j", "d / i", "e / 3", "1e20"}).Draw(t, "real") + ")"
	case 4:
		return rapid.SampledFrom([]string{"s = 'a'", "s <> ''", "s < 'b'", "s >= 'é'", "s IN ('b', 'a', 'x')", "s NOT IN ('a')",
			"s = NULL"}).Draw(t, "text")
	case 5:
		return rapid.SampledFrom([]string{"b", "b = true", "b < true", "b <> false", "b IN (true)", "true", "false", "NULL"}).Draw(t,
			"boolean")
	case 6:
		column := rapid.SampledFrom([]string{"y", "z"}).Draw(t, "date")
		return rapid.SampledFrom([]string{column + " " + compare + " '2024-02-29'", column + " IN ('2024-02-28', '2024-03-01')",
			"y " + compare + " z"}).Draw(t, "dates")
	case 7:
		return drawNumber(t, 1) + " IN (1, 2.5, -1, 50, '3', 0.25)"
	case 8:
		return drawNumber(t, 2) + " BETWEEN -1 AND " + drawNumber(t, 1)
	case 9:
		x := rapid.SampledFrom([]string{"s", "b", "y", "z", "r", drawNumber(t, 2)}).Draw(t, "tested")
		return "(" + x + rapid.SampledFrom([]string{" IS NULL", " IS NOT NULL"}).Draw(t, "null") + ")"
	case 10:
		return "NOT (" + drawCondition(t, depth-1) + ")"
	case 11:
		return "((" + drawCondition(t, depth-1) + ") " + compare + " (" + drawCondition(t, depth-1) + "))"
	}
	op := rapid.SampledFrom([]string{" AND ", " OR "}).Draw(t, "logic")
	parts := make([]string, rapid.IntRange(2, 4).Draw(t, "parts"))
	for i := range parts {
		parts[i] = "(" + drawCondition(t, depth-1) + ")"
	}
	return strings.Join(parts, op)
}

// drawQuestion draws a question. Some are refused, which is the planner's right.
func drawQuestion(t *rapid.T) string {
	var list []string
	for range rapid.IntRange(1, 3).Draw(t, "aggregates") {
		switch rapid.IntRange(0, 5).Draw(t, "aggregate") {
		case 0, 1:
			list = append(list, "COUNT(*)")
		case 2:
			list = append(list, "COUNT("+drawNumber(t, 1)+")")
		case 3:
			list = append(list, "COUNT("+rapid.SampledFrom([]string{"s", "b", "y", "r", "i > 2"}).Draw(t, "counted")+")")
		case 4:
			list = append(list, "SUM("+drawBounded(t, 2)+")")
		default:
			list = append(list, "AVG("+drawBounded(t, 1)+")")
		}
	}
	text := "SELECT " + strings.Join(list, ", ") + " FROM t"
	if rapid.IntRange(0, 3).Draw(t, "where") > 0 {
		text += " WHERE " + drawCondition(t, 2)
	}
	keys := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"s", "b", "y", "n", "g"}), 0, 3, rapid.ID).Draw(t, "keys")
	if len(keys) > 0 {
		text += " GROUP BY " + strings.Join(keys, ", ")
	}
	return text
}

// drawBounded draws a number that can be summed.
func drawBounded(t *rapid.T, depth int) string {
	if depth == 0 || rapid.IntRange(0, 2).Draw(t, "bounded") == 0 {
		return rapid.SampledFrom([]string{"i", "n", "g", "d", "3", "0.5"}).Draw(t, "column")
	}
	op := rapid.SampledFrom([]string{"+", "-", "*"}).Draw(t, "operator")
	if rapid.IntRange(0, 2).Draw(t, "function") == 0 {
		x, y := drawBounded(t, depth-1), drawBounded(t, depth-1)
		return rapid.SampledFrom([]string{"abs(" + x + ")", "round(" + x + ")", "round(" + x + " / 3.0, 1)", "floor(" + x + ")",
			"greatest(" + x + ", " + y + ")", "coalesce(" + x + ", " + y + ")", "nullif(" + x + ", " + y + ")",
			"CASE WHEN " + drawCondition(t, 0) + " THEN " + x + " ELSE " + y + " END", "least(greatest(j, -3), " + "7)",
			"length(left(x, 4))", "extract(day from z)", "CAST(x AS numeric(4,1))", "CAST(b AS integer)", "y - DATE '2024-02-28'",
			"extract(hour from q)"}).Draw(t, "call")
	}
	if rapid.IntRange(0, 4).Draw(t, "divide") == 0 {
		return fmt.Sprintf("(i %s %s)", rapid.SampledFrom([]string{"/", "%"}).Draw(t, "division"),
			rapid.SampledFrom([]string{"n", "2", "-3", "i", "0"}).Draw(t, "divisor"))
	}
	return "(" + drawBounded(t, depth-1) + " " + op + " " + drawBounded(t, depth-1) + ")"
}
