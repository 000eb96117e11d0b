package browser

import (
	"bytes"
	"cmp"
	"image"
	"image/color"
	"image/png"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/go-rod/rod/lib/proto"
)

// tallest is how much of a view is in a picture, in pixels from its top.
const tallest = 960

// picture writes what the tab shows as a small PNG.
func (tb *tab) picture(path string, width int) {
	tb.t.Helper()
	height := min(tb.eval(`() => document.querySelector('dialog[open]') ? innerHeight : Math.ceil(Math.max(innerHeight, document.documentElement.getBoundingClientRect().height))`).Int(), tallest)
	r, err := proto.PageCaptureScreenshot{Format: proto.PageCaptureScreenshotFormatPng, CaptureBeyondViewport: true,
		Clip: &proto.PageViewport{Width: float64(width), Height: float64(height), Scale: 1}}.Call(tb.page.Timeout(patience))
	tb.must(err)
	small, err := smaller(r.Data)
	tb.must(err)
	tb.must(os.MkdirAll(filepath.Dir(path), 0o755))
	tb.must(os.WriteFile(path, small, 0o644))
}

// most is how many colours a picture has. Views have few, and the edges of their letters.
const most = 28

// smaller is a PNG with few colours: those that there are most of, none of them like another, and
// for the others the nearest of these.
func smaller(data []byte) ([]byte, error) {
	full, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	count := map[color.NRGBA]int{}
	b := full.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			count[coarse(full.At(x, y))]++
		}
	}
	all := slices.SortedFunc(maps.Keys(count), func(a, b color.NRGBA) int {
		return cmp.Or(count[b]-count[a], int(a.R)-int(b.R), int(a.G)-int(b.G), int(a.B)-int(b.B))
	})
	var palette color.Palette
	for _, c := range all {
		// Grounds and lines differ by little, and there are most of them.
		like := func(p color.Color) bool { return alike(p.(color.NRGBA), c) }
		if len(palette) < most/4 || len(palette) < most && !slices.ContainsFunc(palette, like) {
			palette = append(palette, c)
		}
	}
	small := image.NewPaletted(b, palette)
	nearest := map[color.NRGBA]uint8{}
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			c := coarse(full.At(x, y))
			i, known := nearest[c]
			if !known {
				i = uint8(palette.Index(c))
				nearest[c] = i
			}
			small.SetColorIndex(x, y, i)
		}
	}
	var out bytes.Buffer
	err = (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, small)
	return out.Bytes(), err
}

// alike reports whether nobody would miss one of two colours.
func alike(a, b color.NRGBA) bool {
	r, g, blue := int(a.R)-int(b.R), int(a.G)-int(b.G), int(a.B)-int(b.B)
	return r*r+g*g+blue*blue < 16*16
}

// coarse leaves out the last bits of a colour, which nobody sees, where it is neither black nor
// white.
func coarse(c color.Color) color.NRGBA {
	n := color.NRGBAModel.Convert(c).(color.NRGBA)
	for _, part := range []*uint8{&n.R, &n.G, &n.B} {
		*part = uint8(min(255, (int(*part)+2)/4*4))
		if *part == 252 {
			*part = 255
		}
	}
	n.A = 255
	return n
}
