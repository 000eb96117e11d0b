// Command tpch measures questions about TPC-H, and about people with ten rows each, in private form
// beside the same plain queries in DuckDB and in PostgreSQL. The script run beside it makes the
// data, starts the server and calls it:
//
//	tpch tpch --parquet FOLDER --duckdb FILE --host FOLDER --database NAME
//	tpch rows --host FOLDER --database NAME --millions N
//
// and the script trino makes them in a Trino cluster, and calls
//
//	tpch trino --url URL --catalog NAME --schema NAME --user NAME --times N
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"slices"
	"time"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) < 2 {
		log.Fatal("usage: tpch tpch|rows|trino FLAGS; see the scripts run and trino")
	}
	flags := flag.NewFlagSet(os.Args[1], flag.ExitOnError)
	parquet := flags.String("parquet", "", "the folder of the Parquet files")
	file := flags.String("duckdb", "", "the DuckDB file, which is made of them where it is not there")
	host := flags.String("host", "", "the folder of PostgreSQL's socket")
	database := flags.String("database", "", "the database")
	millions := flags.Int("millions", 1, "how many million rows the table has")
	var t trino
	flags.StringVar(&t.url, "url", "", "the address of a Trino cluster")
	flags.StringVar(&t.catalog, "catalog", "", "its catalog")
	flags.StringVar(&t.schema, "schema", "", "the schema of the tables")
	user := flags.String("user", "", "who may read these tables, and nothing else")
	asked := flags.Int("times", times, "how often Trino is asked each question, up to five times")
	if err := flags.Parse(os.Args[2:]); err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	var err error
	switch os.Args[1] {
	case "tpch":
		err = tpch(ctx, *parquet, *file, *host, *database)
	case "rows":
		err = rows(ctx, *host, *database, *millions)
	case "trino":
		err = clustered(ctx, t, *user, min(max(*asked, 1), times))
	default:
		err = fmt.Errorf("%q is none of tpch, rows and trino", os.Args[1])
	}
	if err != nil {
		log.Fatal(err)
	}
}

func median[T float64 | time.Duration](all []T) T {
	if len(all) == 0 {
		return 0
	}
	return slices.Sorted(slices.Values(all))[len(all)/2]
}

func ms(d time.Duration) string {
	switch x := float64(d.Microseconds()) / 1000; {
	case x >= 100:
		return fmt.Sprintf("%.0f", x)
	case x >= 10:
		return fmt.Sprintf("%.1f", x)
	default:
		return fmt.Sprintf("%.2f", x)
	}
}

func ratio(one, other time.Duration) string { return fmt.Sprintf("%.2f", float64(one)/float64(other)) }
