package sqlengine

import (
	"context"
	"errors"
)

// Magnitude is the smallest power of ten that is no less than the number of rows, all tables
// together. It is all that leaves this room of how large the data is: what a server does with it,
// its tick, can be seen by everybody. One person's rows move it only where the number is next to a
// power of ten.
func (d *Database) Magnitude(ctx context.Context) (int, error) {
	rows := int64(0)
	for _, t := range d.Tables {
		var n int64
		if err := d.DB.QueryRowContext(ctx, "SELECT count(*) FROM "+t.From).Scan(&n); err != nil {
			return 0, errors.New("table " + t.Name + ": its rows cannot be counted")
		}
		rows += n
	}
	return PowerOfTen(rows), nil
}

// PowerOfTen is the smallest k with n <= 10^k.
func PowerOfTen(n int64) int {
	k := 0
	for most := int64(1); most < n && k < 18; most *= 10 {
		k++
	}
	return k
}
