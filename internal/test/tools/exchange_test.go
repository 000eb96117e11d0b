package tools

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
)

// exchange is what a server said to a statement.
type exchange struct {
	err       *pgproto3.ErrorResponse
	lost      error // the connection is gone
	types     []uint32
	columns   []column
	rows      [][][]byte
	suspended bool
}

// failure is why there is no answer, or nil.
func (e *exchange) failure() error {
	if e.err != nil {
		return errors.New(e.err.Message)
	}
	return e.lost
}

// column is what a server says of a column of a result.
type column struct {
	name string
	oid  uint32
}

func (s *connection) simple(sql string) *exchange {
	s.Frontend.Send(&pgproto3.Query{String: sql})
	e := &exchange{}
	s.read(e, false)
	return e
}

// read takes messages until the server waits for the next one, or, after a Flush in the place of
// a Sync, until there are no more.
func (s *connection) read(e *exchange, flushed bool) {
	_ = s.Conn.SetDeadline(time.Now().Add(2 * time.Minute))
	if e.lost = s.Frontend.Flush(); e.lost != nil {
		return
	}
	for {
		m, err := s.Frontend.Receive()
		if err != nil {
			e.lost = err
			return
		}
		switch m := m.(type) {
		case *pgproto3.ErrorResponse:
			if e.err == nil {
				e.err = &pgproto3.ErrorResponse{Severity: m.Severity, Code: m.Code, Message: m.Message, Hint: m.Hint}
			}
			if s.status == 'T' {
				s.status = 'E'
			}
			if m.Severity == "FATAL" {
				e.lost = fmt.Errorf("%s", m.Message)
			}
			if m.Severity == "FATAL" || flushed {
				return
			}
		case *pgproto3.ParameterDescription:
			e.types = slices.Clone(m.ParameterOIDs)
		case *pgproto3.RowDescription:
			e.columns = nil
			for _, f := range m.Fields {
				e.columns = append(e.columns, column{string(f.Name), f.DataTypeOID})
			}
		case *pgproto3.DataRow:
			row := make([][]byte, len(m.Values))
			for i, v := range m.Values {
				row[i] = slices.Clone(v)
			}
			e.rows = append(e.rows, row)
		case *pgproto3.CopyInResponse:
			s.Frontend.Send(&pgproto3.CopyFail{Message: "nothing is sent"})
			if e.lost = s.Frontend.Flush(); e.lost != nil {
				return
			}
		case *pgproto3.PortalSuspended:
			e.suspended = true
			if flushed {
				return
			}
		case *pgproto3.CommandComplete, *pgproto3.EmptyQueryResponse:
			if flushed {
				return
			}
		case *pgproto3.ReadyForQuery:
			s.status = m.TxStatus
			return
		}
	}
}

// reasons of privacy, each by what its refusals say. What is refused with other words is a defect
// of the server, or a reason to be added here after somebody has thought about it.
var reasons = []struct {
	name string
	says *regexp.Regexp
}{
	{"rows", regexp.MustCompile(`would show rows|values of single rows cannot be shown|rows of the data|the question selects no aggregate|` +
		`LIMIT cannot be used in a subquery of rows`)},
	{"person", regexp.MustCompile(`identifies people or their records`)},
	{"read-only", regexp.MustCompile(`nothing (can be|is) written here|nothing to lock`)},
	{"keys", regexp.MustCompile(`\b(cost|pid) has no public keys`)}, // all other columns have keys or bounds
	{"groups", regexp.MustCompile(`can have more values than an answer can have groups`)},
	{"bounds", regexp.MustCompile(`needs a column with bounds`)},
	{"value", regexp.MustCompile(`would be the value of one person`)},
	{"others", regexp.MustCompile(`would see rows of others`)},
	{"joined", regexp.MustCompile(`can only be joined where both rows are about the same person`)},
	{"plan", regexp.MustCompile(`ANALYZE|how the engine works`)},
}

func reasonOf(text string) string {
	for _, r := range reasons {
		if r.says.MatchString(text) {
			return r.name
		}
	}
	return ""
}

// outcome sorts what came of a statement.
func (e *exchange) outcome(s *statement, charged bool) string {
	if e.err != nil && charged && !s.hasSeveralStatements() {
		return "FAILED: it was charged for and refused: " + e.err.Message
	}
	if e.err != nil {
		if s.postgres != "" && e.err.Code != "XX000" {
			return "absent"
		}
		if reason := reasonOf(e.err.Message); reason != "" {
			return "private " + reason
		}
		return fmt.Sprintf("FAILED %s %.200s", e.err.Code, strings.Join(strings.Fields(e.err.Message), " "))
	}
	if charged {
		return "paid"
	}
	return "free"
}

// hasSeveralStatements reports whether a text can hold more than one statement, of which a later
// one failed.
func (s *statement) hasSeveralStatements() bool {
	return strings.Contains(strings.TrimRight(s.sql, "; \n"), ";")
}
