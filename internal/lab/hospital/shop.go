package hospital

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// A Shop makes up a wholesaler: the same customers, orders and items for the
// same seed. It has the shape of the TPC-H benchmark, so that examples can join, and
// is for demonstrations, documentation and measurements. Nobody in it exists.
//
//	customers.csv  cid, name, segment, nation
//	orders.csv     oid, cid, day, priority, status
//	items.csv      oid, line, part, quantity, price, discount, ship_day, return_flag
//	nations.csv    nation, region                        public
//	parts.csv      part, brand, type, retail_price       public
//	shop.yaml      the policy, with the customer as the unit
//
// A third of the customers have no order, the others 1 to 29, with 1 to 7 items each. What
// belongs to a customer depends on the seed, the number of parts and that customer alone: without
// one of them all the others stay as they are.

// Shop is a wholesaler that is made while it is written, and never held in memory.
type Shop struct {
	Customers int
	Parts     int
	Seed      uint64
}

// ShopCounts are the rows that were written.
type ShopCounts struct {
	Customers int `json:"customers"`
	Orders    int `json:"orders"`
	Items     int `json:"items"`
	Nations   int `json:"nations"`
	Parts     int `json:"parts"`
}

// What there is at scale 1, and how large a shop can be.
const (
	customersAtScaleOne = 150_000
	partsAtScaleOne     = 200_000
	MaxShopScale        = 100
)

// NewShop returns a shop in the proportions of TPC-H: 150,000 customers, about 1.5 million
// orders and 6 million items at scale 1.
func NewShop(scale float64, seed uint64) (Shop, error) {
	if !(scale > 0 && scale <= MaxShopScale) { // NaN too
		return Shop{}, fmt.Errorf("the scale must be above 0 and at most %d; 1 makes 150,000 customers", MaxShopScale)
	}
	size := func(atOne float64) int { return max(1, int(math.Round(atOne*scale))) }
	return Shop{size(customersAtScaleOne), size(partsAtScaleOne), seed}, nil
}

// ShopFiles are the names of what Write makes.
var ShopFiles = []string{"customers.csv", "orders.csv", "items.csv", "nations.csv", "parts.csv", "shop.yaml"}

// Write writes the shop and its policy into a folder, which it makes. It replaces no file, and
// leaves none of its own behind where it fails.
func (s Shop) Write(ctx context.Context, dir string) (counts ShopCounts, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return counts, err
	}
	out := map[string]*bufio.Writer{}
	var made []*os.File
	defer func() {
		for _, f := range made {
			err = errors.Join(err, f.Close())
		}
		if err != nil {
			for _, f := range made {
				os.Remove(f.Name())
			}
			counts = ShopCounts{}
		}
	}()
	for _, name := range ShopFiles {
		f, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err != nil {
			return counts, err
		}
		made, out[name] = append(made, f), bufio.NewWriterSize(f, 1<<18)
	}
	out["shop.yaml"].WriteString(ShopPolicy)
	counts.Nations = writeNations(out["nations.csv"])
	counts.Parts = s.writeParts(out["parts.csv"])
	w := newShopWriter(out["customers.csv"], out["orders.csv"], out["items.csv"])
	for cid := 1; cid <= s.Customers; cid++ {
		if cid%1024 == 0 && ctx.Err() != nil {
			return counts, ctx.Err()
		}
		orders, items := w.writeCustomer(s, cid)
		counts.Customers++
		counts.Orders += orders
		counts.Items += items
		if err := w.writeError(); err != nil {
			return counts, err
		}
	}
	for _, b := range out {
		if err := b.Flush(); err != nil {
			return counts, err
		}
	}
	return counts, nil
}

func writeNations(out *bufio.Writer) int {
	out.WriteString("nation,region\n")
	for _, n := range nations {
		out.WriteString(n.name + "," + n.region + "\n")
	}
	return len(nations)
}

func (s Shop) writeParts(out *bufio.Writer) int {
	out.WriteString("part,brand,type,retail_price\n")
	for id := 1; id <= s.Parts; id++ {
		// Nothing about a part is random but its kind.
		r := newRowRandom(^s.Seed, id)
		out.WriteString(strconv.Itoa(id) + ",Brand#" + strconv.Itoa(1+r.below(5)) + strconv.Itoa(1+r.below(5)) + "," +
			finishes[r.below(len(finishes))] + " " + metals[r.below(len(metals))] + ",")
		out.Write(appendCents(nil, retailCents(id)))
		out.WriteByte('\n')
	}
	return s.Parts
}

// retailCents is the price of a part in cents, between 900.01 and 2,098.99: TPC-H's formula.
func retailCents(part int) int { return 90_000 + part/10%20_001 + 100*(part%1000) }

func appendCents(b []byte, cents int) []byte {
	b = strconv.AppendInt(b, int64(cents/100), 10)
	return append(b, '.', byte('0'+cents/10%10), byte('0'+cents%10))
}

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

// writeOrder writes an order behind its items, because they decide its status: F where all have
// arrived, O where none has, P in between.
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

// rowRandom is splitmix64. It makes up customers and never noise, so it may be
// predictable, and has to be.
type rowRandom struct{ state uint64 }

// newRowRandom returns the randomness of one row. The seed is mixed before the number is added,
// because states that differ by little are the same sequence a few steps later.
func newRowRandom(seed uint64, row int) *rowRandom {
	return &rowRandom{mixBits(mixBits(seed) + uint64(row))}
}

func mixBits(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func (r *rowRandom) below(n int) int {
	r.state += 0x9e3779b97f4a7c15
	return int(mixBits(r.state) % uint64(n))
}

// The words of TPC-H, some of them. The policy lists them too; a test holds both together.
var (
	segments   = []string{"AUTOMOBILE", "BUILDING", "FURNITURE", "HOUSEHOLD", "MACHINERY"}
	priorities = []string{"1-URGENT", "2-HIGH", "3-MEDIUM", "4-LOW", "5-NONE"}
	finishes   = []string{"ECONOMY", "LARGE", "MEDIUM", "PROMO", "SMALL", "STANDARD"}
	metals     = []string{"BRASS", "COPPER", "NICKEL", "STEEL", "TIN"}
	nations    = []struct{ name, region string }{
		{"ALGERIA", "AFRICA"}, {"ARGENTINA", "AMERICA"}, {"BRAZIL", "AMERICA"}, {"CANADA", "AMERICA"}, {"CHINA", "ASIA"},
		{"EGYPT", "MIDDLE EAST"}, {"ETHIOPIA", "AFRICA"}, {"FRANCE", "EUROPE"}, {"GERMANY", "EUROPE"}, {"INDIA", "ASIA"},
		{"INDONESIA", "ASIA"}, {"IRAN", "MIDDLE EAST"}, {"IRAQ", "MIDDLE EAST"}, {"JAPAN", "ASIA"}, {"JORDAN", "MIDDLE EAST"},
		{"KENYA", "AFRICA"}, {"MOROCCO", "AFRICA"}, {"MOZAMBIQUE", "AFRICA"}, {"PERU", "AMERICA"}, {"ROMANIA", "EUROPE"},
		{"RUSSIA", "EUROPE"}, {"SAUDI ARABIA", "MIDDLE EAST"}, {"UNITED KINGDOM", "EUROPE"}, {"UNITED STATES", "AMERICA"},
		{"VIETNAM", "ASIA"},
	}
)

// ShopPolicy is the owner's file for a shop, beside its data. Names of customers are not in it, so
// they do not exist for analysts. Bounds and keys are those of the makers of this package and not
// read off the data.
const ShopPolicy = `# A made-up wholesaler. The unit is the customer, with all orders and items.
datasets:
  shop:
    engine: duckdb
    source: .
    unit: customers.cid
    budget: {epsilon: 10, delta: 1e-6, per_query: {default: 0.1, max: 1}}
    analysts: {ana: {share: 1}, ben: {share: 0.5}}
    tables:
      customers:
        unique: cid
        columns:
          cid:     {type: integer, nullable: false}
          segment: {type: text, nullable: false, keys: [AUTOMOBILE, BUILDING, FURNITURE, HOUSEHOLD, MACHINERY]}
          nation:
            type: text
            nullable: false
            keys: [ALGERIA, ARGENTINA, BRAZIL, CANADA, CHINA, EGYPT, ETHIOPIA, FRANCE, GERMANY, INDIA, INDONESIA, IRAN, IRAQ,
              JAPAN, JORDAN, KENYA, MOROCCO, MOZAMBIQUE, PERU, ROMANIA, RUSSIA, SAUDI ARABIA, UNITED KINGDOM, UNITED STATES, VIETNAM]
      orders:
        path: cid -> customers.cid
        max_rows: 20
        max_groups: 5
        columns:
          oid:      {type: integer, nullable: false}
          cid:      {type: integer, nullable: false}
          day:      {type: date, nullable: false, bounds: [1992-01-01, 1998-12-31]}
          priority: {type: text, nullable: false, keys: [1-URGENT, 2-HIGH, 3-MEDIUM, 4-LOW, 5-NONE]}
          status:   {type: text, nullable: false, keys: [F, O, P]}
      items:
        path: oid -> orders.oid
        max_rows: 80
        max_groups: 5
        columns:
          oid:         {type: integer, nullable: false}
          line:        {type: integer, nullable: false, bounds: [1, 7]}
          part:        {type: integer, nullable: false}
          quantity:    {type: integer, nullable: false, bounds: [1, 50]}
          price:       {type: decimal, nullable: false, bounds: [0, 110000], granularity: 0.01}
          discount:    {type: decimal, nullable: false, bounds: [0, 0.1], granularity: 0.01}
          ship_day:    {type: date, nullable: false, bounds: [1992-01-01, 1999-12-31]}
          return_flag: {type: text, nullable: false, keys: [A, N, R]}
      nations:
        public: true
        unique: nation
        columns:
          nation: {type: text, nullable: false}
          region: {type: text, nullable: false}
      parts:
        public: true
        unique: part
        columns:
          part:         {type: integer, nullable: false}
          brand:        {type: text, nullable: false}
          type:         {type: text, nullable: false}
          retail_price: {type: decimal, nullable: false, bounds: [900, 2100], granularity: 0.01}
    views:
      sales: "SELECT i.ship_day, i.return_flag, i.quantity, i.price, i.discount, o.priority, o.status FROM items i JOIN orders o ON i.oid = o.oid"
`
