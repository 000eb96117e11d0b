package pgwire

import (
	"fmt"
	"math"
	"strings"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/render"
)

// clientWriter writes results, and what is said beside them, as the client has them set.
type clientWriter struct {
	packets  *packetConn
	settings *settings
	types    *pgtype.Map // nil until a value needs it
}

func (w *clientWriter) flush() error {
	w.packets.flush()
	return w.checkWritten()
}

// checkWritten says whether the client takes what is sent.
func (w *clientWriter) checkWritten() error {
	if w.packets.writeErr != nil {
		return errSilent
	}
	return nil
}

func (w *clientWriter) sendResult(r *result) error {
	if r.copy != nil {
		return w.sendCopy(r)
	}
	if r.columns != nil {
		w.packets.send(rowDescription(r.columns, r.codes))
	}
	if err := w.sendRows(r.columns, r.codes, r.rows); err != nil {
		return err
	}
	w.complete(r, len(r.rows))
	return nil
}

func (w *clientWriter) sendRows(columns []column, codes []int16, rows [][]any) error {
	for _, row := range rows {
		data, err := w.encodeRow(columns, codes, row)
		if err != nil {
			return err
		}
		if w.packets.send(data); w.packets.writeErr != nil {
			return errSilent
		}
	}
	return nil
}

func (w *clientWriter) sendCopy(r *result) error {
	lines := copyEncoder{options: r.copy, columns: r.columns, types: w.typeMap}
	format := byte(0)
	if r.copy.format == binaryCopy {
		format = 1
	}
	response := &pgproto3.CopyOutResponse{OverallFormat: format, ColumnFormatCodes: make([]uint16, len(r.columns))}
	for i := range response.ColumnFormatCodes {
		response.ColumnFormatCodes[i] = uint16(format)
	}
	w.packets.send(response)
	send := func(data []byte) error {
		w.packets.send(&pgproto3.CopyData{Data: data})
		return w.checkWritten()
	}
	if head := lines.header(); len(head) > 0 {
		if err := send(head); err != nil {
			return err
		}
	}
	for _, row := range r.rows {
		data, err := lines.row(row)
		if err == nil {
			err = send(data)
		}
		if err != nil {
			return err
		}
	}
	if tail := lines.fileTrailer(); len(tail) > 0 {
		if err := send(tail); err != nil {
			return err
		}
	}
	w.packets.send(&pgproto3.CopyDone{})
	w.complete(r, r.count)
	return nil
}

// complete ends a result: with what is to be known about it, and its tag.
func (w *clientWriter) complete(r *result, rows int) {
	if r.answer != nil {
		w.sendRemarks(r.answer)
		r.answer = nil // once
	}
	tag := r.tag
	switch tag {
	case "SELECT", "FETCH", "COPY":
		tag = fmt.Sprintf("%s %d", tag, rows)
	case "MOVE":
		tag = fmt.Sprintf("MOVE %d", r.count)
	}
	w.packets.send(&pgproto3.CommandComplete{CommandTag: []byte(tag)})
}

func (w *clientWriter) encodeRow(columns []column, codes []int16, row []any) (*pgproto3.DataRow, error) {
	if len(row) != len(columns) {
		return nil, internalFailure()
	}
	out := &pgproto3.DataRow{Values: make([][]byte, len(row))}
	for i, v := range row {
		text, null := columns[i].text(v)
		if null {
			continue
		}
		if formatCode(codes, i) == pgtype.TextFormatCode {
			out.Values[i] = []byte(text)
			continue
		}
		var err error
		if out.Values[i], err = formatBinary(w.typeMap(), columns[i].oid, text); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// typeMap is made for those who need it: it is large.
func (w *clientWriter) typeMap() *pgtype.Map {
	if w.types == nil {
		w.types = pgtype.NewMap()
	}
	return w.types
}

func rowDescription(columns []column, codes []int16) *pgproto3.RowDescription {
	out := &pgproto3.RowDescription{Fields: make([]pgproto3.FieldDescription, len(columns))}
	for i, c := range columns {
		modifier := c.modifier
		if modifier == 0 {
			modifier = -1
		}
		out.Fields[i] = pgproto3.FieldDescription{Name: []byte(printable(c.name)), DataTypeOID: c.oid, DataTypeSize: sizeOf(c.oid),
			TypeModifier: modifier, Format: formatCode(codes, i)}
	}
	return out
}

// reportChanges changes settings, and tells the client of those that it is told of.
func (w *clientWriter) reportChanges(change func()) {
	before := make([]string, len(reportedSettings))
	for i, name := range reportedSettings {
		before[i], _ = w.settings.show(name)
	}
	change()
	for i, name := range reportedSettings {
		if now, _ := w.settings.show(name); now != before[i] {
			w.packets.send(&pgproto3.ParameterStatus{Name: name, Value: now})
		}
	}
}

func (w *clientWriter) notice(severity, code, message, detail string) {
	if !w.settings.isQuiet(severity) {
		w.packets.send(&pgproto3.NoticeResponse{Severity: severity, SeverityUnlocalized: severity, Code: code, Message: printable(message),
			Detail: printable(detail)})
	}
}

func (w *clientWriter) say(text string) { w.notice("NOTICE", "00000", text, "") }

// sendRemarks says what is to be known about an answer: what it cost, what is left, how exact it
// is, and what else.
func (w *clientWriter) sendRemarks(a *api.Answer) {
	receipt := ""
	if a.Receipt.Hash != "" { // what a stream predicted was never charged for, and has none
		receipt = fmt.Sprintf("receipt: record %d, %s", a.Receipt.Sequence, a.Receipt.Hash)
	}
	w.notice("NOTICE", "00000", render.Price(a), receipt)
	if text := formatErrorBars(a); text != "" {
		w.say(text)
	}
	if a.Cut {
		w.say(fmt.Sprintf("one person counts with at most %s in each of at most %s; the error leaves out the bias of this limit",
			render.Count(a.MaxRows, "row"), render.Count(a.MaxGroups, "group")))
	}
	for _, n := range a.Notes {
		w.say(render.Clean(n))
	}
	switch v := a.Version; {
	case v.Name != "":
		w.say(fmt.Sprintf("data version %d: %s", v.Number, render.Clean(v.Name)))
	case v.Number > 1:
		w.say(fmt.Sprintf("data version %d", v.Number))
	}
	for _, alert := range a.Alerts {
		w.notice("WARNING", warningState, alert.String(), "")
	}
}

// formatErrorBars says for each noisy column how far off its values are: the narrowest and the
// widest of its error bars.
func formatErrorBars(a *api.Answer) string {
	var parts []string
	for j, c := range a.Columns {
		if !c.Noisy {
			continue
		}
		narrowest, widest := math.Inf(1), -1.0
		for i := range a.Errors {
			if j < len(a.Errors[i]) && a.Errors[i][j] != nil {
				narrowest, widest = min(narrowest, *a.Errors[i][j]), max(widest, *a.Errors[i][j])
			}
		}
		if widest >= 0 {
			parts = append(parts, render.Clean(c.Name)+" "+render.Around(narrowest, widest))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf("error (%s): %s", strings.TrimPrefix(render.PlusMinus(a.Confidence), "±"), strings.Join(parts, ", "))
}
