package shop

import (
	"bufio"
	"errors"
	"strconv"
	"time"
)

// writer writes one customer after the other, with all that is theirs.
type writer struct {
	customers, orders, items *bufio.Writer
	line                     []byte // one order's items, or one row; used again and again
	days                     []string
}

const (
	mostOrders = 29
	mostItems  = 7
	// Orders are numbered with gaps, so that a customer's numbers are nobody else's business.
	orderStep = 32
	// Days count from the first of January 1992. Orders end in 1998, and shipping takes up to
	// 121 days. What was shipped until the 17th of June 1995 has arrived.
	orderDays = 2406
	shipDays  = 121
	arrived   = 1263
)

func newWriter(customers, orders, items *bufio.Writer) *writer {
	customers.WriteString("cid,name,segment,nation\n")
	orders.WriteString("oid,cid,day,priority,status\n")
	items.WriteString("oid,line,part,quantity,price,discount,ship_day,return_flag\n")
	w := &writer{customers: customers, orders: orders, items: items}
	first := time.Date(1992, 1, 1, 0, 0, 0, 0, time.UTC)
	for d := range orderDays + shipDays + 1 {
		w.days = append(w.days, first.AddDate(0, 0, d).Format(time.DateOnly))
	}
	return w
}

// customer writes a customer and returns how many orders and items they have.
func (w *writer) customer(s Shop, cid int) (orders, items int) {
	r := newRandom(s.Seed, cid)
	// The lesser of two dice: some nations buy more than others.
	nation := nations[min(r.below(len(nations)), r.below(len(nations)))].name
	number := strconv.Itoa(cid)
	w.customers.WriteString(number + ",Customer#" + "000000000"[min(9, len(number)):] + number + "," + segments[r.below(len(segments))] +
		"," + nation + "\n")
	if r.below(3) == 0 {
		return 0, 0
	}
	orders = 1 + r.below(mostOrders)
	for k := range orders {
		items += w.order(s, r, cid, (cid-1)*orderStep+k+1)
	}
	return orders, items
}

// order writes an order behind its items, because they decide its status: F where all have arrived,
// O where none has, P in between.
func (w *writer) order(s Shop, r *random, cid, oid int) (items int) {
	day := r.below(orderDays)
	items = 1 + r.below(mostItems)
	there := 0
	b := w.line[:0]
	for line := 1; line <= items; line++ {
		part, quantity := 1+r.below(s.Parts), 1+r.below(50)
		discount, shipped := r.below(11), day+1+r.below(shipDays)
		flag := byte('N')
		if shipped <= arrived {
			there++
			flag = "AR"[r.below(2)]
		}
		b = append(strconv.AppendInt(b, int64(oid), 10), ',')
		b = append(strconv.AppendInt(b, int64(line), 10), ',')
		b = append(strconv.AppendInt(b, int64(part), 10), ',')
		b = append(strconv.AppendInt(b, int64(quantity), 10), ',')
		b = append(appendMoney(b, quantity*retail(part)), ',')
		b = append(appendMoney(b, discount), ',')
		b = append(append(b, w.days[shipped]...), ',', flag, '\n')
	}
	w.items.Write(b)
	status := byte('P')
	switch there {
	case 0:
		status = 'O'
	case items:
		status = 'F'
	}
	b = append(strconv.AppendInt(b[:0], int64(oid), 10), ',')
	b = append(strconv.AppendInt(b, int64(cid), 10), ',')
	b = append(append(b, w.days[day]...), ',')
	b = append(append(b, priorities[r.below(len(priorities))]...), ',', status, '\n')
	w.orders.Write(b)
	w.line = b
	return items
}

// failed returns the first error of writing: a bufio.Writer keeps it.
func (w *writer) failed() error {
	var errs []error
	for _, b := range []*bufio.Writer{w.customers, w.orders, w.items} {
		_, err := b.Write(nil)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
