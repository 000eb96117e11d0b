package ledger

import (
	"errors"
	"math"
	"strconv"

	"github.com/discreet-dp/discreet/dp"
)

var errEncoding = errors.New("the record is not well encoded")

// encoder writes netstrings, "length:bytes,".
type encoder struct{ buf []byte }

func (e *encoder) text(s string) {
	e.buf = strconv.AppendInt(e.buf, int64(len(s)), 10)
	e.buf = append(e.buf, ':')
	e.buf = append(e.buf, s...)
	e.buf = append(e.buf, ',')
}

func (e *encoder) number(n uint64) {
	var b [20]byte
	e.text(string(strconv.AppendUint(b[:0], n, 10)))
}

func (e *encoder) cost(c dp.Cost) {
	e.number(uint64(c.Epsilon))
	e.number(uint64(c.Rho))
	e.number(uint64(c.Delta))
}

func (e *encoder) texts(all ...string) {
	for _, s := range all {
		e.text(s)
	}
}

func (e *encoder) balances(all []Balance) {
	e.number(uint64(len(all)))
	for _, b := range all {
		e.text(b.Account)
		e.cost(b.Limit)
		e.cost(b.Granted)
		e.cost(b.Spent)
	}
}

// decoder reads netstrings and remembers whether any was not the one way to
// write it. After that it returns zeros.
type decoder struct {
	rest string
	bad  bool
}

func (d *decoder) text() string {
	n, i := 0, 0
	for i < len(d.rest) && i < 9 && d.rest[i] >= '0' && d.rest[i] <= '9' {
		n = 10*n + int(d.rest[i]-'0')
		i++
	}
	if i == 0 || (i > 1 && d.rest[0] == '0') || len(d.rest)-i < n+2 || d.rest[i] != ':' || d.rest[i+1+n] != ',' {
		d.bad, d.rest = true, ""
		return ""
	}
	s := d.rest[i+1 : i+1+n]
	d.rest = d.rest[i+n+2:]
	return s
}

func (d *decoder) number() uint64 {
	s := d.text()
	if len(s) == 0 || len(s) > 20 || (len(s) > 1 && s[0] == '0') {
		d.bad = true
		return 0
	}
	n := uint64(0)
	for i := range len(s) {
		digit := uint64(s[i]) - '0'
		if digit > 9 || n > (math.MaxUint64-digit)/10 {
			d.bad = true
			return 0
		}
		n = 10*n + digit
	}
	return n
}

func (d *decoder) cost() dp.Cost {
	return dp.Cost{Epsilon: dp.Amount(d.number()), Rho: dp.Amount(d.number()), Delta: dp.Amount(d.number())}
}

func (d *decoder) texts(all ...*string) {
	for _, s := range all {
		*s = d.text()
	}
}

// length reads how many of something follow, which is at most so many.
func (d *decoder) length(most uint64) uint64 {
	n := d.number()
	if n > most {
		d.bad, d.rest = true, ""
		return 0
	}
	return n
}

func (d *decoder) balances(into []Balance, most uint64) []Balance {
	for range d.length(most) {
		into = append(into, Balance{Account: d.text(), Limit: d.cost(), Granted: d.cost(), Spent: d.cost()})
		if d.bad {
			break
		}
	}
	return into
}
