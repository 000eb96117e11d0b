package shop

import (
	"bufio"
	"errors"
	"strconv"
	"time"
)

// shopWriter writes one customer after the other, with all that is theirs.
type shopWriter struct {
	customers, orders, items *bufio.Writer
	line                     []byte // one order's items, or one row; used again and again
	days                     []string
}

const (
	maxOrders = 29
	maxItems  = 7
	// Orders are numbered with gaps, so that a customer's numbers are nobody else's business.
	orderNumberStep = 32
	// Days count from the first of January 1992. Orders end in 1998, and shipping takes up to
	// 121 days. What was shipped until the 17th of June 1995 has arrived.
	orderDayCount  = 2406
	maxShipDays    = 121
	lastArrivedDay = 1263
)

func newShopWriter(customers, orders, items *bufio.Writer) *shopWriter {
	customers.WriteString("cid,name,segment,nation\n")
	orders.WriteString("oid,cid,day,priority,status\n")
	items.WriteString("oid,line,part,quantity,price,discount,ship_day,return_flag\n")
	w := &shopWriter{customers: customers, orders: orders, items: items}
	first := time.Date(1992, 1, 1, 0, 0, 0, 0, time.UTC)
	for d := range orderDayCount + maxShipDays + 1 {
		w.days = append(w.days, first.AddDate(0, 0, d).Format(time.DateOnly))
	}
	return w
}

// writeCustomer writes a customer and returns how many orders and items they have.
func (w *shopWriter) writeCustomer(s Shop, cid int) (orders, items int) {
	r := newRowRandom(s.Seed, cid)
	// The lesser of two dice: some nations buy more than others.
	nation := nations[min(r.below(len(nations)), r.below(len(nations)))].name
	number := strconv.Itoa(cid)
	w.customers.WriteString(number + ",Customer#" + "000000000"[min(9, len(number)):] + number + "," + segments[r.below(len(segments))] +
		"," + nation + "\n")
	if r.below(3) == 0 {
		return 0, 0
	}
	orders = 1 + r.below(maxOrders)
	for k := range orders {
		items += w.writeOrder(s, r, cid, (cid-1)*orderNumberStep+k+1)
	}
	return orders, items
}

// writeOrder writes an order behind its items, because they decide its status: F where all have arrived,
// O where none has, P in between.
func (w *shopWriter) writeOrder(s Shop, r *rowRandom, cid, oid int) (items int) {
	day := r.below(orderDayCount)
	items = 1 + r.below(maxItems)
	there := 0
	b := w.line[:0]
	for line := 1; line <= items; line++ {
		part, quantity := 1+r.below(s.Parts), 1+r.below(50)
		discount, shipped := r.below(11), day+1+r.below(maxShipDays)
		flag := byte('N')
		if shipped <= lastArrivedDay {
			there++
			flag = "AR"[r.below(2)]
		}
		b = append(strconv.AppendInt(b, int64(oid), 10), ',')
		b = append(strconv.AppendInt(b, int64(line), 10), ',')
		b = append(strconv.AppendInt(b, int64(part), 10), ',')
		b = append(strconv.AppendInt(b, int64(quantity), 10), ',')
		b = append(appendCents(b, quantity*retailCents(part)), ',')
		b = append(appendCents(b, discount), ',')
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

// writeError returns the first error of writing: a bufio.Writer keeps it.
func (w *shopWriter) writeError() error {
	var errs []error
	for _, b := range []*bufio.Writer{w.customers, w.orders, w.items} {
		_, err := b.Write(nil)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
