package duckdb

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/internal/dialect"
)

// optimizers are the rules of DuckDB's optimizer that may touch a question, each with the reason
// why it can do no harm. All others are off, those of later versions too. What is wanted of a rule:
// it computes no constant, it evaluates nothing that was not asked for, it moves nothing out of
// TRY, and it believes no statistics about what a computation can be.
//
// Of those that are off, harmful ones are known to do harm, and tests show it. Others are off
// because they could: statistics_propagation takes checks out of arithmetic, and conditions out of
// a statement, and compressed_materialization cuts numbers to what statistics say, of a Parquet
// file what whoever wrote it says; join_order lets the sizes of intermediate results decide how
// often a row is multiplied before it is dropped; build_side_probe_side lets one row turn a join
// round, and the printer knows which side is smaller by numbers that are public;
// join_filter_pushdown makes how much is read depend on the keys of single rows; and
// top_n_window_elimination was reported to give wrong results.
var optimizers = map[string]string{
	"filter_pushdown": "conditions are looked at earlier: they cannot fail, so nothing but time depends on when",
	"unused_columns":  "columns that nobody uses are not read",
	"column_lifetime": "columns are dropped after their last use",
	"deliminator":     "a subquery that asks about the row outside becomes a plain join with it",
	"cte_inlining":    "a part of a statement with a name is put where it is used, once",
	"limit_pushdown":  "there is a LIMIT where public tables are read and nowhere else",
}

// harmful are the rules that must be off, and why.
var harmful = map[string]string{
	"expression_rewriter": "it makes x * (c1 * c2) of (x * c1) * c2, and so an overflow of what had none, and x > 5 of TRY_CAST(x AS " +
		"...) > 5, which is NULL where x does " +
		"not fit; package plan computes with constants, in integers of any size",
	"common_subexpressions": "it moves what stands twice inside of TRY out of it, where it fails",
}

// restrictOptimizer turns off all rules of a DuckDB that are not allowed.
func restrictOptimizer(ctx context.Context, db *sql.DB) error {
	disabled, err := disabledOptimizers(ctx, db)
	if err != nil {
		return err
	}
	set := "SET disabled_optimizers = " + dialect.QuoteText(strings.Join(disabled, ","))
	if _, err := db.ExecContext(ctx, set); err != nil {
		return fmt.Errorf("lock DuckDB (%s): %w", set, err)
	}
	return nil
}

// disabledOptimizers names all rules of this DuckDB that are not allowed.
func disabledOptimizers(ctx context.Context, db *sql.DB) ([]string, error) {
	rows, err := db.QueryContext(ctx, "SELECT name FROM duckdb_optimizers()")
	if err != nil {
		return nil, fmt.Errorf("lock DuckDB: its optimizer's rules cannot be listed: %w", err)
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		if _, ok := optimizers[name]; !ok {
			out = append(out, name)
		}
	}
	return out, rows.Err()
}
