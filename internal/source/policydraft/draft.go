package policydraft

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/discreet-dp/discreet/internal/address"
	"github.com/discreet-dp/discreet/internal/source/catalogue"
	"github.com/discreet-dp/discreet/internal/source/pgtables"
	"github.com/discreet-dp/discreet/internal/source/trinotables"
	"github.com/discreet-dp/discreet/policy"
)

type Options struct {
	policy.DraftOptions
	// Schemas are those whose tables are drafted; all, where there is none.
	Schemas []string
	// OMOP says that the tables are those of the OMOP common data model.
	OMOP bool
}

type Drafted struct {
	Text    string
	Schemas []policy.Schema
	Options policy.DraftOptions // with the unit that was found
	// Notes are what nobody should find out later, which comments of the draft say too.
	Notes []string
}

// Draft drafts a policy from the catalogue of a database.
func DraftPostgres(ctx context.Context, address string, opt Options) (*Drafted, error) {
	if err := policy.CheckPostgres(address); err != nil {
		return nil, err
	}
	found, err := pgtables.List(ctx, address, opt.Schemas)
	if err != nil {
		return nil, catalogue.ForOwner(err)
	}
	return From(ctx, found, postgres(address, found), opt)
}

// From drafts a policy from a catalogue that was read.
func From(ctx context.Context, found *catalogue.Catalogue, from *Store, opt Options) (_ *Drafted, err error) {
	address := from.Address
	if len(found.Tables) == 0 && from.Unreferenced && len(opt.Schemas) == 0 {
		return nil, fmt.Errorf("%s has no table that the user %s may see in %s", from.Where, found.Role, strings.Trim(from.Home, "."))
	}
	if len(found.Tables) == 0 {
		return nil, fmt.Errorf("%s has no table%s", from.Where, inSchemas(opt.Schemas))
	}
	d := &Drafted{Options: opt.DraftOptions}
	all := entries(found, from)
	if opt.OMOP {
		if d.Options.Unit, err = OMOPUnit(all.schemas(address)); err != nil {
			return nil, err
		}
		if opt.Unit != "" && opt.Unit != d.Options.Unit {
			return nil, &OptionError{fmt.Errorf("the common data model protects %s, but --unit says something else; leave out one "+
				"of the two",
				d.Options.Unit)}
		}
	}
	if d.Options.Unit == "" {
		d.Options.Unit, d.Options.UnitNote = all.guessUnit(from.Unreferenced)
		d.Notes = append(d.Notes, "the unit, whom the budget protects: "+d.Options.UnitNote)
	}
	if from.Unreferenced && (d.Options.Unit == "" || d.Options.Unit == "row") {
		return nil, &OptionError{errors.New("no column is known to identify a person, and rows of this store cannot be told apart; " +
			"name the column with --unit TABLE.COLUMN, as in --unit patients.pid")}
	}
	if d.Options.Dataset == "" {
		d.Options.Dataset = datasetName(from.Dataset)
	}
	all.findPaths(d.Options.Unit, opt.People)
	d.Schemas = all.schemas(address)
	for i, e := range all {
		d.Schemas[i].Unmarked, d.Schemas[i].Question = e.Unmarked, e.Question
	}
	if opt.TrustDataBounds {
		if err := extremes(ctx, from, all, d.Schemas); err != nil {
			return nil, catalogue.ForOwner(err)
		}
	}
	if opt.OMOP {
		if d.Schemas, err = ApplyOMOP(d.Schemas); err != nil {
			return nil, err
		}
	} else {
		d.Notes = append(d.Notes, all.notes()...)
	}
	if found.Superuser {
		d.Notes = append(d.Notes, "the role "+found.Role+" is a superuser, and data is not opened as one; the end of the draft says "+
			"how to make another role")
	}
	text, err := policy.Draft(d.Schemas, d.Options)
	if err != nil {
		return nil, &OptionError{err}
	}
	if d.Text, err = d.withTail(text, from); err != nil {
		return nil, err
	}
	if err := policy.CheckDraft(d.Text, d.Schemas); err != nil {
		return nil, &OptionError{err}
	}
	return d, nil
}

// OptionError is what is wrong with the options for this database.
type OptionError struct{ error }

func (all draftTables) notes() []string {
	var out []string
	for _, e := range all {
		switch {
		case e.trusted:
			out = append(out, fmt.Sprintf("%s is %s, so it is left out; the draft says what to write to include it", e.Relation(), e.Kind))
		case e.leftOut != "":
			out = append(out, "left out: "+e.leftOut)
		case e.byName || len(e.others) > 0:
			out = append(out, e.name+": "+e.pathNote())
		}
	}
	return out
}

func inSchemas(schemas []string) string {
	if len(schemas) == 0 {
		return " except the database's own"
	}
	return " in the schemas " + strings.Join(schemas, ", ")
}

// datasetName is the name of the database, where a dataset can be called that.
func datasetName(name string) string {
	for _, c := range name {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("_.@-", c) {
			return ""
		}
	}
	return name
}

// entries names the tables as the policy will: by their own names, and with their schemas where one
// at home has the same.
func entries(found *catalogue.Catalogue, from *Store) draftTables {
	var all draftTables
	for _, t := range found.Tables {
		e := &entry{Table: t, name: t.Name}
		same := func(o *catalogue.Table) bool { return o != t && strings.EqualFold(o.Name, t.Name) }
		if t.Schema != from.Home && slices.ContainsFunc(found.Tables, same) {
			e.name = strings.ReplaceAll(t.Schema, ".", "_") + "_" + t.Name
		}
		problem := from.Spelt(t.Schema, e.name)
		if problem == "" && slices.ContainsFunc(all, func(o *entry) bool { return strings.EqualFold(o.name, e.name) }) {
			problem = "its name differs from another's only in letter case; rename one of them, or make a view"
		}
		switch {
		case problem != "":
			e.leftOut = fmt.Sprintf("%q of the schema %q: %s.", t.Name, t.Schema, problem)
		case len(t.Columns) == 0:
			e.leftOut = fmt.Sprintf("%s has no column to read.", t.Relation())
		case t.Kind != "":
			e.trusted = true
			e.leftOut = fmt.Sprintf("%s is %s: functions and servers that Discreet does not know decide what is read there. If you "+
				"vouch that reading it neither fails because of single rows nor tells anybody about them, write trusted: true, and "+
				"refresh: 1h next to the dataset's source, as in", t.Relation(), t.Kind)
		}
		all = append(all, e)
	}
	return all
}

func (all draftTables) schemas(address string) []policy.Schema {
	var out []policy.Schema
	for _, e := range all {
		out = append(out, e.schema(address, all))
	}
	return out
}

func (e *entry) schema(address string, all draftTables) policy.Schema {
	s := policy.Schema{Table: e.name, Source: address, Relation: e.Relation(), Comment: e.Comment, LeftOut: e.leftOut, Trusted: e.trusted}
	switch {
	case e.leftOut != "":
	case e.near != "":
		s.Path, s.PathNote = e.near+" -> "+e.far, e.pathNote()
	default:
		s.UniqueColumn = all.referred(e)
	}
	checks := conditions(e.Checks)
	for _, c := range e.Columns {
		s.Columns = append(s.Columns, e.column(c, checks[c.Name], all))
	}
	for _, name := range e.Hidden {
		s.Columns = append(s.Columns, policy.SchemaColumn{Name: name, LeftOut: "is left out: the role may not read it."})
	}
	return s
}

var types = map[catalogue.Kind]policy.Type{
	catalogue.Boolean: policy.Boolean, catalogue.Int16: policy.Integer, catalogue.Int32: policy.Integer, catalogue.Int64: policy.Integer,
	catalogue.Float32: policy.Decimal, catalogue.Float64: policy.Decimal, catalogue.Decimal: policy.Decimal,
	catalogue.Numeric: policy.Decimal,
	catalogue.Text:    policy.Text, catalogue.Padded: policy.Text, catalogue.UUID: policy.Text, catalogue.Date: policy.Date,
	catalogue.Timestamp: policy.Timestamp, catalogue.TimestampTZ: policy.Timestamp,
}

func (e *entry) column(c catalogue.Column, said *allowed, all draftTables) policy.SchemaColumn {
	out := policy.SchemaColumn{Name: c.Name, Type: types[c.Kind], EngineType: c.Type, Nullable: !c.NotNull, Comment: c.Comment, Decimals: 2}
	if c.Kind == catalogue.Decimal {
		out.Decimals = c.Scale
	}
	if e.key(c.Name) {
		yes := true
		out.Unique, out.Enforced, out.Identifier = &yes, true, true
	}
	switch {
	case c.Computed:
		out.LeftOut = "is left out: it is computed when it is read, by functions that can do anything; write trusted: true for the " +
			"table to list it."
	case c.Kind == catalogue.UUID:
		out.Identifier = true
	}
	for _, r := range e.References {
		to := all.find(r.Schema, r.Table)
		i := slices.Index(r.Columns, c.Name)
		if i < 0 || to == nil {
			continue
		}
		out.Identifier = true
		out.Comment = strings.TrimSpace(fmt.Sprintf("%s (It refers to %s.%s.)", out.Comment, to.name, r.Far[i]))
		if to.direct && to.near == r.Far[i] && c.Name != e.near {
			out.LeftOut = fmt.Sprintf("is left out: it names another person of %s, who is not protected in this row.", to.name)
		}
	}
	if len(c.Labels) > 0 && len(c.Labels) <= mostKeys {
		out.Keys, out.From = c.Labels, "an enumeration of the database"
	}
	conditions(c.Checks)["value"].and(said).apply(&out, c)
	return out
}

// extremes reads bounds off the data, where the owner asks for it.
func extremes(ctx context.Context, from *Store, all draftTables, schemas []policy.Schema) error {
	for i, e := range all {
		if e.leftOut != "" {
			continue
		}
		var wanted []catalogue.Column
		for _, c := range e.Columns {
			if t := types[c.Kind]; t == policy.Integer || t == policy.Decimal || t == policy.Date || t == policy.Timestamp {
				wanted = append(wanted, c)
			}
		}
		ends, err := from.Extremes(ctx, from.Address, e.Table, wanted)
		if err != nil {
			return err
		}
		for k, c := range wanted {
			at := slices.IndexFunc(schemas[i].Columns, func(s policy.SchemaColumn) bool { return s.Name == c.Name })
			if at >= 0 {
				schemas[i].Columns[at].MinText, schemas[i].Columns[at].MaxText = ends[k][0], ends[k][1]
			}
		}
	}
	return nil
}

// Store is what differs between databases whose catalogues are drafted from.
type Store struct {
	Address string
	// Where is the address for messages, and Dataset what to call the dataset, if it can be called
	// that.
	Where, Dataset string
	// Home is the schema of which tables go by their names alone.
	Home string
	// Unreferenced says that there are no foreign keys and no unique columns, so that all there is
	// to go by is names, and nothing tells rows apart.
	Unreferenced bool
	// Spelt says why a policy cannot name a table, or nothing.
	Spelt func(schema, table string) string
	// Extremes reads the smallest and the largest values of columns.
	Extremes func(ctx context.Context, address string, t *catalogue.Table, columns []catalogue.Column) ([][2]string, error)
	// Rights writes what an administrator has to do for a dataset.
	Rights func(line func(format string, args ...any), ds *policy.Dataset)
}

func postgres(address string, found *catalogue.Catalogue) *Store {
	name := ""
	if u, err := url.Parse(address); err == nil {
		name = strings.Trim(u.Path, "/")
	}
	return &Store{Address: address, Where: policy.Postgres(address), Dataset: name, Home: "public", Spelt: policy.CheckRelation,
		Extremes: pgtables.Extremes,
		Rights: func(line func(string, ...any), ds *policy.Dataset) {
			line("TO RUN ON THE DATABASE, as its administrator: the role may read the columns of this policy,")
			line("and nothing else. A role that may do more is refused; 'discreet check' says what.")
			line("")
			role := found.Role
			if found.Superuser {
				role = "discreet"
				line("  CREATE ROLE discreet LOGIN NOINHERIT;  -- %s is a superuser: name this one in 'source'", found.Role)
			}
			for _, grant := range pgtables.Grants(ds, role) {
				line("  %s", grant)
			}
		}}
}

// withTail adds, in comments, what is left to decide and what to run on the database.
func (d *Drafted) withTail(text string, from *Store) (string, error) {
	parsed, err := policy.Parse("draft", []byte(text))
	if err != nil {
		return "", err
	}
	var out strings.Builder
	out.WriteString(text)
	// What a line holds may come from the database.
	line := func(format string, args ...any) {
		fmt.Fprintf(&out, "%s\n", strings.TrimRight("# "+strings.Map(func(c rune) rune {
			if unicode.IsPrint(c) {
				return c
			}
			return '?'
		}, fmt.Sprintf(format, args...)), " "))
	}
	for _, ds := range parsed.Datasets {
		bounds, keys := d.undecided(ds)
		out.WriteByte('\n')
		line("YOURS TO DECIDE, because nothing in the database says it:")
		line("")
		list(line, "bounds, for SUM and AVG", bounds)
		list(line, "keys, for GROUP BY", keys)
		list(line, "max_rows and max_groups, which are proposals", proposals(ds))
		line("  sizes, which set the deadlines: 'discreet check --sizes' counts them, and prints a block to paste")
		line("")
		from.Rights(line, ds)
	}
	return out.String(), nil
}

func list(line func(string, ...any), what string, names []string) {
	if len(names) == 0 {
		line("  %s: nothing is missing", what)
		return
	}
	text := ""
	line("  %s:", what)
	for i, n := range names {
		if i < len(names)-1 {
			n += ","
		}
		if len(text)+len(n) > 90 {
			line("    %s", text)
			text = ""
		}
		text = strings.TrimSpace(text + " " + n)
	}
	line("    %s", text)
}

// undecided are the columns that have no bounds, and those that have no keys.
func (d *Drafted) undecided(ds *policy.Dataset) (bounds, keys []string) {
	for _, table := range ds.TableNames() {
		t := ds.Tables[table]
		if t.Public {
			continue
		}
		for _, name := range t.ColumnNames() {
			switch c := t.Columns[name]; {
			case c.Keys != policy.NoKeys || c.Bounds != nil || d.identifier(table, name):
			case c.Type == policy.Text:
				keys = append(keys, table+"."+name)
			case c.Type != policy.Boolean:
				bounds = append(bounds, table+"."+name)
			}
		}
	}
	return bounds, keys
}

// identifier reports whether the values of a column are names of rows.
func (d *Drafted) identifier(table, column string) bool {
	for _, s := range d.Schemas {
		for _, c := range s.Columns {
			if s.Table == table && c.Name == column {
				return c.Identifier
			}
		}
	}
	return false
}

// proposals are the tables of which a person can have many rows.
func proposals(ds *policy.Dataset) []string {
	var out []string
	for _, table := range ds.TableNames() {
		if ds.Tables[table].UnitKind == policy.Many {
			out = append(out, table)
		}
	}
	return out
}

// DraftTrino drafts a policy from the tables of a catalog of Trino.
func DraftTrino(ctx context.Context, text string, opt Options) (*Drafted, error) {
	at, err := address.ParseTrino(text)
	if err != nil {
		return nil, fmt.Errorf("the address %w", err)
	}
	found, err := trinotables.List(ctx, text, opt.Schemas)
	if err != nil {
		return nil, catalogue.ForOwner(err)
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
