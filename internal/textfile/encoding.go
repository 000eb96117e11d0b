package textfile

import (
	"io"
	"slices"
	"unicode/utf8"
)

// Encoding is how the characters of a file are written. The empty one is UTF-8. In the others every
// byte is one character, whatever stands before it, so what somebody wrote into one line decides
// about no other. In UTF-16 that is not so: an odd byte moves every line that follows.
type Encoding string

const (
	UTF8        Encoding = ""
	Latin1      Encoding = "latin-1"
	Windows1252 Encoding = "windows-1252"
)

// upper is what windows-1252 has for the bytes from 0x80 to 0x9F; those it leaves open are what
// they are in Latin-1.
var upper = [32]rune{'€', 0x81, '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', 0x8d, 'Ž', 0x8f,
	0x90, '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', 0x9d, 'ž', 'Ÿ'}

// Reader returns what a file holds in UTF-8.
func (e Encoding) Reader(in io.Reader) io.Reader {
	if e == UTF8 {
		return in
	}
	return &decoder{in: in, windows: e == Windows1252, bytes: make([]byte, 1<<15)}
}

type decoder struct {
	in      io.Reader
	windows bool
	bytes   []byte
	text    []byte // what is decoded and not read yet
	buffer  []byte
}

func (d *decoder) Read(to []byte) (int, error) {
	for len(d.text) == 0 {
		n, err := d.in.Read(d.bytes)
		d.buffer = slices.Grow(d.buffer[:0], 3*n)
		for _, b := range d.bytes[:n] {
			switch c := rune(b); {
			case c < utf8.RuneSelf:
				d.buffer = append(d.buffer, b)
			case d.windows && c < 0xa0:
				d.buffer = utf8.AppendRune(d.buffer, upper[c-0x80])
			default:
				d.buffer = utf8.AppendRune(d.buffer, c)
			}
		}
		d.text = d.buffer
		if err != nil && len(d.text) == 0 {
			return 0, err
		}
	}
	n := copy(to, d.text)
	d.text = d.text[n:]
	return n, nil
}
