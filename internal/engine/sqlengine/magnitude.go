package sqlengine

import (
	"context"
	"errors"

	"github.com/discreet-dp/discreet/policy"
)

// Magnitude is the smallest power of ten that is no less than the number of rows, all tables
// together. What a server does with it, its tick, can be seen by everybody. Of private tables what
// the policy declares counts, where it does, and they are not read; else one person's rows move it
// only where the number is next to a power of ten.
func (d *Database) Magnitude(ctx context.Context, ds *policy.Dataset) (int, error) {
	rows := map[string]int64{}
	for name, t := range d.Tables {
		if !t.Public && ds.Sizes != nil {
			continue
		}
		var n int64
		if err := d.DB.QueryRowContext(ctx, "SELECT count(*) FROM "+t.From).Scan(&n); err != nil {
			return 0, errors.New("table " + t.Name + ": its rows cannot be counted")
		}
		rows[name] = n
	}
	return MagnitudeOf(ds, rows), nil
}

// MagnitudeOf is the magnitude of tables of which some were counted.
func MagnitudeOf(ds *policy.Dataset, counted map[string]int64) int {
	rows := int64(0)
	for name, t := range ds.Tables {
		if ds.Sizes != nil && !t.Public {
			rows += ds.Sizes.Tables[name].Rows
		} else {
			rows += counted[name]
		}
	}
	return PowerOfTen(rows)
}

// PowerOfTen is the smallest k with n <= 10^k.
func PowerOfTen(n int64) int {
	k := 0
	for most := int64(1); most < n && k < 18; most *= 10 {
		k++
	}
	return k
}
