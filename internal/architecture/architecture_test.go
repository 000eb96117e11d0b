package architecture

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/discreet-dp/discreet"

// rooms says, for every package, which packages of the project it may import.
// A package that is not here fails the test: a new room is a decision. The
// directions are those of the privacy argument: an engine never sees noise or
// the ledger, a mechanism never sees SQL, the ledger never sees data, and only
// curator holds an exact aggregate and the ledger at once.
var rooms = map[string]string{
	"dp":                    "",
	"api":                   "dp internal/learn/model",
	"internal/entropy":      "",
	"internal/exact":        "",
	"internal/detrand":      "noise internal/entropy",
	"internal/table":        "",
	"internal/chart":        "internal/root",
	"internal/normal":       "dp",
	"internal/hospital":     "",
	"internal/shop":         "",
	"internal/architecture": "",
	"internal/grammar":      "",
	"internal/testpg":       "",
	"internal/testtrino":    "",
	"internal/address":      "",
	"internal/pgplace":      "internal/address",
	"internal/trinoplace":   "internal/address internal/pace",
	"internal/testcpu":      "",
	"internal/golden":       "",
	"internal/recent":       "",
	"internal/underway":     "",
	"internal/pace":         "",
	// How files spell values, and which of their lines are rows.
	"internal/spelling": "",
	"internal/csvlines": "",
	"internal/ownerkey": "internal/entropy",
	"noise":             "internal/entropy",
	"mech":              "dp noise internal/exact internal/normal internal/root",
	"account":           "dp internal/normal account/loss internal/root",
	"account/loss":      "dp internal/normal internal/root",
	"account/workload":  "dp account account/loss utility internal/root",
	"internal/root":     "",
	"web":               "",
	"utility":           "internal/normal internal/root",
	"survey":            "dp noise internal/normal internal/root",
	"policy":            "dp account internal/address internal/root internal/spelling internal/username",
	"internal/username": "",
	// The planner in storeys: the finished tree, the text, expressions, questions, and the cells of
	// their answers.
	"internal/plan/tree":   "dp policy",
	"internal/plan/syntax": "api dp policy internal/grammar internal/plan/tree",
	"internal/plan/posix":  "",
	"internal/plan/meter":  "api",
	"internal/plan/expr":   "dp policy internal/plan/meter internal/plan/posix internal/plan/syntax internal/plan/tree",
	"internal/plan/reach":  "internal/plan/expr internal/plan/meter internal/plan/tree",
	"internal/plan": "dp policy internal/plan/expr internal/plan/meter internal/plan/posix internal/plan/reach internal/plan/syntax " +
		"internal/plan/tree api",
	"internal/plan/cells": "policy internal/plan internal/plan/expr internal/plan/meter internal/plan/syntax internal/plan/tree " +
		"internal/stream/linear",
	"internal/architecture/measure": "internal/architecture internal/table",
	// A second opinion about trees. It sees what a tree claims, and nothing that builds one: its
	// own test reads its uses.
	"internal/plan/verify": "dp policy internal/plan/tree",
	"internal/engine":      "policy internal/plan/tree internal/exact store",
	// How long a question may take, from what everybody may know. It sees no data.
	"internal/publictime": "policy internal/plan/posix internal/plan/tree",
	"internal/engine/duckdb": "dp policy internal/plan/tree internal/dialect internal/engine internal/engine/sqlengine internal/bound " +
		"internal/engine/duckdb/chunks store internal/spelling internal/csvlines internal/pgtables internal/publictime",
	"internal/engine/trino": "policy internal/plan/tree internal/plan/posix internal/dialect internal/engine internal/engine/sqlengine " +
		"internal/trinoplace internal/trinotables internal/publictime internal/pace store",
	// What it copies from elsewhere. Nothing that an analyst wrote comes there.
	"internal/home":        "",
	"internal/catalogue":   "",
	"internal/pgtables":    "policy internal/catalogue internal/home internal/pgplace",
	"internal/trinotables": "policy store internal/catalogue internal/home internal/trinoplace",
	// Drafts of policies from the catalogue of a database, and what is known of a common model.
	"internal/pgdraft":         "policy internal/catalogue internal/grammar internal/omop internal/pgtables",
	"internal/trinodraft":      "policy internal/address internal/pgdraft internal/trinotables",
	"internal/omop":            "policy",
	"internal/omop/madeup":     "internal/detrand",
	"internal/omop/madeup/sql": "internal/omop/madeup",
	// What strangers bring along, who see nothing else.
	"store": "",
	// SQL, and nobody to run it.
	"internal/dialect":          "policy internal/plan/tree",
	"internal/engine/sqlengine": "policy internal/plan/tree internal/dialect internal/engine internal/exact internal/publictime store",
	// Rows in bulk, out of DuckDB's own memory.
	"internal/engine/duckdb/chunks": "",
	"internal/bound":                "",
	"internal/engine/reference":     "policy internal/plan/expr internal/plan/tree internal/engine internal/exact store",
	"internal/audit/generate":       "dp policy internal/plan internal/engine/reference internal/detrand internal/plan/syntax",
	"internal/audit/neighbours": "dp policy internal/plan internal/plan/tree internal/engine internal/engine/reference " +
		"internal/audit/finding internal/audit/generate internal/exact",
	// What is put before every engine and every store: for tests.
	"internal/audit/sample": "policy internal/dialect internal/plan internal/plan/syntax internal/plan/tree",
	"internal/audit/attack": "policy internal/address internal/audit/generate internal/engine internal/engine/duckdb " +
		"internal/engine/trino internal/testpg internal/testtrino store",
	"internal/engine/outer":      "api internal/plan/posix internal/plan/syntax",
	"ledger":                     "dp account api",
	"internal/ledger/chain":      "dp ledger",
	"internal/ledger/anchor":     "ledger policy internal/pgplace",
	"internal/ledger/desk":       "ledger internal/ledger/chain internal/entropy",
	"internal/ledger/checkpoint": "ledger internal/ledger/chain",
	"internal/ledger/hatch":      "ledger internal/ledger/chain",
	"internal/ledger/sqlite":     "ledger internal/ledger/chain internal/ledger/checkpoint internal/ledger/desk internal/entropy",
	"internal/ledger/postgres": "ledger internal/ledger/chain internal/ledger/checkpoint internal/ledger/desk internal/entropy " +
		"internal/pgplace",
	"internal/ledger/anywhere": "ledger policy internal/ledger/anchor internal/ledger/chain internal/ledger/desk " +
		"internal/ledger/hatch internal/ledger/postgres internal/ledger/sqlite",
	"internal/ledger/ledgertest": "dp account ledger",
	// For data that is made up: a ledger without a disk, tables and people without anybody, and a
	// curator of both, with noise that can be made again.
	"internal/ledger/scratch": "dp ledger",
	"internal/fiction":        "dp policy internal/detrand",
	"internal/sandbox": "api mech policy store internal/curator internal/detrand internal/engine internal/engine/duckdb " +
		"internal/engine/outer internal/fiction internal/ledger/scratch internal/plan/syntax internal/plan/tree",
	"internal/ledger/replay": "dp ledger",
	// Interactive mechanisms. They see a host that charges, and neither a ledger nor SQL. What
	// predicts sees what was released and no more, which is why it is a room of its own.
	"session": "dp account",
	"stream": "dp api mech session internal/stream/histogram internal/stream/linear internal/stream/predict " +
		"internal/root",
	"internal/stream/linear":    "",
	"internal/stream/histogram": "internal/exact internal/stream/linear",
	"internal/stream/predict":   "internal/stream/linear",
	"holdout":                   "dp mech session account internal/root",
	"internal/holdout/labels":   "dp internal/exact",
	"internal/holdoutdemo":      "dp mech session account holdout internal/detrand internal/normal",
	// Private training. What solves sees rows and neither noise nor a budget.
	"learn": "dp account mech internal/exact internal/learn/calibrate internal/learn/lossfn internal/learn/rows " +
		"internal/learn/solve internal/learn/vector internal/learn/model",
	"internal/learn/model":     "dp internal/learn/vector",
	"internal/learn/vector":    "",
	"internal/learn/calibrate": "dp account internal/normal internal/root",
	"internal/learn/lossfn":    "",
	"internal/learn/rows":      "internal/learn/vector",
	"internal/learn/solve":     "internal/learn/lossfn internal/learn/rows",
	// Measures trainings on rows that are made up, or everybody's.
	"internal/traindemo": "dp mech learn internal/learn/lossfn internal/learn/rows internal/learn/solve internal/detrand",
	// What watches such sessions in tests.
	"internal/sessiontest": "dp mech session internal/exact",
	"internal/forecast":    "dp",
	"internal/policywords": "dp policy",
	"internal/render":      "dp internal/table api learn",
	// Several servers, from outside: what they have said over HTTP, and nothing else.
	"internal/together": "api mech",
	"client":            "api dp internal/entropy internal/table internal/together",
	// What a question costs, and what its answer looks like. Neither sees data, exact values or the
	// ledger.
	"internal/pricing": "dp mech policy api internal/plan internal/plan/tree internal/root",
	"internal/answers": "dp mech policy api internal/plan internal/plan/expr internal/plan/tree internal/pricing internal/engine/outer",
	// The accounts of a dataset: budgets, promises, top-ups, renewals.
	"internal/books": "dp account policy ledger api internal/pricing",
	// What was released is kept and found again.
	"internal/memory": "dp mech policy ledger api internal/plan/cells internal/plan/meter internal/plan/tree internal/pricing " +
		"internal/answers internal/recent internal/pace",
	// Sessions have of the curator what internal/interactive says, and no engine.
	"internal/interactive": "mech policy ledger internal/engine api session internal/plan internal/plan/tree internal/pricing " +
		"internal/books",
	"internal/sparsesession": "dp mech ledger api internal/plan internal/plan/tree internal/pricing internal/interactive",
	"internal/streamsession": "dp account mech policy ledger api session stream internal/stream/histogram internal/stream/linear " +
		"internal/stream/predict internal/plan/cells internal/plan/meter internal/pricing internal/answers internal/memory " +
		"internal/interactive internal/pace",
	"internal/holdoutsession": "dp mech policy ledger api session holdout internal/holdout/labels internal/plan internal/plan/tree " +
		"internal/plan/syntax internal/plan/meter internal/pricing " +
		"internal/answers internal/memory internal/interactive internal/pace",
	"internal/training": "dp account mech policy ledger api learn internal/plan internal/plan/tree internal/pricing internal/memory " +
		"internal/interactive internal/pace",
	"internal/curator": "dp policy mech ledger internal/engine api learn internal/plan internal/plan/meter internal/plan/tree " +
		"internal/plan/verify internal/pricing internal/answers internal/books internal/memory internal/interactive " +
		"internal/sparsesession internal/streamsession internal/holdoutsession internal/training " +
		"internal/plan/syntax internal/recent internal/pace",
	".": "dp noise mech policy internal/plan internal/plan/meter internal/plan/syntax internal/plan/tree ledger internal/ledger/anywhere " +
		"internal/engine internal/engine/duckdb internal/engine/trino store internal/curator internal/books internal/sparsesession " +
		"internal/training stream learn api internal/policycheck internal/recent internal/publictime internal/underway",
	// What is wrong with a policy. It asks a curator that has neither data nor a ledger.
	"internal/policycheck": "policy internal/plan internal/curator internal/pgtables internal/trinotables",
	// The doors. None of them sees an engine, a ledger or noise: they ask the dispatcher.
	"internal/server": ". policy internal/server/agent internal/server/bytelimit internal/server/clientaddr internal/server/connlimit " +
		"internal/server/admission internal/server/users " +
		"internal/server/pgwire internal/server/httpapi internal/server/openid internal/server/page api",
	"internal/server/admission": ". dp policy internal/entropy internal/pace internal/underway api ledger learn stream",
	"internal/server/users":     "internal/entropy internal/pgplace internal/server/clientaddr internal/username",
	// The catalogue: the policy is for the model, and the interpreter sees only the tables that it
	// is given.
	"internal/server/catalog": "policy internal/server/catalog/datum internal/server/catalog/ident " +
		"internal/server/catalog/interpret internal/server/catalog/oid",
	// The tools of a language model. What they say about the data comes of the dispatcher, and the
	// rest of the policy.
	"internal/server/agent": "api ledger policy internal/policywords internal/render internal/sandbox internal/server/admission " +
		"internal/server/httpapi internal/server/users internal/table",
	"internal/server/page":         "web",
	"internal/server/page/browser": "", // its tests run everything
	"internal/server/openid":       "internal/entropy",
	"internal/server/pgwire": "dp policy ledger internal/render internal/table internal/entropy internal/grammar " +
		"internal/server/admission internal/server/users internal/server/catalog internal/server/clientaddr internal/server/connlimit " +
		"internal/server/bytelimit api " +
		"internal/server/catalog/datum internal/server/catalog/interpret internal/server/catalog/ident internal/server/catalog/oid " +
		"internal/plan/syntax",
	"internal/server/clientaddr": "",
	"internal/server/connlimit":  "",
	"internal/server/bytelimit":  "",
	"internal/server/tools":      "", // its tests run everything
	"internal/server/httpapi": ". dp policy internal/books internal/entropy internal/forecast internal/ledger/chain " +
		"internal/policywords internal/ledger/replay internal/render internal/server/admission internal/server/clientaddr " +
		"internal/server/openid internal/server/bytelimit internal/server/users " +
		"ledger api learn stream",
	// For one program, which brings its own numbers: noise and mechanisms, and no data of anybody
	// else.
	"internal/privatedoor":     "internal/entropy",
	"internal/workbench":       "api client dp account/workload learn mech noise",
	"internal/audit/finding":   "",
	"internal/audit/stopping":  "",
	"internal/audit/enumerate": "dp internal/audit/finding internal/root",
	"internal/audit/density":   "internal/audit/enumerate internal/detrand internal/normal internal/root",
	"internal/audit/stat":      "noise internal/normal internal/root",
	"audit": "dp noise mech survey learn internal/learn/calibrate internal/learn/lossfn internal/learn/rows " +
		"internal/learn/solve internal/audit/finding internal/audit/enumerate internal/audit/density internal/audit/stat",
	"internal/audit/lockstep": "dp mech policy internal/plan internal/plan/tree ledger internal/engine internal/engine/duckdb " +
		"internal/curator internal/audit/finding internal/exact internal/entropy internal/detrand internal/fiction " +
		"internal/ledger/scratch api",
	"internal/server/catalog/interpret": "internal/server/catalog/datum internal/server/catalog/ident internal/server/catalog/oid " +
		"internal/grammar",
	"internal/server/catalog/oid":   "internal/server/catalog/ident",
	"internal/server/catalog/datum": "",
	"internal/server/catalog/ident": "",
	// The command. Groups of commands do not see one another, but for a demonstration that reads
	// prices as a comparison of trainings does.
	"cmd/discreet": "cmd/discreet/internal/accountcmd cmd/discreet/internal/askcmd cmd/discreet/internal/attachcmd " +
		"cmd/discreet/internal/auditcmd " +
		"cmd/discreet/internal/console " +
		"cmd/discreet/internal/democmd cmd/discreet/internal/holdoutcmd cmd/discreet/internal/ledgercmd cmd/discreet/internal/mcpcmd " +
		"cmd/discreet/internal/ownercmd " +
		"cmd/discreet/internal/querycmd cmd/discreet/internal/servecmd cmd/discreet/internal/streamcmd cmd/discreet/internal/surveycmd " +
		"cmd/discreet/internal/traincmd cmd/discreet/internal/usercmd",
	"cmd/discreet/internal/accountcmd": "account/loss account/workload cmd/discreet/internal/console internal/chart internal/table " +
		"internal/workbench",
	"cmd/discreet/internal/askcmd": "api client cmd/discreet/internal/console dp internal/render internal/table",
	"cmd/discreet/internal/attachcmd": "cmd/discreet/internal/console internal/privatedoor internal/server internal/server/users " +
		"internal/workbench policy",
	"cmd/discreet/internal/auditcmd": "audit cmd/discreet/internal/console internal/audit/finding internal/audit/lockstep internal/table",
	"cmd/discreet/internal/console": "account/workload api client dp internal/chart internal/ledger/anywhere internal/ownerkey " +
		"internal/policywords internal/table ledger policy",
	"cmd/discreet/internal/democmd": ". api cmd/discreet/internal/console cmd/discreet/internal/traincmd dp internal/hospital " +
		"internal/ledger/sqlite internal/render internal/shop internal/table internal/traindemo ledger",
	"cmd/discreet/internal/holdoutcmd": ". api cmd/discreet/internal/console dp holdout internal/chart internal/holdoutdemo " +
		"internal/render internal/table internal/holdout/labels",
	"cmd/discreet/internal/ledgercmd": ". api cmd/discreet/internal/console dp internal/ledger/replay internal/ledger/sqlite " +
		"internal/ledger/anywhere internal/ledger/chain " +
		"internal/ownerkey internal/render internal/table ledger policy internal/ledger/anchor",
	"cmd/discreet/internal/mcpcmd": ". cmd/discreet/internal/console internal/server internal/server/admission internal/server/agent " +
		"internal/server/httpapi internal/server/users",
	"cmd/discreet/internal/ownercmd": ". cmd/discreet/internal/console dp internal/engine/duckdb internal/ownerkey internal/render " +
		"internal/table ledger policy internal/policycheck internal/policywords internal/pgdraft internal/books internal/ledger/anywhere " +
		"internal/trinodraft internal/trinotables internal/engine internal/engine/trino",
	"cmd/discreet/internal/querycmd": ". api cmd/discreet/internal/console dp internal/chart internal/forecast internal/render " +
		"internal/table ledger policy",
	"cmd/discreet/internal/servecmd": "web cmd/discreet/internal/console internal/hospital internal/policywords internal/server " +
		"internal/server/openid " +
		"internal/server/users internal/table",
	"cmd/discreet/internal/streamcmd": ". api cmd/discreet/internal/console internal/chart internal/render internal/table stream",
	"cmd/discreet/internal/surveycmd": "cmd/discreet/internal/console dp internal/chart internal/render internal/table survey",
	"cmd/discreet/internal/traincmd": ". api cmd/discreet/internal/console dp internal/chart internal/render internal/table " +
		"internal/traindemo learn",
	"cmd/discreet/internal/usercmd": "cmd/discreet/internal/console internal/render internal/server/users internal/table policy",
}

// forbidden says who alone may import a package, outside of tests.
var forbidden = map[string]string{
	// Randomness has one source, and noise is all that is made of it. A ledger's identity is random
	// too, and is no noise, and so is an owner's key, and the name of a request. A replay has
	// randomness that repeats, for databases that it makes up.
	"crypto/rand": "internal/entropy",
	module + "/internal/entropy": "client noise internal/server/openid internal/ledger/desk internal/ledger/postgres " +
		"internal/ledger/sqlite " +
		"internal/audit/lockstep internal/detrand internal/ownerkey " +
		"internal/server/admission internal/server/users internal/server/pgwire internal/server/httpapi internal/privatedoor",
	"math/rand":    "",
	"math/rand/v2": "",
	// Opening a sealed value is for engines, which seal, and mechanisms. A replay measures how
	// far apart two of them are, and does not open them; see TestSealedStaysSealed.
	module + "/internal/exact": "mech internal/engine internal/engine/reference internal/engine/sqlengine internal/audit/lockstep " +
		"internal/audit/neighbours internal/sessiontest internal/stream/histogram internal/holdout/labels learn",
	// Training rows are private, and exact.
	module + "/internal/learn/rows": "learn internal/learn/solve internal/traindemo audit",
	// Nobody but an engine talks to the data, and the demonstration to its own. The engine for
	// outer queries has a DuckDB with released results and nothing else.
	"github.com/duckdb/duckdb-go/v2": "internal/engine/duckdb internal/engine/duckdb/chunks internal/engine/outer " +
		"cmd/discreet/internal/streamcmd cmd/discreet/internal/democmd",
	"github.com/duckdb/duckdb-go-bindings": "internal/engine/duckdb/chunks",
	"modernc.org/sqlite":                   "internal/ledger/sqlite internal/server/users",
	"github.com/jackc/pgx/v5": "internal/ledger/anchor internal/ledger/postgres internal/pgplace internal/pgtables " +
		"internal/server/users internal/testpg",
	"github.com/trinodb/trino-go-client/trino": "internal/testtrino internal/trinoplace",
	"log": "",
	// Memory that is not Go's has one room.
	"unsafe": "internal/engine/duckdb/chunks",
}

type listed struct {
	ImportPath string
	Imports    []string
	Doc        string
}

func packages(t *testing.T, pattern string) []listed {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports,Doc", pattern)
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("go list: %s", exit.Stderr)
		}
		t.Fatal(err)
	}
	var all []listed
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := d.Decode(&p); err == io.EOF {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// room returns a package's name inside the house.
func room(path string) string {
	if path == module {
		return "."
	}
	return strings.TrimPrefix(path, module+"/")
}

// violations returns what a package imports and may not.
func violations(p listed) []string {
	var out []string
	name := room(p.ImportPath)
	allowed, known := rooms[name]
	if !known {
		out = append(out, name+" is not in the plan of the house")
	}
	for _, i := range p.Imports {
		if (i == module || strings.HasPrefix(i, module+"/")) && !slices.Contains(strings.Fields(allowed), room(i)) {
			out = append(out, name+" imports "+room(i))
		}
		if only, ok := forbidden[i]; ok && !slices.Contains(strings.Fields(only), name) {
			out = append(out, name+" imports "+i)
		}
	}
	return out
}

func TestImportDirections(t *testing.T) {
	all := packages(t, "./...")
	if len(all) != len(rooms) {
		t.Errorf("there are %d packages and %d rooms in the plan", len(all), len(rooms))
	}
	for _, p := range all {
		for _, v := range violations(p) {
			t.Error(v)
		}
	}
}

// TestViolationsAreSeen plants imports against the directions.
func TestViolationsAreSeen(t *testing.T) {
	for _, planted := range []listed{
		{ImportPath: module + "/internal/engine/duckdb", Imports: []string{module + "/noise"}},
		{ImportPath: module + "/internal/engine/duckdb", Imports: []string{module + "/ledger"}},
		{ImportPath: module + "/internal/engine/outer", Imports: []string{module + "/internal/engine/duckdb"}},
		{ImportPath: module + "/internal/engine/outer", Imports: []string{module + "/internal/exact"}},
		{ImportPath: module + "/internal/dialect", Imports: []string{module + "/internal/engine/duckdb"}},
		{ImportPath: module + "/internal/dialect", Imports: []string{module + "/internal/exact"}},
		{ImportPath: module + "/internal/dialect", Imports: []string{"github.com/duckdb/duckdb-go/v2"}},
		{ImportPath: module + "/internal/engine/duckdb", Imports: []string{module + "/internal/exact"}},
		{ImportPath: module + "/internal/engine/sqlengine", Imports: []string{module + "/internal/engine/duckdb"}},
		{ImportPath: module + "/internal/engine/sqlengine", Imports: []string{"github.com/duckdb/duckdb-go/v2"}},
		{ImportPath: module + "/store", Imports: []string{module + "/internal/plan"}},
		{ImportPath: module + "/mech", Imports: []string{module + "/internal/plan"}},
		{ImportPath: module + "/internal/plan/tree", Imports: []string{module + "/internal/plan/expr"}},
		{ImportPath: module + "/internal/plan/expr", Imports: []string{module + "/internal/plan"}},
		{ImportPath: module + "/internal/plan/verify", Imports: []string{module + "/internal/plan"}},
		{ImportPath: module + "/internal/plan/verify", Imports: []string{module + "/internal/plan/expr"}},
		{ImportPath: module + "/internal/engine/duckdb", Imports: []string{module + "/internal/plan"}},
		{ImportPath: module + "/internal/dialect", Imports: []string{module + "/internal/plan"}},
		{ImportPath: module + "/ledger", Imports: []string{module + "/internal/exact"}},
		{ImportPath: module + "/dp", Imports: []string{module + "/noise"}},
		{ImportPath: module + "/internal/curator", Imports: []string{"math/rand"}},
		{ImportPath: module + "/internal/stream/predict", Imports: []string{module + "/mech"}},
		{ImportPath: module + "/internal/stream/predict", Imports: []string{module + "/internal/stream/histogram"}},
		{ImportPath: module + "/stream", Imports: []string{module + "/internal/exact"}},
		{ImportPath: module + "/stream", Imports: []string{module + "/noise"}},
		{ImportPath: module + "/holdout", Imports: []string{module + "/internal/exact"}},
		{ImportPath: module + "/session", Imports: []string{module + "/ledger"}},
		{ImportPath: module + "/internal/curator", Imports: []string{module + "/internal/learn/rows"}},
		{ImportPath: module + "/internal/learn/solve", Imports: []string{module + "/noise"}},
		{ImportPath: module + "/internal/curator", Imports: []string{module}},
		{ImportPath: module + "/cmd/discreet/internal/ledgercmd", Imports: []string{module + "/cmd/discreet/internal/querycmd"}},
		{ImportPath: module + "/cmd/discreet/internal/console", Imports: []string{module + "/cmd/discreet/internal/ledgercmd"}},
		{ImportPath: module + "/cmd/discreet/internal/querycmd", Imports: []string{module + "/internal/engine/duckdb"}},
		{ImportPath: module + "/internal/answers", Imports: []string{module + "/internal/engine"}},
		{ImportPath: module + "/internal/answers", Imports: []string{module + "/internal/exact"}},
		{ImportPath: module + "/internal/answers", Imports: []string{module + "/ledger"}},
		{ImportPath: module + "/internal/books", Imports: []string{module + "/internal/engine"}},
		{ImportPath: module + "/internal/memory", Imports: []string{module + "/internal/engine"}},
		{ImportPath: module + "/internal/memory", Imports: []string{module + "/internal/exact"}},
		{ImportPath: module + "/internal/sparsesession", Imports: []string{module + "/internal/engine"}},
		{ImportPath: module + "/internal/streamsession", Imports: []string{module + "/internal/engine"}},
		{ImportPath: module + "/internal/holdoutsession", Imports: []string{module + "/internal/engine"}},
		{ImportPath: module + "/internal/training", Imports: []string{module + "/internal/engine"}},
		{ImportPath: module + "/internal/training", Imports: []string{module + "/internal/curator"}},
		{ImportPath: module + "/internal/pricing", Imports: []string{module + "/internal/engine"}},
		{ImportPath: module + "/internal/pricing", Imports: []string{module + "/internal/exact"}},
		{ImportPath: module + "/internal/pricing", Imports: []string{module + "/ledger"}},
		{ImportPath: module + "/internal/server/catalog", Imports: []string{module}},
		{ImportPath: module + "/internal/server/catalog/interpret", Imports: []string{module + "/policy"}},
		{ImportPath: module + "/internal/server/catalog/interpret", Imports: []string{module + "/internal/server/catalog"}},
		{ImportPath: module + "/api", Imports: []string{module + "/internal/curator"}},
		{ImportPath: module + "/internal/render", Imports: []string{module}},
		{ImportPath: module + "/internal/server/httpapi", Imports: []string{module + "/mech"}},
		{ImportPath: module + "/internal/policycheck", Imports: []string{module + "/internal/engine"}},
		{ImportPath: module + "/internal/together", Imports: []string{module + "/internal/answers"}},
		{ImportPath: module + "/client", Imports: []string{module}},
		{ImportPath: module + "/utils"},
	} {
		if len(violations(planted)) == 0 {
			t.Errorf("not seen: %s importing %v", planted.ImportPath, planted.Imports)
		}
		// A room that there is not would be seen for that alone.
		for _, path := range append([]string{planted.ImportPath}, planted.Imports...) {
			if name := room(path); name != "utils" && strings.HasPrefix(path, module) && !known(name) {
				t.Errorf("there is no room %s to plant anything in", name)
			}
		}
	}
}

func known(name string) bool { _, ok := rooms[name]; return ok }

// TestStrangersBringDatabases looks at a database that is brought along from outside: what it needs
// is public.
func TestStrangersBringDatabases(t *testing.T) {
	found := false
	for _, p := range packages(t, "./store/testdata/thirdparty") {
		for _, i := range p.Imports {
			found = found || i == module+"/store"
			if strings.Contains(i, "/internal") {
				t.Errorf("%s imports %s, which strangers cannot", p.ImportPath, i)
			}
		}
	}
	if !found {
		t.Error("no stranger was found")
	}
}

func TestEveryPackageHasAComment(t *testing.T) {
	for _, p := range packages(t, "./...") {
		if p.Doc == "" {
			t.Errorf("%s has no package comment", p.ImportPath)
		}
	}
}

// TestEveryPublicPackageHasAnExample looks for a function Example in the tests of
// every package that others can import.
func TestEveryPublicPackageHasAnExample(t *testing.T) {
	for _, p := range packages(t, "./...") {
		name := room(p.ImportPath)
		if strings.Contains(name, "internal") || strings.HasPrefix(name, "cmd/") {
			continue
		}
		files, err := filepath.Glob(filepath.Join("../..", name, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			found = found || strings.Contains(string(text), "\nfunc Example") && strings.Contains(string(text), "// Output:")
		}
		if !found {
			t.Errorf("%s has no runnable Example", name)
		}
	}
}

// unsealing says which files open a sealed value or measure the distance of two. Whoever
// has a value can call its methods without importing anything, so it is the text that is read.
// The patterns miss who wants to be missed; they are for those who do not think of it.
func unsealing(name, text string) []string {
	var out []string
	opens := strings.HasPrefix(name, "mech/") || strings.HasPrefix(name, "internal/engine/") ||
		strings.HasPrefix(name, "internal/exact/") ||
		strings.HasPrefix(name, "internal/stream/histogram/") || strings.HasPrefix(name, "internal/holdout/labels/")
	if strings.Contains(text, ".Open()") && !opens {
		out = append(out, name+" opens a sealed value")
	}
	if strings.Contains(text, "exact.NewCollector(") && !strings.HasPrefix(name, "learn/") {
		out = append(out, name+" takes exact rows, which are for a trainer alone")
	}
	measures := strings.HasPrefix(name, "internal/audit/lockstep/") || strings.HasPrefix(name, "internal/audit/neighbours/") ||
		strings.HasPrefix(name, "internal/sessiontest/")
	if (strings.Contains(text, "exact.Between") || strings.Contains(text, "exact.Apart(")) && !measures {
		out = append(out, name+" measures the distance of sealed values, which is private where the data is real")
	}
	return out
}

func TestSealedStaysSealed(t *testing.T) {
	files := 0
	err := filepath.WalkDir("../..", func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		name, err := filepath.Rel("../..", path)
		for _, v := range unsealing(filepath.ToSlash(name), string(text)) {
			t.Error(v)
		}
		return err
	})
	if err != nil || files < 100 {
		t.Errorf("%d files were read: %v", files, err)
	}
	for _, planted := range [][2]string{
		{"internal/audit/lockstep/judge.go", "c.Values.Open()[0]"},
		{"internal/answers/finish.go", "fmt.Println(x.Open())"},
		{"internal/training/train.go", "into := exact.NewCollector(func(codes []int64) { fmt.Println(codes) })"},
		{"stream/session.go", "v := s.data.Answer(q).Open()[0]"},
		{"internal/stream/predict/weights.go", "t.Open()"},
		{"holdout/session.go", "q.Holdout.Open()[0]"},
		{"internal/curator/curator.go", "m, ok := exact.Between(a, b)"},
		{"internal/audit/generate/database.go", "n := exact.Apart(a, b)"},
	} {
		if len(unsealing(planted[0], planted[1])) != 1 {
			t.Errorf("not seen: %s in %s", planted[1], planted[0])
		}
	}
}
