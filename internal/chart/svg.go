package chart

import (
	"bytes"
	"fmt"
	"html"
	"io"

	"gonum.org/v1/plot/vg/vgsvg"
)

// SVG writes a chart as an SVG document. Its text is text, in a font that every
// browser has, and it shrinks with the page it is put on.
func (c Chart) SVG(w io.Writer) error {
	s, err := c.scene()
	if err != nil {
		return err
	}
	canvas := vgsvg.New(pictureWidth, pictureHeight)
	s.draw(canvas)
	var body bytes.Buffer
	if _, err := canvas.WriteTo(&body); err != nil {
		return err
	}
	// The canvas measures in points, has no title, and names one font only. A quote
	// inside a text is escaped, so what is replaced is never a part of one.
	at := bytes.Index(body.Bytes(), []byte("<g "))
	drawing := bytes.ReplaceAll(body.Bytes()[at:],
		[]byte(`style="font-family:Liberation Sans;font-variant:normal;`),
		[]byte(`style="font-family:'Liberation Sans',Arial,Helvetica,sans-serif;`))
	_, err = fmt.Fprintf(w, `<?xml version="1.0" encoding="UTF-8"?>
<svg xmlns="http://www.w3.org/2000/svg" width="%v" height="%v" viewBox="0 0 %v %v" style="max-width:100%%;height:auto" role="img">
<title>%s</title>
<desc>%s</desc>
<rect width="100%%" height="100%%" fill="#FFFFFF"/>
%s`, pictureWidth, pictureHeight, pictureWidth, pictureHeight, html.EscapeString(cleanLabel(c.Title)), html.EscapeString(cleanLabel(c.Subtitle)), drawing)
	return err
}
