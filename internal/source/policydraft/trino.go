package policydraft

import (
	"context"
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/internal/address"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/source/trinotables"
	"github.com/discreet-dp/discreet/policy"
)

// DraftTrino drafts a policy from the tables of a catalog of Trino.
func DraftTrino(ctx context.Context, text string, opt Options) (*Drafted, error) {
	at, err := address.ParseTrino(text)
	if err != nil {
		return nil, fmt.Errorf("the address %w", err)
	}
	found, err := trinotables.List(ctx, text, opt.Schemas)
	if err != nil {
		return nil, engine.ForOwner(err)
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
