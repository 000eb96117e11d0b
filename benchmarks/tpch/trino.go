package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// trino is a cluster that is asked plain queries, and what its queries took.
type trino struct{ url, catalog, schema string }

// cost is what a question took: on the clock, of processors, over the network between workers, and
// of memory at most at one time.
type cost struct {
	took, cpu    time.Duration
	sent, memory float64 // bytes
}

// call sends a request, and reads the answer. Without a text it is a GET.
func (t trino) call(ctx context.Context, url, text string, into any) error {
	method := http.MethodGet
	if text != "" {
		method = http.MethodPost
	}
	r, err := http.NewRequestWithContext(ctx, method, url, bytes.NewBufferString(text))
	if err != nil {
		return err
	}
	r.Header.Set("X-Trino-User", "admin")
	r.Header.Set("X-Trino-Catalog", t.catalog)
	r.Header.Set("X-Trino-Schema", t.schema)
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer a.Body.Close()
	if a.StatusCode != http.StatusOK {
		return fmt.Errorf("Trino: %s says %s", url, a.Status)
	}
	d := json.NewDecoder(a.Body)
	d.UseNumber()
	return d.Decode(into)
}

// query returns all rows as text, and what that took.
func (t trino) query(ctx context.Context, text string) ([][][]byte, cost, error) {
	start, url := time.Now(), t.url+"/v1/statement"
	var rows [][][]byte
	for {
		var page struct {
			ID, NextURI string
			Data        [][]any
			Error       *struct{ Message string }
		}
		if err := t.call(ctx, url, text, &page); err != nil {
			return nil, cost{}, err
		}
		if page.Error != nil {
			return nil, cost{}, fmt.Errorf("Trino: %s", page.Error.Message)
		}
		for _, row := range page.Data {
			cells := make([][]byte, len(row))
			for i, v := range row {
				cells[i] = fmt.Append(nil, v)
			}
			rows = append(rows, cells)
		}
		if url, text = page.NextURI, ""; url == "" {
			took := time.Since(start)
			c, err := t.cost(ctx, page.ID)
			c.took = took
			return rows, c, err
		}
	}
}

// cost is what Trino counted of a query.
func (t trino) cost(ctx context.Context, id string) (cost, error) {
	var info struct {
		QueryStats struct{ TotalCPUTime, InternalNetworkInputDataSize, PeakUserMemoryReservation string }
	}
	if err := t.call(ctx, t.url+"/v1/query/"+id, "", &info); err != nil {
		return cost{}, err
	}
	var c cost
	var err error
	if c.cpu, err = time.ParseDuration(info.QueryStats.TotalCPUTime); err != nil {
		return c, err
	}
	if c.sent, err = size(info.QueryStats.InternalNetworkInputDataSize); err != nil {
		return c, err
	}
	c.memory, err = size(info.QueryStats.PeakUserMemoryReservation)
	return c, err
}

func size(text string) (float64, error) {
	bytes, ok := strings.CutSuffix(text, "B")
	if !ok {
		return 0, fmt.Errorf("Trino: %q is no size", text)
	}
	return strconv.ParseFloat(bytes, 64)
}

// since is what all statements of ours took that began after a moment.
func (t trino) since(ctx context.Context, start time.Time) (cost, error) {
	var all []struct {
		QueryID    string
		Session    struct{ Source string }
		QueryStats struct{ CreateTime time.Time }
	}
	var sum cost
	if err := t.call(ctx, t.url+"/v1/query", "", &all); err != nil {
		return sum, err
	}
	for _, q := range all {
		if q.Session.Source != "discreet" || q.QueryStats.CreateTime.Before(start) {
			continue
		}
		c, err := t.cost(ctx, q.QueryID)
		if err != nil {
			return sum, err
		}
		sum.cpu, sum.sent, sum.memory = sum.cpu+c.cpu, sum.sent+c.sent, max(sum.memory, c.memory)
	}
	return sum, nil
}
