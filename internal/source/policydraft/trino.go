// Package trinodraft drafts a policy from what a Trino cluster says about its tables: types,
// columns that are never NULL, and comments. Trino knows neither keys nor references nor checks,
// so whose rows are is guessed by the names of columns, with a question mark; bounds and keys are
// the owner's to say. No row is read, unless the owner asks for bounds that are taken from the
// data.
package policydraft

import (
	"context"
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/internal/address"
	"github.com/discreet-dp/discreet/internal/source/trinotables"
	"github.com/discreet-dp/discreet/policy"
)

// Draft drafts a policy from the catalogue of an address.
func DraftTrino(ctx context.Context, text string, opt Options) (*Drafted, error) {
	at, err := address.ParseTrino(text)
	if err != nil {
		return nil, fmt.Errorf("the address %w", err)
	}
	found, err := trinotables.List(ctx, text, opt.Schemas)
	if err != nil {
		return nil, trinotables.ForOwner(err)
	}
	from := &Store{Address: text, Where: at.Where(), Dataset: at.Schema, Home: at.Catalog + "." + at.Schema, Unreferenced: true,
		Spelt: func(schema, table string) string {
			catalog, name, _ := strings.Cut(schema, ".")
			return policy.CheckTrinoRelation(catalog, name, table)
		},
		Extremes: trinotables.Extremes,
		Rights: func(line func(string, ...any), ds *policy.Dataset) {
			line("TO DO ON THE CLUSTER: the user %s may read these tables, and nothing else. A user that may do", found.Role)
			line("more is refused; 'discreet check' says what.")
			line("")
			var relations []string
			for _, name := range ds.TableNames() {
				relations = append(relations, ds.Tables[name].Relation)
			}
			for _, text := range strings.Split(trinotables.Advice(found.Role, relations), "\n") {
				line("%s", text)
			}
		}}
	return From(ctx, found, from, opt)
}
