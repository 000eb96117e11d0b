package chart

import (
	"io"

	"gonum.org/v1/plot/vg/vgimg"
)

// pngPixelsPerUnit is how many pixels of a PNG picture, along a side, are one of an SVG
// document: 1920 by 1080 in all, which is a slide.
const pngPixelsPerUnit = 2

// PNG writes a chart as a PNG picture.
func (c Chart) PNG(w io.Writer) error {
	s, err := c.scene()
	if err != nil {
		return err
	}
	canvas := vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(pictureWidth, pictureHeight), vgimg.UseDPI(72*pngPixelsPerUnit))}
	s.draw(canvas)
	_, err = canvas.WriteTo(w)
	return err
}
