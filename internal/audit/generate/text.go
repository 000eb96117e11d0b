package generate

import (
	"regexp"
	"strings"

	"github.com/discreet-dp/discreet/internal/detrand"
)

var token = regexp.MustCompile(`'(?:[^']|'')*'|[A-Za-z_][A-Za-z_0-9.]*|[0-9.]+|\s+|.`)

// strange is what is put into a text: words of the grammar, functions of PostgreSQL and DuckDB that
// must not exist here, and what breaks readers.
var strange = strings.Fields(
	`SELECT FROM WHERE GROUP BY HAVING ORDER LIMIT OFFSET UNION ALL INTERSECT EXCEPT DISTINCT AS ON USING JOIN LEFT RIGHT FULL NATURAL
	CROSS LATERAL WITH RECURSIVE MATERIALIZED CASE WHEN THEN ELSE END CAST NULL TRUE FALSE AND OR NOT IN EXISTS ANY SOME BETWEEN SYMMETRIC LIKE ILIKE SIMILAR IS
	UNKNOWN OVER PARTITION WINDOW FILTER WITHIN VALUES TABLE ONLY TABLESAMPLE FETCH FIRST ROWS TIES FOR UPDATE INTO ROLLUP( CUBE( GROUPING SETS ARRAY[ ROW( COLLATE
	"C" INTERVAL DATE TIMESTAMP EXTRACT( COALESCE( NULLIF( GREATEST( count( sum( avg( min( max( median( variance( stddev( percentile_cont( string_agg( array_agg(
	json_agg( first( last( any_value( mode( corr( regr_slope( bit_and( approx_count_distinct( histogram( list( arg_max( quantile_cont( reservoir_quantile(
	random() setseed( gen_random_uuid() now() clock_timestamp() pg_sleep( txid_current() version() current_setting( set_config( pg_read_file( lo_import( dblink(
	query_to_xml( generate_series( unnest( read_csv( read_parquet( read_text( glob( query( query_table( duckdb_tables() pragma_table_info( getenv( hash( error(
	sqrt( ln( exp( power( factorial( repeat( regexp_matches( to_date( strptime( row_number() lag( ntile( ctid rowid xmin tableoid oid * ( ) [ ] { } , ; : :: . .. =
	<> != < <= > >= + - * / % ^ | || & # ~ !~ @> ? $1 $$ -- /* */ ' " "" '' E'\' U&'\0061' X'1F' B'01' 1e400 -0 0x1F 1_000 .5 5. 99999999999999999999999999
	é e` + "\u0301" + ` ` + "\u200b" + ` ﬁ İ ` + "\U0001F600" + ` ` + "\ufeff" + ` ` + "\u202e" + ` ` + "\u00a0" + ` released_0 pid patients visits codes information_schema.tables`)

// Text makes a text near the grammar: a question in which some words are others, or twice, or not
// there, or in another place.
func (m *Maker) Text(d Dice) string {
	words := token.FindAllString(m.Question(d), -1)
	for range 1 + d.Below(2) {
		i := d.Below(len(words))
		switch d.Below(9) {
		case 0:
			words = append(words[:i:i], words[i+1:]...)
		case 1:
			words = append(words[:i+1:i+1], words[i:]...)
		case 2:
			k := d.Below(len(words))
			words[i], words[k] = words[k], words[i]
		case 3:
			words[i] = " " + detrand.Pick(d, strange) + " "
		case 4, 5:
			words = append(words[:i:i], append([]string{" " + detrand.Pick(d, strange) + " "}, words[i:]...)...)
		case 6:
			words[i] = "(" + words[i] + ")"
		case 7:
			words = words[:i+1]
		case 8: // a piece of itself in the middle
			k := i + d.Below(len(words)-i)
			words = append(words[:k:k], append(append([]string{}, words[i:k]...), words[k:]...)...)
		}
		if len(words) == 0 {
			return ""
		}
	}
	return strings.Join(words, "")
}
