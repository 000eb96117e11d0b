package chart

import (
	"io"

	"gonum.org/v1/plot/vg/vgimg"
)

// sharpness is how many pixels of a PNG picture, along a side, are one of an SVG
// document: 1920 by 1080 in all, which is a slide.
const sharpness = 2

// PNG writes a chart as a PNG picture.
func (c Chart) PNG(w io.Writer) error {
	s, err := c.scene()
	if err != nil {
		return err
	}
	canvas := vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(wide, high), vgimg.UseDPI(72*sharpness))}
	s.draw(canvas)
	_, err = canvas.WriteTo(w)
	return err
}
