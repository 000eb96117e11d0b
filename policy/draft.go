package policy

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/address"
)

// DraftOptions is what the owner says about a draft.
type DraftOptions struct {
	// Dataset is the dataset's name. Without one it is the first table's, or "data".
	Dataset string
	// Unit is "row" or table.column. Without one the draft says row, and explains
	// when that is right. UnitNote is what to say about it.
	Unit, UnitNote string
	// People says whose the rows of a table are where no column is called like the unit's: by
	// table, a column that holds the unit, or a path such as order_id -> orders.oid.
	People map[string]string
	// Analyst is the name of the only analyst; without one it is "analyst".
	Analyst string
	// TrustDataBounds fills in the bounds that the schemas carry, and says so.
	TrustDataBounds bool
	// Epsilon and Delta are the budget; without them it is 1 and 1e-6.
	Epsilon, Delta string
}

// Draft returns a policy for the owner to complete. It can be loaded at once, and then allows
// counting; what needs the owner's knowledge is there as a comment. No value of the data is in it,
// unless the options trust the data's bounds, and but for texts that stand for missing values.
func Draft(schemas []Schema, opt DraftOptions) (string, error) {
	d, err := newDraft(schemas, opt)
	if err != nil {
		return "", fmt.Errorf("draft a policy: %w", err)
	}
	d.write()
	text := d.out.String()
	if err := CheckDraft(text, schemas); err != nil {
		return "", err
	}
	// A draft that could not be loaded would be a poor teacher.
	if _, err := Parse("draft", []byte(text)); err != nil {
		return "", fmt.Errorf("draft a policy: %w", err)
	}
	return text, nil
}

// CheckDraft refuses a draft that is larger than a policy can be.
func CheckDraft(text string, schemas []Schema) error {
	if len(text) <= MaxSize {
		return nil
	}
	return fmt.Errorf("draft a policy: with %d tables it would be larger than a policy can be; draft fewer, such as those of one schema",
		len(schemas))
}

type draft struct {
	schemas []Schema
	opt     DraftOptions
	unit    Unit
	// source is the dataset's, or empty where each table has its own.
	source string
	out    strings.Builder
}

func newDraft(schemas []Schema, opt DraftOptions) (*draft, error) {
	if len(schemas) == 0 {
		return nil, errors.New("there is no table; name at least one file")
	}
	d := &draft{schemas: schemas, opt: opt}
	seen := map[string]Schema{}
	for _, s := range schemas {
		if s.LeftOut != "" && !s.Trusted {
			continue // it is named in a comment alone
		}
		if problem := checkName(s.Table); problem != "" {
			return nil, fmt.Errorf("the table %s %s", quote(s.Table), problem)
		}
		if first, ok := seen[fold(s.Table)]; ok {
			return nil, fmt.Errorf("%s and %s would both be the table %s; rename one of them", shown(first.Source), shown(s.Source),
				quote(s.Table))
		}
		seen[fold(s.Table)] = s
	}
	if d.opt.Dataset == "" {
		d.opt.Dataset = "data"
		if checkShortName(schemas[0].Table) == "" {
			d.opt.Dataset = schemas[0].Table
		}
	}
	d.opt.Analyst = cmp.Or(opt.Analyst, "analyst")
	d.opt.Epsilon, d.opt.Delta = cmp.Or(opt.Epsilon, "1"), cmp.Or(opt.Delta, "1e-6")
	for _, text := range []string{d.opt.Epsilon, d.opt.Delta} {
		if _, err := dp.Parse(text); err != nil {
			return nil, err
		}
	}
	if err := d.findSource(); err != nil {
		return nil, err
	}
	if err := d.findUnit(); err != nil {
		return nil, err
	}
	return d, d.findPeople()
}

// findSource decides what is the dataset's source and what the tables'.
func (d *draft) findSource() error {
	for _, s := range d.schemas {
		if s.Source == "" {
			return fmt.Errorf("nothing says where the table %s is", quote(s.Table))
		}
		if kind := (&Dataset{Source: s.Source}).SourceKind(); kind == Database || kind.Remote() {
			if d.source != "" && d.source != s.Source {
				return fmt.Errorf("%s and %s are two databases, but a dataset has one; draft them one by one", shown(d.source),
					shown(s.Source))
			}
			d.source = s.Source
		}
	}
	if len(d.schemas) == 1 {
		d.source = d.schemas[0].Source
	}
	return nil
}

func shown(source string) string {
	switch {
	case IsPostgres(source):
		return Postgres(source)
	case IsTrino(source):
		return Trino(source)
	}
	return source
}

func (d *draft) findUnit() error {
	if d.opt.Unit == "" || d.opt.Unit == "row" {
		return nil
	}
	for _, s := range d.schemas {
		for _, c := range s.Columns {
			if s.Table+"."+c.Name == d.opt.Unit {
				if strings.Contains(c.Name, "->") {
					return fmt.Errorf("the unit's column %s contains an arrow, so no path can name it; rename it in the data "+
						"or in a view", quote(c.Name))
				}
				d.unit = Unit{s.Table, c.Name}
				return nil
			}
		}
	}
	return fmt.Errorf("the unit %s is not a column of these tables; write row, or table.column%s", quote(d.opt.Unit), d.near())
}

// near lists the columns of the table that the unit names, or the tables where it names none.
func (d *draft) near() string {
	table, _, dot := strings.Cut(d.opt.Unit, ".")
	var tables, meant []string
	for _, s := range d.schemas {
		if _, ok := s.column(d.opt.Unit); ok {
			meant = append(meant, s.Table+"."+d.opt.Unit)
		}
	}
	if !dot && len(meant) > 0 {
		return "; name the table too, as in " + strings.Join(meant, " or ")
	}
	for _, s := range d.schemas {
		if strings.EqualFold(s.Table, table) {
			return "; the columns of " + quote(s.Table) + " are " + strings.Join(s.columnNames(), ", ")
		}
		tables = append(tables, quote(s.Table))
	}
	return "; the tables are " + strings.Join(tables, ", ")
}

// findPeople checks that what is said about whose rows are is about these tables.
func (d *draft) findPeople() error {
	for _, name := range slices.Sorted(maps.Keys(d.opt.People)) {
		if d.unit.Row() {
			return fmt.Errorf("the column of table %s says who a row belongs to, but the unit is row; name a unit such as "+
				"patients.pid", quote(name))
		}
		i := slices.IndexFunc(d.schemas, func(s Schema) bool { return s.Table == name })
		if i < 0 {
			return fmt.Errorf("there is no table %s whose rows could belong to somebody", quote(name))
		}
		near, _ := d.person(d.schemas[i])
		if _, ok := d.schemas[i].column(near); !ok {
			return fmt.Errorf("the table %s has no column %s; it has %s", quote(name), quote(near),
				strings.Join(d.schemas[i].columnNames(), ", "))
		}
	}
	return nil
}

// person returns the column that says whose the rows of a table are, and where it leads.
func (d *draft) person(s Schema) (near, far string) {
	if s.LeftOut != "" {
		return "", ""
	}
	text, ok := d.opt.People[s.Table]
	if !ok && s.Path != "" {
		text, ok = s.Path, true
	}
	if ok {
		near, far, _ = strings.Cut(text, "->")
		return strings.TrimSpace(near), cmp.Or(strings.TrimSpace(far), d.unit.String())
	}
	// In a database a column that is called like the unit's may be another table's own key.
	if c, ok := s.column(d.unit.Column); ok && (s.Relation == "" || s.Table == d.unit.Table) {
		return c.Name, d.unit.String()
	}
	return "", ""
}

// LeftOut returns the tables that a draft leaves out, because nothing says whose their rows are.
func LeftOut(schemas []Schema, opt DraftOptions) []string {
	d := &draft{schemas: schemas, opt: opt}
	if d.findUnit() != nil || d.unit.Row() {
		return nil
	}
	var out []string
	for _, s := range schemas {
		if near, _ := d.person(s); near == "" && !s.Public && s.LeftOut == "" {
			out = append(out, s.Table)
		}
	}
	return out
}

// line writes one line at a level of indentation.
func (d *draft) line(level int, format string, args ...any) {
	d.out.WriteString(strings.Repeat("  ", level))
	fmt.Fprintf(&d.out, format, args...)
	d.out.WriteByte('\n')
}

// lineWithNote writes one line with a comment at its side, aligned with its neighbours.
func (d *draft) lineWithNote(level int, text, note string) {
	d.line(level, "%-*s # %s", 44-2*level, text, note)
}

const draftHead = `# A policy for Discreet: who may ask what about whom, drafted from the schema.
#
# You can use it as it is: COUNT(*) works at once. You decide what else may be
# asked, in the lines that are commented out:
#
#   bounds   make SUM and AVG possible. Every value is moved into them, so they
#            decide how much one person can change, and how large the noise is.
#            Take them from what you know about the world: an age lies in
#            [0, 110]. A bound read off the data tells about the person at the
#            extreme.
#   keys     make GROUP BY possible. List the values that everybody may know of;
#            all of them appear in every answer, even those without rows.
#            A list read off the data tells that somebody has each value.
#
# A column that is not listed does not exist for analysts: delete those that
# nobody needs.
`

func (d *draft) write() {
	d.out.WriteString(draftHead)
	if d.opt.TrustDataBounds {
		d.out.WriteString(`#
# AT THE OWNER'S REQUEST, BOUNDS BELOW WERE READ OFF THE DATA. Each tells the value of
# the person at the extreme to whoever sees it or an answer that depends on it,
# and the budget does not cover that. Replace them with what you know, and then
# remove the line "bounds_from: data".
`)
	}
	d.line(0, "datasets:")
	d.line(1, "%s:", scalar(d.opt.Dataset))
	kind := (&Dataset{Source: d.source}).SourceKind()
	if !kind.Remote() {
		d.line(2, "engine: duckdb")
	}
	if d.source != "" {
		d.line(2, "source: %s", scalar(d.source))
	}
	switch kind {
	case PostgresDatabase:
		d.comment(2, "Before every question it is checked for changes, and copied again if there are any. If it changes all the time, "+
			"say how fresh answers have to be:")
		d.line(2, "# refresh: 24h")
	case TrinoDatabase:
		d.writeTrinoRefresh()
	}
	d.writeUnit()
	d.line(0, "")
	d.line(2, "# Neighbours differ by one person being there or not; \"substitute\" instead")
	d.line(2, "# replaces one person by another, and makes the number of people public.")
	d.line(2, "neighbours: add-remove")
	d.line(0, "")
	d.line(2, "# The most that all analysts together may ever learn about one person.")
	d.line(2, "# epsilon: 0.1 is strict, 1 is usual, 10 is loose. delta: the probability that")
	d.line(2, "# the promise fails; keep it well below 1 in the number of people, or write 0.")
	d.line(2, "# One question costs 'default' unless the analyst says otherwise, at most 'max'")
	d.line(2, "# and at least 'min', a 100000th of the budget unless given.")
	d.line(2, "budget:")
	d.line(3, "epsilon: %s", d.opt.Epsilon)
	d.line(3, "delta: %s", d.opt.Delta)
	d.line(3, "# per_query: {default: %s, max: %s}   # what it is when not given", d.partOf(defaultPart), d.partOf(1))
	d.line(0, "")
	d.line(2, "# Who may ask, and what part of the budget each may use at most.")
	d.line(2, "analysts:")
	d.line(3, "%s: {share: 1}", scalar(d.opt.Analyst))
	d.line(0, "")
	d.line(2, "tables:")
	for _, s := range d.schemas {
		d.writeTable(s)
	}
}

func (d *draft) partOf(n int64) string {
	epsilon, err := dp.ParseDecimal(d.opt.Epsilon)
	if err != nil {
		return d.opt.Epsilon // newDraft has refused it.
	}
	return decimal(epsilon.Quo(epsilon, new(big.Rat).SetInt64(n)))
}

func (d *draft) writeUnit() {
	d.line(0, "")
	if d.opt.UnitNote != "" {
		d.comment(2, d.opt.UnitNote)
	}
	if !d.unit.Row() {
		d.line(2, "# Whom the budget protects: every value of this column is one person.")
		d.line(2, "unit: %s", scalar(d.unit.String()))
		return
	}
	d.line(2, "# Whom the budget protects. \"row\" is right only if every person has one row.")
	d.line(2, "# If a person can have several, name the column that identifies the person, as in")
	d.line(2, "#   unit: %s", d.exampleUnit())
	d.line(2, "# and draft again with that unit, because the tables then need more keys.")
	if again := d.repeated(); len(again) > 0 && d.opt.Unit == "" {
		d.comment(2, onlyRows(again))
	}
	if len(d.schemas) > 1 {
		d.line(2, "# THERE ARE %d TABLES: a person with a row in each is protected %d times less.", len(d.schemas), len(d.schemas))
	}
	d.line(2, "unit: row")
}

// repeated are the columns that are called like ids, with values that occur more than once.
func (d *draft) repeated() []string {
	var out []string
	for _, s := range d.schemas {
		for _, c := range s.Columns {
			if c.Repeats {
				out = append(out, s.Table+"."+c.Name)
			}
		}
	}
	return out
}

func onlyRows(repeated []string) string {
	one := "If one of them names"
	if len(repeated) == 1 {
		one = "If it names"
	}
	return "VALUES OF " + strings.Join(repeated, " AND OF ") + " OCCUR MORE THAN ONCE. " + one +
		" people, unit: row is wrong: it protects one row of a person, and not all of them together."
}

// Doubts are what the owner should hear at once about the unit of a draft: that rows are protected
// where people seem to have several, and that missing ids seem to be one person's.
func Doubts(schemas []Schema, opt DraftOptions) []string {
	d := &draft{schemas: schemas, opt: opt}
	if d.findUnit() != nil {
		return nil
	}
	var out []string
	if d.unit.Row() {
		if again := d.repeated(); len(again) > 0 && opt.Unit == "" {
			out = append(out, onlyRows(again)+" Then draft again, as with --unit "+d.exampleUnit())
		}
		return out
	}
	for _, s := range schemas {
		if near, _ := d.person(s); near != "" {
			if c, ok := s.column(near); ok && len(c.missing()) > 0 {
				out = append(out, s.Table+": "+s.oneForAll(c))
			}
		}
	}
	return out
}

// exampleUnit returns a column that looks like one that names people: where ids occur more than
// once, the column of that name in which they do not, if there is one.
func (d *draft) exampleUnit() string {
	for _, s := range d.schemas {
		for _, c := range s.Columns {
			if !c.Repeats || checkName(c.Name) != "" {
				continue
			}
			for _, other := range d.schemas {
				if o, ok := other.column(c.Name); ok && o.Names && checkName(o.Name) == "" {
					return scalar(other.Table + "." + o.Name)
				}
			}
			return scalar(s.Table + "." + c.Name)
		}
	}
	for _, s := range d.schemas {
		for _, c := range s.Columns {
			if strings.HasSuffix(strings.ToLower(c.Name), "id") && checkName(c.Name) == "" {
				return scalar(s.Table + "." + c.Name)
			}
		}
	}
	return "patients.pid"
}

var (
	plainWord = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*([./ -][A-Za-z0-9_]+)*$`)
	// These words are something other than text to one version of YAML or another.
	notWords = []string{"null", "true", "false", "yes", "no", "on", "off", "y", "n", "nan", "inf"}
)

// scalar writes a text as YAML that every YAML reader takes for that text. Whatever
// is not plainly a word is put in double quotes, where the escapes of Go are YAML's.
func scalar(text string) string {
	if plainWord.MatchString(text) && !slices.Contains(notWords, strings.ToLower(text)) {
		return text
	}
	return strconv.Quote(text)
}

// pathScalar writes a path, which needs quotes only where one of its ends does.
func pathScalar(near, far string) string {
	path := near + " -> " + far
	if plainWord.MatchString(near) && plainWord.MatchString(far) {
		return path
	}
	return strconv.Quote(path)
}

// listScalar writes a list of texts in one line.
func listScalar(texts []string) string {
	quoted := make([]string, len(texts))
	for i, t := range texts {
		quoted[i] = scalar(t)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// trinoHome reports whether a table is where the address says, under its own name.
func (d *draft) trinoHome(s Schema) bool {
	at, err := address.ParseTrino(d.source)
	return err == nil && at.Schema != "" && s.Relation == at.Catalog+"."+at.Schema+"."+s.Table
}

// writeTrinoRefresh says when tables of a cluster are looked at for changes. Where a store does not
// tell, it has to be said.
func (d *draft) writeTrinoRefresh() {
	if slices.ContainsFunc(d.schemas, func(s Schema) bool { return s.Unmarked && s.LeftOut == "" }) {
		d.comment(2, "Some of these tables are in stores that do not say whether a table has changed. So it is taken to be unchanged for "+
			"this long; or write version: SELECT ... instead, a query whose result changes with the data.")
		d.line(2, "refresh: 24h")
		return
	}
	d.comment(2, "Before every question it is checked for changes. If it changes all the time, say how fresh answers have to be:")
	d.line(2, "# refresh: 24h")
}
