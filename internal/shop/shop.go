// Package shop makes up a wholesaler: the same customers, orders and items for the
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
package shop

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
)

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

// appendCents writes cents as an amount.
func appendCents(b []byte, cents int) []byte {
	b = strconv.AppendInt(b, int64(cents/100), 10)
	return append(b, '.', byte('0'+cents/10%10), byte('0'+cents%10))
}
