package chart

import "image/color"

// The colours of curves are those that Okabe and Ito chose so that the colour-blind
// can tell them apart (Color Universal Design, 2008), without their yellow, which
// nobody can see on white.
var palette = []color.NRGBA{
	{0x00, 0x72, 0xb2, 0xff}, // blue
	{0xd5, 0x5e, 0x00, 0xff}, // vermilion
	{0x00, 0x9e, 0x73, 0xff}, // bluish green
	{0xcc, 0x79, 0xa7, 0xff}, // reddish purple
	{0xe6, 0x9f, 0x00, 0xff}, // orange
	{0x56, 0xb4, 0xe9, 0xff}, // sky blue
	{0x00, 0x00, 0x00, 0xff}, // black
}

// The dash patterns tell curves apart in black and white: lengths of dashes and of
// the gaps after them.
var dashPatterns = [][]float64{
	nil,
	{10, 4},
	{3, 3},
	{12, 4, 3, 4},
	{6, 3},
	{12, 4, 3, 4, 3, 4},
	{1.5, 3.5},
}

var (
	inkColor   = color.NRGBA{0x22, 0x22, 0x22, 0xff} // the title
	quietColor = color.NRGBA{0x5c, 0x5c, 0x5c, 0xff} // all other text
	ruleColor  = color.NRGBA{0x8a, 0x8a, 0x8a, 0xff} // the x axis
	faintColor = color.NRGBA{0xe4, 0xe4, 0xe4, 0xff} // the grid
	shadeColor = palette[1]                          // what is beyond epsilon
)

// curveStyle returns the colour and the dashes of a curve. The first seven differ in both,
// and no two of the first forty-nine have the same.
func curveStyle(i int) (color.NRGBA, []float64) {
	n := len(palette)
	return palette[i%n], dashPatterns[(i+i/n)%len(dashPatterns)]
}

// darken returns a colour in which a word can be read on white.
func darken(c color.NRGBA) color.NRGBA {
	for luminance(c) > 0.2 {
		c.R, c.G, c.B = uint8(int(c.R)*9/10), uint8(int(c.G)*9/10), uint8(int(c.B)*9/10)
	}
	return c
}

// luminance is how bright a colour is, roughly: squares stand for the gamma of WCAG.
func luminance(c color.NRGBA) float64 {
	square := func(v uint8) float64 { return float64(v) * float64(v) / (255 * 255) }
	return 0.2126*square(c.R) + 0.7152*square(c.G) + 0.0722*square(c.B)
}

// lighten returns a colour through which the grid is seen.
func lighten(c color.NRGBA) color.NRGBA {
	c.A = 0x52
	return c
}
