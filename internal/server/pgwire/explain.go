package pgwire

import (
	"encoding/json"
	"strconv"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/planner/grammar"
	"github.com/discreet-dp/discreet/internal/render"
)

// explainTarget is the statement in an EXPLAIN.
type explainTarget struct {
	sql       string
	at        int // where it begins
	catalogue bool
	json      bool
	execute   *pg.ExecuteStmt // of EXPLAIN EXECUTE
}

func (e explainTarget) columns() []column {
	if e.json {
		return []column{{name: "QUERY PLAN", oid: jsonOID}}
	}
	return []column{{name: "QUERY PLAN", oid: textOID}}
}

// readExplain reads the options and finds the statement, of which the tree does not say where it
// begins.
func (r *router) readExplain(st *statement, n *pg.ExplainStmt) (explainTarget, error) {
	var e explainTarget
	for _, o := range n.Options {
		d := o.GetDefElem()
		format := strings.ToLower(d.GetArg().GetString_().GetSval())
		switch {
		case d.GetDefname() == "format" && format == "json":
			e.json = true
		case d.GetDefname() == "format" && format == "text":
			e.json = false
		case !isHarmlessOption(d):
			return e,
				failure(notSupported, "EXPLAIN prints the privacy plan: what a question costs and how exact it is. How an engine computes "+
					"it depends on the data, so of its options only FORMAT TEXT, FORMAT JSON and VERBOSE can be on").
					withHint("write EXPLAIN SELECT ...; it is free, and nothing is computed from the data")
		}
	}
	if e.execute = n.Query.GetExecuteStmt(); e.execute != nil {
		if st.to-st.from > maxCommandBytes {
			return e, failure(tooComplex, "a statement that is not a SELECT can have at most %d bytes", maxCommandBytes)
		}
		return e, nil
	}
	words := st.parsed.Words(st.from, st.to)
	if d := n.Query.GetDeclareCursorStmt(); d != nil { // the cursor is not made
		n.Query = d.Query
		e.at, _ = findInside(words, pg.Token_FOR, st.to-st.from)
	} else if n.Query.GetSelectStmt() == nil {
		return e, failure(notSupported, "only a SELECT can be explained").withHint("write EXPLAIN SELECT ...")
	} else {
		e.at = afterExplain(words, len(n.Options) > 0)
	}
	e.sql, e.catalogue = st.sql()[e.at:], r.catalog.About(n.Query.GetSelectStmt())
	return e, nil
}

// afterExplain is where the statement begins, behind EXPLAIN and its options.
func afterExplain(words []grammar.Word, options bool) int {
	depth, word := 0, 0
	for _, w := range words {
		if w.Kind == pg.Token_SQL_COMMENT || w.Kind == pg.Token_C_COMMENT {
			continue
		}
		word++
		if word == 1 { // EXPLAIN
			continue
		}
		if options && (word == 2 || depth > 0) { // options stand in parentheses
			switch w.Kind {
			case pg.Token_ASCII_40:
				depth++
			case pg.Token_ASCII_41:
				depth--
			}
			continue
		}
		return int(w.Start)
	}
	return 0
}

// isHarmlessOption says whether an option of EXPLAIN asks for nothing: it is off, or it is for how
// much of a plan is shown, and the plan of the privacy is shown whole. Tools write down all
// options.
func isHarmlessOption(d *pg.DefElem) bool {
	switch d.GetDefname() {
	case "verbose", "costs", "summary", "generic_plan":
		return true
	case "analyze", "buffers", "timing", "wal", "settings", "memory":
		on, err := acceptSwitch(optionText(d.GetArg()))
		return err == nil && on == "off"
	}
	return false
}

func (r *runner) runExplain(st *statement, values []argument) (*result, error) {
	e := st.explained
	if e.execute != nil {
		found, given, err := r.describer.findPrepared(e.execute)
		if err != nil {
			return nil, err
		}
		st, values, e.sql, e.catalogue = found, given, found.sql(), found.kind == catalogueStatement
	}
	out := &result{tag: "EXPLAIN", columns: e.columns()}
	if e.catalogue {
		text := "about the catalogue or about no table: free, exact, and not about the data"
		if e.json {
			text = `[{"free": ["about the catalogue or about no table"]}]`
		}
		out.rows = [][]any{{text}}
		return out, nil
	}
	found, err := r.asker.explain(r.asker.question(st, e.sql, values, ""))
	if err != nil {
		return nil, shiftPosition(err, e.at)
	}
	if e.json { // a list of one, as PostgreSQL has it: sqlx reads no other
		text, err := json.MarshalIndent([]*api.Explanation{found}, "", "  ")
		if err != nil {
			return nil, internalFailure()
		}
		out.rows = [][]any{{string(text)}}
		return out, nil
	}
	var text strings.Builder
	render.Explanation(&text, found)
	for line := range strings.Lines(text.String()) {
		out.rows = append(out.rows, []any{strings.TrimRight(line, " \n")})
	}
	return out, nil
}

// optionText is the value of an option as it was written; an option without one is on.
func optionText(n *pg.Node) string {
	switch v := n.GetNode().(type) {
	case nil:
		return "on"
	case *pg.Node_Integer:
		return strconv.Itoa(int(v.Integer.GetIval()))
	case *pg.Node_String_:
		return v.String_.GetSval()
	}
	return ""
}
