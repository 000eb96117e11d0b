package httpapi

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/internal/server/clientlimits"
	"github.com/discreet-dp/discreet/ledger"
)

// Line is a line of an answer that is sent row by row. It has one of meta, row and end.
type Line struct {
	Meta *Meta `json:"meta,omitempty" doc:"The first line"`
	// Row, Errors and Whole are of a row.
	Row    []any        `json:"row,omitempty" doc:"The values of a row"`
	Errors []*float64   `json:"errors,omitempty" doc:"The error bars of a row; left out if nobody knows them"`
	Whole  []*api.Range `json:"whole,omitempty" doc:"For each value of the row, the interval that includes what limits cut; left out without a profile"`
	End    *End         `json:"end,omitempty" doc:"The last line. An answer without this line was cut off"`
}

// Meta is everything about an answer but its rows.
type Meta struct {
	Columns    api.List[api.Column]   `json:"columns"`
	Cost       dp.Cost                `json:"cost"`
	Remaining  api.Remaining          `json:"remaining"`
	More       *int64                 `json:"more,omitempty" doc:"About how many more answers you can pay for at this price; missing if this one was free"`
	Receipt    api.Receipt            `json:"receipt"`
	Limits     api.Limits             `json:"limits"`
	Confidence float64                `json:"confidence"`
	Notes      api.List[string]       `json:"notes"`
	Version    api.DataVersion        `json:"data_version"`
	Alerts     api.List[ledger.Alert] `json:"alerts"`
	MadeUp     bool                   `json:"made_up,omitempty" doc:"True if the question was asked of the sandbox: cost is the most it would cost on the data"`
	Streams    []api.Through          `json:"streams,omitempty" doc:"Which parts of the answer came from streams of the policy, and how much of them was free"`
}

type End struct {
	Rows int `json:"rows" doc:"How many rows were sent"`
}

// answerSize is about how many bytes an answer takes while it is sent: twice as many where its text
// is made first.
func answerSize(a *api.Answer, media string) int {
	n, _ := clientlimits.RowsSize(a.Rows)
	for _, row := range a.Errors {
		n += 24 + 16*len(row)
	}
	for _, row := range a.Whole {
		n += 24 + 64*len(row)
	}
	for _, row := range a.Parts {
		n += 24 + 256*len(row)
	}
	if media != mediaNDJSON && media != mediaCSV {
		n *= 2
	}
	return n
}

// writeAnswer sends an answer in the way that was agreed on.
func writeAnswer(c huma.Context, media string, a *api.Answer) {
	switch media {
	case mediaNDJSON:
		c.SetHeader("Content-Type", media)
		c.SetStatus(http.StatusOK)
		writeLines(c, a)
	case mediaCSV:
		c.SetHeader("Content-Type", media+"; charset=utf-8; header=present")
		c.SetStatus(http.StatusOK)
		writeCSV(c.BodyWriter(), a)
	default:
		writeJSON(c, a)
	}
}

// writeJSON sends a value as JSON. It is made before anything of it leaves.
func writeJSON(c huma.Context, v any) {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // becomes a problem, see layers.recoverPanics
	}
	c.SetHeader("Content-Type", mediaJSON)
	c.SetStatus(http.StatusOK)
	c.BodyWriter().Write(text.Bytes())
}

// abort ends an answer that has begun and cannot be finished, so that nobody takes it for a whole
// one.
func abort() { panic(http.ErrAbortHandler) }

// rowsPerFlush is after how many rows what was written is sent.
const rowsPerFlush = 512

// writeLines sends an answer row by row.
func writeLines(c huma.Context, a *api.Answer) {
	_, w := humago.Unwrap(c)
	control := http.NewResponseController(w)
	out := bufio.NewWriter(w)
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	meta := Meta{
		Columns: api.List[api.Column](a.Columns), Cost: a.Cost, Remaining: a.Remaining, More: a.More, Receipt: a.Receipt, Limits: a.Limits,
		Confidence: a.Confidence, Notes: a.Notes, Version: a.Version, Alerts: a.Alerts, Streams: a.Through,
		MadeUp: a.MadeUp,
	}
	if e.Encode(Line{Meta: &meta}) != nil {
		abort()
	}
	for i, row := range a.Rows {
		line := Line{Row: row}
		if a.Errors != nil {
			line.Errors = a.Errors[i]
		}
		if a.Whole != nil {
			line.Whole = a.Whole[i]
		}
		if e.Encode(line) != nil {
			abort()
		}
		if (i+1)%rowsPerFlush == 0 && (out.Flush() != nil || control.Flush() != nil) {
			abort()
		}
	}
	if e.Encode(Line{End: &End{len(a.Rows)}}) == nil && out.Flush() == nil {
		control.Flush()
	}
}

// writeCSV sends an answer as CSV, with the errors of a noisy column in one beside it, unless it
// has columns of errors already.
func writeCSV(w io.Writer, a *api.Answer) {
	out := csv.NewWriter(w)
	out.UseCRLF = true
	var cells []string
	for _, k := range a.Columns {
		if cells = append(cells, escapeFormula(k.Name)); k.Noisy && !a.Shown {
			cells = append(cells, escapeFormula(k.Name+"_error"))
		}
	}
	if out.Write(cells) != nil {
		abort()
	}
	for i, row := range a.Rows {
		cells = cells[:0]
		for j, k := range a.Columns {
			switch v := row[j].(type) {
			case nil:
				cells = append(cells, "")
			case string:
				cells = append(cells, escapeFormula(v))
			default:
				cells = append(cells, render.Cell(v))
			}
			if !k.Noisy || a.Shown {
				continue
			}
			around := ""
			if a.Errors != nil && a.Errors[i][j] != nil {
				around = strconv.FormatFloat(*a.Errors[i][j], 'g', -1, 64)
			}
			cells = append(cells, around)
		}
		if out.Write(cells) != nil {
			abort()
		}
	}
	if out.Flush(); out.Error() != nil {
		abort()
	}
}

// escapeFormula puts a quote before a text that a spreadsheet would take for a formula. Some take
// the wide forms of these signs for them too.
func escapeFormula(text string) string {
	if first, _ := utf8.DecodeRuneInString(text); text != "" && strings.ContainsRune("=+-@'\t\r\n＝＋－＠", first) {
		return "'" + text
	}
	return text
}

// The media types of answers.
const (
	mediaJSON    = "application/json"
	mediaNDJSON  = "application/x-ndjson"
	mediaCSV     = "text/csv"
	mediaProblem = "application/problem+json"
)

// chooseMedia returns the media type that a client likes best, of those that an answer can have;
// JSON where it likes none. The framework's own reader of this header can be made to panic, so it
// is never shown what a client wrote.
func chooseMedia(headers []string) string {
	best, most := mediaJSON, 0.0
	for _, part := range strings.Split(strings.Join(headers, ","), ",") {
		name, rest, _ := strings.Cut(part, ";")
		name = strings.ToLower(strings.TrimSpace(name))
		switch name {
		case "*/*", "application/*":
			name = mediaJSON
		case "text/*":
			name = mediaCSV
		case "application/ndjson", "application/jsonl":
			name = mediaNDJSON
		case mediaJSON, mediaNDJSON, mediaCSV:
		default:
			continue
		}
		q := 1.0
		for _, parameter := range strings.Split(rest, ";") {
			if value, ok := strings.CutPrefix(strings.TrimSpace(parameter), "q="); ok {
				if f, err := strconv.ParseFloat(value, 64); err == nil && f >= 0 && f <= 1 {
					q = f
				}
			}
		}
		if q > most {
			best, most = name, q
		}
	}
	return best
}
