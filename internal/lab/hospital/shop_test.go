package hospital

import (
	"context"
	"crypto/sha256"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/discreet-dp/discreet/policy"
)

// writeShop writes a shop and returns its folder.
func writeShop(t *testing.T, s Shop) (string, ShopCounts) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "new", "shop")
	counts := must(s.Write(t.Context(), dir))
	return dir, counts
}

// readShopRows reads a file of a shop as one map for each row.
func readShopRows(t *testing.T, dir, name string) []map[string]string {
	t.Helper()
	f := must(os.Open(filepath.Join(dir, name+".csv")))
	defer f.Close()
	all := must(csv.NewReader(f).ReadAll())
	var out []map[string]string
	for _, r := range all[1:] {
		m := map[string]string{}
		for i, column := range all[0] {
			m[column] = r[i]
		}
		out = append(out, m)
	}
	return out
}

func readInt(s string) int { return must(strconv.Atoi(s)) }

// No key is there twice, and every reference leads somewhere.
func TestReferences(t *testing.T) {
	s := Shop{Customers: 700, Parts: 900, Seed: 1}
	dir, counts := writeShop(t, s)
	keys := map[string]map[string]bool{}
	for name, columns := range map[string][]string{"customers": {"cid"}, "orders": {"oid"}, "items": {"oid", "line"}, "nations": {"nation"},
		"parts": {"part"}} {
		keys[name] = map[string]bool{}
		for _, r := range readShopRows(t, dir, name) {
			key := ""
			for _, c := range columns {
				key += r[c] + " "
			}
			if keys[name][key] {
				t.Errorf("%s has %stwice", name, key)
			}
			keys[name][key] = true
		}
	}
	if got := (ShopCounts{len(keys["customers"]), len(keys["orders"]), len(keys["items"]), len(keys["nations"]),
		len(keys["parts"])}); got != counts || got.Customers != 700 || got.Parts != 900 || got.Nations != 25 {
		t.Errorf("there are %+v, and %+v were counted", got, counts)
	}
	for _, x := range []struct {
		from, column, to string
	}{{"customers", "nation", "nations"}, {"orders", "cid", "customers"}, {"items", "oid", "orders"}, {"items", "part", "parts"}} {
		for _, r := range readShopRows(t, dir, x.from) {
			if !keys[x.to][r[x.column]+" "] {
				t.Errorf("%s has %s %s, which %s has not", x.from, x.column, r[x.column], x.to)
			}
		}
	}
	// An order's lines are numbered from 1, and its status is what its items say.
	lines, there, most := map[string]int{}, map[string]int{}, map[string]int{}
	price := map[string]int{}
	for _, p := range readShopRows(t, dir, "parts") {
		price[p["part"]] = readInt(strings.Replace(p["retail_price"], ".", "", 1))
	}
	for _, i := range readShopRows(t, dir, "items") {
		lines[i["oid"]]++
		most[i["oid"]] = max(most[i["oid"]], readInt(i["line"]))
		if (i["return_flag"] != "N") != (i["ship_day"] <= "1995-06-17") {
			t.Errorf("shipped on %s, flag %s", i["ship_day"], i["return_flag"])
		}
		if i["return_flag"] != "N" {
			there[i["oid"]]++
		}
		if readInt(strings.Replace(i["price"], ".", "", 1)) != readInt(i["quantity"])*price[i["part"]] {
			t.Errorf("the price of %v is not that of its part", i)
		}
	}
	each := map[string]int{}
	for _, o := range readShopRows(t, dir, "orders") {
		each[o["cid"]]++
		n := lines[o["oid"]]
		want := "P"
		switch there[o["oid"]] {
		case 0:
			want = "O"
		case n:
			want = "F"
		}
		if n < 1 || n > maxItems || most[o["oid"]] != n || o["status"] != want {
			t.Errorf("order %v has %d items up to line %d, of which %d have arrived", o, n, most[o["oid"]], there[o["oid"]])
		}
	}
	for cid, n := range each {
		if n > maxOrders {
			t.Errorf("customer %s has %d orders", cid, n)
		}
	}
	if idle := 700 - len(each); idle < 150 || idle > 320 {
		t.Errorf("%d of 700 customers have no orders", idle)
	}
}

func digestFolder(t *testing.T, dir string) string {
	t.Helper()
	h := sha256.New()
	for _, name := range ShopFiles {
		text := must(os.ReadFile(filepath.Join(dir, name)))
		fmt.Fprintf(h, "%s %d\n%s", name, len(text), text)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

func TestSameSeedSameShop(t *testing.T) {
	s := Shop{Customers: 200, Parts: 100, Seed: 1}
	first, _ := writeShop(t, s)
	second, _ := writeShop(t, s)
	s.Seed = 2
	other, _ := writeShop(t, s)
	if digestFolder(t, first) != digestFolder(t, second) || digestFolder(t, first) == digestFolder(t, other) {
		t.Error("a shop is not its seed's")
	}
	// Documents show answers about these shops, so the data does not change from version to
	// version.
	const want = "4ee3706f1f8c8a8a"
	var data strings.Builder
	for _, name := range ShopFiles[:5] {
		text, _ := os.ReadFile(filepath.Join(first, name))
		data.Write(text)
	}
	if got := fmt.Sprintf("%x", sha256.Sum256([]byte(data.String())))[:16]; got != want {
		t.Errorf("the data of seed 1 is %s; it was %s", got, want)
	}
	// A smaller shop with the same parts is the beginning of a larger one.
	small, _ := writeShop(t, Shop{Customers: 100, Parts: 100, Seed: 1})
	for _, name := range []string{"customers", "orders", "items"} {
		a, _ := os.ReadFile(filepath.Join(small, name+".csv"))
		b, _ := os.ReadFile(filepath.Join(first, name+".csv"))
		if !strings.HasPrefix(string(b), string(a)) || len(a) == len(b) {
			t.Errorf("the %s of a customer depend on the others", name)
		}
	}
}

// The customers of neighbouring numbers and seeds have nothing in common.
func TestStreamsDiffer(t *testing.T) {
	seen := map[uint64]bool{}
	for seed := range uint64(30) {
		for row := range 300 {
			r := newRowRandom(seed, row)
			for range 5 {
				r.below(2)
				if seen[r.state] {
					t.Fatalf("seed %d, row %d: two customers share their randomness", seed, row)
				}
				seen[r.state] = true
			}
		}
	}
}

func TestScaled(t *testing.T) {
	for scale, want := range map[float64]int{1: 150_000, 0.01: 1500, 1e-9: 1, 100: 15_000_000} {
		if s, err := NewShop(scale, 1); err != nil || s.Customers != want || s.Parts < 1 {
			t.Errorf("scale %v: %+v, %v", scale, s, err)
		}
	}
	for _, scale := range []float64{0, -1, 101, math.NaN(), math.Inf(1)} {
		if _, err := NewShop(scale, 1); err == nil {
			t.Errorf("a shop of scale %v", scale)
		}
	}
	// The proportions are those that the comments promise.
	_, c := writeShop(t, Shop{Customers: 3000, Parts: 100, Seed: 5})
	if orders := float64(c.Orders) / 3000; math.Abs(orders-10) > 0.7 {
		t.Errorf("%v orders for each customer", orders)
	}
	if items := float64(c.Items) / float64(c.Orders); math.Abs(items-4) > 0.1 {
		t.Errorf("%v items for each order", items)
	}
}

// Nothing of somebody else's is replaced, and nothing half made is left.
func TestWriteFails(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "items.csv")
	if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := Shop{Customers: 10, Parts: 10}
	if _, err := s.Write(t.Context(), dir); !errors.Is(err, fs.ErrExist) {
		t.Errorf("got %v", err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("it left %v", entries)
	}
	if text, _ := os.ReadFile(file); string(text) != "mine" {
		t.Error("a file was replaced")
	}
	if _, err := s.Write(t.Context(), file); err == nil {
		t.Error("a shop was written into a file")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir = t.TempDir()
	if _, err := (Shop{Customers: 5000, Parts: 10}).Write(ctx, dir); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 0 {
		t.Errorf("it left %v", entries)
	}
}

// The data is what the policy says: every column is there, every value within its bounds and keys.
func TestDataFitsPolicy(t *testing.T) {
	var p struct {
		Datasets map[string]struct {
			Tables map[string]struct {
				Columns map[string]struct {
					Type   string
					Bounds []yaml.Node
					Keys   []string
				}
			}
		}
	}
	if err := yaml.Unmarshal([]byte(ShopPolicy), &p); err != nil {
		t.Fatal(err)
	}
	dir, _ := writeShop(t, Shop{Customers: 2000, Parts: 3000, Seed: 3})
	tables := p.Datasets["shop"].Tables
	if len(tables) != 5 {
		t.Errorf("the policy has the tables %v", tables)
	}
	for name, table := range tables {
		all := readShopRows(t, dir, name)
		for column, c := range table.Columns {
			keys := map[string]bool{}
			for _, k := range c.Keys {
				keys[k] = true
			}
			seen := map[string]bool{}
			for _, r := range all {
				v, ok := r[column]
				if !ok || v == "" {
					t.Fatalf("%s has no %s: %v", name, column, r)
				}
				seen[v] = true
				if len(c.Bounds) == 2 && c.Type == "date" && (v < c.Bounds[0].Value || v > c.Bounds[1].Value) {
					t.Errorf("%s.%s has %s", name, column, v)
				}
				if len(c.Bounds) == 2 && c.Type != "date" {
					x, err := strconv.ParseFloat(v, 64)
					lo, _ := strconv.ParseFloat(c.Bounds[0].Value, 64)
					hi, _ := strconv.ParseFloat(c.Bounds[1].Value, 64)
					if err != nil || x < lo || x > hi {
						t.Errorf("%s.%s has %s", name, column, v)
					}
				}
				if len(keys) > 0 && !keys[v] {
					t.Errorf("%s.%s has %s, which is no key", name, column, v)
				}
			}
			if len(keys) > 0 && len(seen) != len(keys) {
				t.Errorf("%s.%s has %d values and %d keys", name, column, len(seen), len(keys))
			}
		}
	}
}

func TestPolicyIsRead(t *testing.T) {
	p := must(policy.Parse("shop.yaml", []byte(ShopPolicy)))
	if ds := p.Datasets["shop"]; len(ds.Tables) != 5 || ds.Unit.String() != "customers.cid" {
		t.Errorf("the policy has the tables %v and the unit %v", ds.TableNames(), ds.Unit)
	}
}
