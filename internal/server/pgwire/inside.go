package pgwire

import (
	"errors"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/grammar"
)

// enclose finds the SELECT inside of a statement, which stands behind a word of its own, and
// decides who answers that. What it costs and when its answer leaves is decided where every SELECT
// is run: there is no second way to the data.
func (s *session) enclose(st *statement, inside *pg.Node, behind pg.Token) error {
	if inside.GetSelectStmt() == nil {
		return failure(notSupported, "this statement takes a SELECT, and nothing else").hinting("nothing is written here")
	}
	from, to := between(st.read.Words(st.from, st.to), behind, st.to-st.from)
	st.inner = &statement{text: st.text, from: st.from + from, to: st.from + to, read: st.read, node: inside, values: st.values,
		words: st.words}
	return st.moved(s.route(st.inner))
}

// between is what stands behind the first word of a kind, of which the tree does not say where it
// is: up to its closing parenthesis, where the word is an opening one, and otherwise up to the end.
func between(words []grammar.Word, behind pg.Token, end int) (from, to int) {
	depth, found := 0, false
	for _, w := range words {
		switch {
		case w.Kind == behind && depth == 0 && !found:
			from, found = int(w.End), true
		case w.Kind == pg.Token_ASCII_41 && depth == 0 && found && behind == pg.Token_ASCII_40:
			return from, int(w.Start)
		case w.Kind == pg.Token_ASCII_40:
			depth++
		case w.Kind == pg.Token_ASCII_41:
			depth--
		}
	}
	return from, end
}

// moved is an error of the statement inside, with its place in the whole.
func (st *statement) moved(err error) error {
	if st.inner.text != st.text {
		return placeless(err)
	}
	return shifted(err, st.inner.from-st.from)
}

// shifted moves the place of an error.
func shifted(err error, by int) error {
	var wire *wireError
	if errors.As(err, &wire) && wire.position > 0 {
		moved := *wire
		moved.position += by
		return &moved
	}
	return err
}

// placeless takes the place off an error: it is one in another text than the client has sent.
func placeless(err error) error {
	var wire *wireError
	if errors.As(err, &wire) {
		bare := *wire
		bare.position, bare.character = 0, 0
		return &bare
	}
	return err
}

// alone is the statement inside, in a text of its own, for who keeps it.
func (st *statement) alone() *statement {
	out := *st.inner
	out.text = strings.Clone(st.inner.sql())
	out.from, out.to = 0, len(out.text)
	out.question = nil // trees are large
	return &out
}
