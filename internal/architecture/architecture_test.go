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
	"dp":                          "",
	"api":                         "dp internal/mechanism/learn/model",
	"internal/entropy":            "",
	"internal/sealed":             "",
	"internal/detrand":            "noise internal/entropy",
	"internal/render":             "",
	"internal/lab/chart":          "internal/numeric",
	"internal/numeric":            "dp",
	"internal/lab/hospital":       "",
	"internal/lab/hospital":       "",
	"internal/architecture":       "",
	"internal/planner/grammar":    "",
	"internal/test/testpg":        "",
	"internal/test/testtrino":     "",
	"internal/address":            "",
	"internal/source/pgdial":      "internal/address",
	"internal/source/trinotables": "internal/address internal/releaseclock",
	"internal/test/golden":        "",
	"internal/test/golden":        "",
	"internal/lru":                "",
	"internal/underway":           "",
	"internal/releaseclock":       "",
	// How files spell values, and which of their lines are rows.
	"internal/textfile":     "",
	"internal/textfile":     "",
	"internal/ownerkey":     "internal/entropy",
	"noise":                 "internal/entropy",
	"mech":                  "dp noise internal/sealed internal/numeric internal/numeric",
	"account":               "dp internal/numeric internal/privacyloss internal/numeric",
	"internal/privacyloss":  "dp internal/numeric internal/numeric",
	"internal/lab/workload": "dp account internal/privacyloss utility internal/numeric",
	"internal/numeric":      "",
	"web":                   "",
	"utility":               "internal/numeric internal/numeric",
	"survey":                "dp noise internal/numeric internal/numeric",
	"policy":                "dp account internal/address internal/numeric internal/textfile internal/username",
	"internal/username":     "",
	// The planner in storeys: the finished tree, the text, expressions, questions, and the cells of
	// their answers.
	"internal/planner/tree":   "dp policy",
	"internal/planner/syntax": "api dp policy internal/planner/grammar internal/planner/tree",
	"internal/planner/posix":  "",
	"internal/planner/meter":  "api",
	"internal/planner/expr":   "dp policy internal/planner/meter internal/planner/posix internal/planner/syntax internal/planner/tree",
	"internal/planner/expr":   "internal/planner/expr internal/planner/meter internal/planner/tree",
	"internal/planner": "dp policy internal/planner/expr internal/planner/meter internal/planner/posix internal/planner/expr internal/planner/syntax " +
		"internal/planner/tree api",
	"internal/planner/cells": "policy internal/planner internal/planner/expr internal/planner/meter internal/planner/syntax internal/planner/tree " +
		"internal/mechanism/stream/linear",
	"internal/architecture/measure": "internal/architecture internal/render",
	// A second opinion about trees. It sees what a tree claims, and nothing that builds one: its
	// own test reads its uses.
	"internal/planner/verify": "dp policy internal/planner/tree",
	"internal/engine":         "policy internal/planner/tree internal/sealed store",
	// How long a question may take, from what everybody may know. It sees no data.
	"internal/engine/publictime": "policy internal/planner/posix internal/planner/tree",
	"internal/engine/duckdb": "dp policy internal/planner/tree internal/sqlgen internal/engine internal/engine/sqlengine internal/engine/contribution " +
		"internal/engine/duckdb/chunks store internal/textfile internal/textfile internal/source/pgtables internal/engine/publictime",
	"internal/engine/trino": "policy internal/planner/tree internal/planner/posix internal/sqlgen internal/engine internal/engine/sqlengine " +
		"internal/source/trinotables internal/source/trinotables internal/engine/publictime internal/releaseclock store",
	// What it copies from elsewhere. Nothing that an analyst wrote comes there.
	"internal/source/catalogue":   "",
	"internal/source/catalogue":   "",
	"internal/source/pgtables":    "policy internal/source/catalogue internal/source/catalogue internal/source/pgdial",
	"internal/source/trinotables": "policy store internal/source/catalogue internal/source/catalogue internal/source/trinotables",
	// Drafts of policies from the catalogue of a database, and what is known of a common model.
	"internal/source/policydraft": "policy internal/source/catalogue internal/planner/grammar internal/source/policydraft internal/source/pgtables",
	"internal/source/policydraft": "policy internal/address internal/source/policydraft internal/source/trinotables",
	"internal/source/policydraft": "policy",
	"internal/lab/omopdata":       "internal/detrand",
	"internal/lab/omopdata/sql":   "internal/lab/omopdata",
	// What strangers bring along, who see nothing else.
	"store": "",
	// SQL, and nobody to run it.
	"internal/sqlgen":           "policy internal/planner/tree",
	"internal/engine/sqlengine": "policy internal/planner/tree internal/sqlgen internal/engine internal/sealed internal/engine/publictime store",
	// Rows in bulk, out of DuckDB's own memory.
	"internal/engine/duckdb/chunks": "",
	"internal/engine/contribution":  "",
	"internal/test/reference":       "policy internal/planner/expr internal/planner/tree internal/engine internal/sealed store",
	"internal/test/generate":        "dp policy internal/planner internal/test/reference internal/detrand internal/planner/syntax",
	"internal/test/neighbours": "dp policy internal/planner internal/planner/tree internal/engine internal/test/reference " +
		"internal/lab/enumerate internal/test/generate internal/sealed",
	// What is put before every engine and every store: for tests.
	"internal/test/generate": "policy internal/sqlgen internal/planner internal/planner/syntax internal/planner/tree",
	"internal/test/storekinds": "policy internal/address internal/test/generate internal/engine internal/engine/duckdb " +
		"internal/engine/trino internal/test/testpg internal/test/testtrino store",
	"internal/engine/postquery":   "api internal/planner/posix internal/planner/syntax",
	"ledger":                      "dp account api",
	"internal/ledger/chain":       "dp ledger",
	"internal/ledger/anchor":      "ledger policy internal/source/pgdial",
	"internal/ledger/groupcommit": "ledger internal/ledger/chain internal/entropy",
	"internal/ledger/chain":       "ledger internal/ledger/chain",
	"internal/ledger/ownersocket": "ledger internal/ledger/chain",
	"internal/ledger/sqlite":      "ledger internal/ledger/chain internal/ledger/chain internal/ledger/groupcommit internal/entropy",
	"internal/ledger/postgres": "ledger internal/ledger/chain internal/ledger/chain internal/ledger/groupcommit internal/entropy " +
		"internal/source/pgdial",
	"internal/ledger/openledger": "ledger policy internal/ledger/anchor internal/ledger/chain internal/ledger/groupcommit " +
		"internal/ledger/ownersocket internal/ledger/postgres internal/ledger/sqlite",
	"internal/test/ledgertest": "dp account ledger",
	// For data that is made up: a ledger without a disk, tables and people without anybody, and a
	// curator of both, with noise that can be made again.
	"internal/ledger/memledger": "dp ledger",
	"internal/fakedata":         "dp policy internal/detrand",
	"internal/sandbox": "api mech policy store internal/curator internal/detrand internal/engine internal/engine/duckdb " +
		"internal/engine/postquery internal/fakedata internal/ledger/memledger internal/planner/syntax internal/planner/tree",
	"internal/ledger/replay": "dp ledger",
	// Interactive mechanisms. They see a host that charges, and neither a ledger nor SQL. What
	// predicts sees what was released and no more, which is why it is a room of its own.
	"session": "dp account",
	"stream": "dp api mech session internal/mechanism/stream/histogram internal/mechanism/stream/linear internal/mechanism/stream/predict " +
		"internal/numeric",
	"internal/mechanism/stream/linear":    "",
	"internal/mechanism/stream/histogram": "internal/sealed internal/mechanism/stream/linear",
	"internal/mechanism/stream/predict":   "internal/mechanism/stream/linear",
	"holdout":                             "dp mech session account internal/numeric",
	"internal/mechanism/holdout/labels":   "dp internal/sealed",
	"internal/lab/holdoutdemo":            "dp mech session account holdout internal/detrand internal/numeric",
	// Private training. What solves sees rows and neither noise nor a budget.
	"learn": "dp account mech internal/sealed internal/mechanism/learn internal/mechanism/learn/solve internal/mechanism/learn/solve " +
		"internal/mechanism/learn/solve internal/mechanism/learn/vector internal/mechanism/learn/model",
	"internal/mechanism/learn/model":  "dp internal/mechanism/learn/vector",
	"internal/mechanism/learn/vector": "",
	"internal/mechanism/learn":        "dp account internal/numeric internal/numeric",
	"internal/mechanism/learn/solve":  "",
	"internal/mechanism/learn/solve":  "internal/mechanism/learn/vector",
	"internal/mechanism/learn/solve":  "internal/mechanism/learn/solve internal/mechanism/learn/solve",
	// Measures trainings on rows that are made up, or everybody's.
	"internal/lab/traindemo": "dp mech learn internal/mechanism/learn/solve internal/mechanism/learn/solve internal/mechanism/learn/solve internal/detrand",
	// What watches such sessions in tests.
	"internal/test/sessiontest": "dp mech session internal/sealed",
	"internal/curator/budgets":  "dp",
	"internal/policywords":      "dp policy",
	"internal/render":           "dp internal/render api learn",
	// Several servers, from outside: what they have said over HTTP, and nothing else.
	"internal/federate": "api mech",
	"client":            "api dp internal/entropy internal/render internal/federate",
	// What a question costs, and what its answer looks like. Neither sees data, exact values or the
	// ledger.
	"internal/curator/pricing": "dp mech policy api internal/planner internal/planner/tree internal/numeric",
	"internal/curator/answers": "dp mech policy api internal/planner internal/planner/expr internal/planner/tree internal/curator/pricing internal/engine/postquery",
	// The accounts of a dataset: budgets, promises, top-ups, renewals.
	"internal/curator/budgets": "dp account policy ledger api internal/curator/pricing",
	// What was released is kept and found again.
	"internal/curator/answercache": "dp mech policy ledger api internal/planner/cells internal/planner/meter internal/planner/tree internal/curator/pricing " +
		"internal/curator/answers internal/lru internal/releaseclock",
	// Sessions have of the curator what internal/session/sessionhost says, and no engine.
	"internal/session/sessionhost": "mech policy ledger internal/engine api session internal/planner internal/planner/tree internal/curator/pricing " +
		"internal/curator/budgets",
	"internal/session/sparsesession": "dp mech ledger api internal/planner internal/planner/tree internal/curator/pricing internal/session/sessionhost",
	"internal/session/streamsession": "dp account mech policy ledger api session stream internal/mechanism/stream/histogram internal/mechanism/stream/linear " +
		"internal/mechanism/stream/predict internal/planner/cells internal/planner/meter internal/curator/pricing internal/curator/answers internal/curator/answercache " +
		"internal/session/sessionhost internal/releaseclock",
	"internal/session/holdoutsession": "dp mech policy ledger api session holdout internal/mechanism/holdout/labels internal/planner internal/planner/tree " +
		"internal/planner/syntax internal/planner/meter internal/curator/pricing " +
		"internal/curator/answers internal/curator/answercache internal/session/sessionhost internal/releaseclock",
	"internal/session/training": "dp account mech policy ledger api learn internal/planner internal/planner/tree internal/curator/pricing internal/curator/answercache " +
		"internal/session/sessionhost internal/releaseclock",
	"internal/curator": "dp policy mech ledger internal/engine api learn internal/planner internal/planner/meter internal/planner/tree " +
		"internal/planner/verify internal/curator/pricing internal/curator/answers internal/curator/budgets internal/curator/answercache internal/session/sessionhost " +
		"internal/session/sparsesession internal/session/streamsession internal/session/holdoutsession internal/session/training " +
		"internal/planner/syntax internal/lru internal/releaseclock",
	".": "dp noise mech policy internal/planner internal/planner/meter internal/planner/syntax internal/planner/tree ledger internal/ledger/openledger " +
		"internal/engine internal/engine/duckdb internal/engine/trino store internal/curator internal/curator/budgets internal/session/sparsesession " +
		"internal/session/training stream learn api internal/curator/policycheck internal/lru internal/engine/publictime internal/underway",
	// What is wrong with a policy. It asks a curator that has neither data nor a ledger.
	"internal/curator/policycheck": "policy internal/planner internal/curator internal/source/pgtables internal/source/trinotables",
	// The doors. None of them sees an engine, a ledger or noise: they ask the dispatcher.
	"internal/server": ". policy internal/server/agent internal/server/clientlimits internal/server/clientlimits internal/server/clientlimits " +
		"internal/server/admission internal/server/users " +
		"internal/server/pgwire internal/server/httpapi internal/server/openid internal/server/web api",
	"internal/server/admission": ". dp policy internal/entropy internal/releaseclock internal/underway api ledger learn stream",
	"internal/server/users":     "internal/entropy internal/source/pgdial internal/server/clientlimits internal/username",
	// The catalogue: the policy is for the model, and the interpreter sees only the tables that it
	// is given.
	"internal/pgcatalog": "policy internal/pgcatalog/datum internal/pgcatalog/datum " +
		"internal/pgcatalog/interpret internal/pgcatalog/oid",
	// The tools of a language model. What they say about the data comes of the dispatcher, and the
	// rest of the policy.
	"internal/server/agent": "api ledger policy internal/policywords internal/render internal/sandbox internal/server/admission " +
		"internal/server/httpapi internal/server/users internal/render",
	"internal/server/web":    "web",
	"internal/test/browser":  "", // its tests run everything
	"internal/server/openid": "internal/entropy",
	"internal/server/pgwire": "dp policy ledger internal/render internal/render internal/entropy internal/planner/grammar " +
		"internal/server/admission internal/server/users internal/pgcatalog internal/server/clientlimits internal/server/clientlimits " +
		"internal/server/clientlimits api " +
		"internal/pgcatalog/datum internal/pgcatalog/interpret internal/pgcatalog/datum internal/pgcatalog/oid " +
		"internal/planner/syntax",
	"internal/server/clientlimits": "",
	"internal/server/clientlimits": "",
	"internal/server/clientlimits": "",
	"internal/test/tools":          "", // its tests run everything
	"internal/server/httpapi": ". dp policy internal/curator/budgets internal/entropy internal/curator/budgets internal/ledger/chain " +
		"internal/policywords internal/ledger/replay internal/render internal/server/admission internal/server/clientlimits " +
		"internal/server/openid internal/server/clientlimits internal/server/users " +
		"ledger api learn stream",
	// For one program, which brings its own numbers: noise and mechanisms, and no data of anybody
	// else.
	"internal/localsocket":   "internal/entropy",
	"internal/lab/workbench": "api client dp internal/lab/workload learn mech noise",
	"internal/lab/enumerate": "",
	"internal/lab/stat":      "",
	"internal/lab/enumerate": "dp internal/lab/enumerate internal/numeric",
	"internal/lab/density":   "internal/lab/enumerate internal/detrand internal/numeric internal/numeric",
	"internal/lab/stat":      "noise internal/numeric internal/numeric",
	"audit": "dp noise mech survey learn internal/mechanism/learn internal/mechanism/learn/solve internal/mechanism/learn/solve " +
		"internal/mechanism/learn/solve internal/lab/enumerate internal/lab/enumerate internal/lab/density internal/lab/stat",
	"internal/lab/lockstep": "dp mech policy internal/planner internal/planner/tree ledger internal/engine internal/engine/duckdb " +
		"internal/curator internal/lab/enumerate internal/sealed internal/entropy internal/detrand internal/fakedata " +
		"internal/ledger/memledger api",
	"internal/pgcatalog/interpret": "internal/pgcatalog/datum internal/pgcatalog/datum internal/pgcatalog/oid " +
		"internal/planner/grammar",
	"internal/pgcatalog/oid":   "internal/pgcatalog/datum",
	"internal/pgcatalog/datum": "",
	"internal/pgcatalog/datum": "",
	// The command. Groups of commands do not see one another, but for a demonstration that reads
	// prices as a comparison of trainings does.
	"cmd/discreet": "cmd/discreet/internal/labcmd cmd/discreet/internal/querycmd cmd/discreet/internal/querycmd " +
		"cmd/discreet/internal/labcmd " +
		"cmd/discreet/internal/console " +
		"cmd/discreet/internal/labcmd cmd/discreet/internal/sessioncmd cmd/discreet/internal/ownercmd cmd/discreet/internal/ownercmd " +
		"cmd/discreet/internal/ownercmd " +
		"cmd/discreet/internal/querycmd cmd/discreet/internal/ownercmd cmd/discreet/internal/sessioncmd cmd/discreet/internal/labcmd " +
		"cmd/discreet/internal/sessioncmd cmd/discreet/internal/ownercmd",
	"cmd/discreet/internal/labcmd": "internal/privacyloss internal/lab/workload cmd/discreet/internal/console internal/lab/chart internal/render " +
		"internal/lab/workbench",
	"cmd/discreet/internal/querycmd": "api client cmd/discreet/internal/console dp internal/render internal/render",
	"cmd/discreet/internal/querycmd": "cmd/discreet/internal/console internal/localsocket internal/server internal/server/users " +
		"internal/lab/workbench policy",
	"cmd/discreet/internal/labcmd": "audit cmd/discreet/internal/console internal/lab/enumerate internal/lab/lockstep internal/render",
	"cmd/discreet/internal/console": "internal/lab/workload api client dp internal/lab/chart internal/ledger/openledger internal/ownerkey " +
		"internal/policywords internal/render ledger policy",
	"cmd/discreet/internal/labcmd": ". api cmd/discreet/internal/console cmd/discreet/internal/sessioncmd dp internal/lab/hospital " +
		"internal/ledger/sqlite internal/render internal/lab/hospital internal/render internal/lab/traindemo ledger",
	"cmd/discreet/internal/sessioncmd": ". api cmd/discreet/internal/console dp holdout internal/lab/chart internal/lab/holdoutdemo " +
		"internal/render internal/render internal/mechanism/holdout/labels",
	"cmd/discreet/internal/ownercmd": ". api cmd/discreet/internal/console dp internal/ledger/replay internal/ledger/sqlite " +
		"internal/ledger/openledger internal/ledger/chain " +
		"internal/ownerkey internal/render internal/render ledger policy internal/ledger/anchor",
	"cmd/discreet/internal/ownercmd": ". cmd/discreet/internal/console internal/server internal/server/admission internal/server/agent " +
		"internal/server/httpapi internal/server/users",
	"cmd/discreet/internal/ownercmd": ". cmd/discreet/internal/console dp internal/engine/duckdb internal/ownerkey internal/render " +
		"internal/render ledger policy internal/curator/policycheck internal/policywords internal/source/policydraft internal/curator/budgets internal/ledger/openledger " +
		"internal/source/policydraft internal/source/trinotables internal/engine internal/engine/trino",
	"cmd/discreet/internal/querycmd": ". api cmd/discreet/internal/console dp internal/lab/chart internal/curator/budgets internal/render " +
		"internal/render ledger policy",
	"cmd/discreet/internal/ownercmd": "web cmd/discreet/internal/console internal/lab/hospital internal/policywords internal/server " +
		"internal/server/openid " +
		"internal/server/users internal/render",
	"cmd/discreet/internal/sessioncmd": ". api cmd/discreet/internal/console internal/lab/chart internal/render internal/render stream",
	"cmd/discreet/internal/labcmd":     "cmd/discreet/internal/console dp internal/lab/chart internal/render internal/render survey",
	"cmd/discreet/internal/sessioncmd": ". api cmd/discreet/internal/console dp internal/lab/chart internal/render internal/render " +
		"internal/lab/traindemo learn",
	"cmd/discreet/internal/ownercmd": "cmd/discreet/internal/console internal/render internal/server/users internal/render policy",
}

// forbidden says who alone may import a package, outside of tests.
var forbidden = map[string]string{
	// Randomness has one source, and noise is all that is made of it. A ledger's identity is random
	// too, and is no noise, and so is an owner's key, and the name of a request. A replay has
	// randomness that repeats, for databases that it makes up.
	"crypto/rand": "internal/entropy",
	module + "/internal/entropy": "client noise internal/server/openid internal/ledger/groupcommit internal/ledger/postgres " +
		"internal/ledger/sqlite " +
		"internal/lab/lockstep internal/detrand internal/ownerkey " +
		"internal/server/admission internal/server/users internal/server/pgwire internal/server/httpapi internal/localsocket",
	"math/rand":    "",
	"math/rand/v2": "",
	// Opening a sealed value is for engines, which seal, and mechanisms. A replay measures how
	// far apart two of them are, and does not open them; see TestSealedStaysSealed.
	module + "/internal/exact": "mech internal/engine internal/test/reference internal/engine/sqlengine internal/lab/lockstep " +
		"internal/test/neighbours internal/test/sessiontest internal/mechanism/stream/histogram internal/mechanism/holdout/labels learn",
	// Training rows are private, and exact.
	module + "/internal/learn/rows": "learn internal/mechanism/learn/solve internal/lab/traindemo audit",
	// Nobody but an engine talks to the data, and the demonstration to its own. The engine for
	// outer queries has a DuckDB with released results and nothing else.
	"github.com/duckdb/duckdb-go/v2": "internal/engine/duckdb internal/engine/duckdb/chunks internal/engine/postquery " +
		"cmd/discreet/internal/sessioncmd cmd/discreet/internal/labcmd",
	"github.com/duckdb/duckdb-go-bindings": "internal/engine/duckdb/chunks",
	"modernc.org/sqlite":                   "internal/ledger/sqlite internal/server/users",
	"github.com/jackc/pgx/v5": "internal/ledger/anchor internal/ledger/postgres internal/source/pgdial internal/source/pgtables " +
		"internal/server/users internal/test/testpg",
	"github.com/trinodb/trino-go-client/trino": "internal/test/testtrino internal/source/trinotables",
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
		strings.HasPrefix(name, "internal/sealed/") ||
		strings.HasPrefix(name, "internal/mechanism/stream/histogram/") || strings.HasPrefix(name, "internal/mechanism/holdout/labels/")
	if strings.Contains(text, ".Open()") && !opens {
		out = append(out, name+" opens a sealed value")
	}
	if strings.Contains(text, "exact.NewCollector(") && !strings.HasPrefix(name, "learn/") {
		out = append(out, name+" takes exact rows, which are for a trainer alone")
	}
	measures := strings.HasPrefix(name, "internal/lab/lockstep/") || strings.HasPrefix(name, "internal/test/neighbours/") ||
		strings.HasPrefix(name, "internal/test/sessiontest/")
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
		{"internal/lab/lockstep/judge.go", "c.Values.Open()[0]"},
		{"internal/curator/answers/finish.go", "fmt.Println(x.Open())"},
		{"internal/session/training/train.go", "into := exact.NewCollector(func(codes []int64) { fmt.Println(codes) })"},
		{"internal/mechanism/stream/session.go", "v := s.data.Answer(q).Open()[0]"},
		{"internal/mechanism/stream/predict/weights.go", "t.Open()"},
		{"internal/mechanism/holdout/session.go", "q.Holdout.Open()[0]"},
		{"internal/curator/curator.go", "m, ok := exact.Between(a, b)"},
		{"internal/test/generate/database.go", "n := exact.Apart(a, b)"},
	} {
		if len(unsealing(planted[0], planted[1])) != 1 {
			t.Errorf("not seen: %s in %s", planted[1], planted[0])
		}
	}
}
