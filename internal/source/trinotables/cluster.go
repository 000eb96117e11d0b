package trinotables

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	trino "github.com/trinodb/trino-go-client/trino"

	"github.com/discreet-dp/discreet/internal/address"
)

// ClientName is what Trino knows our statements by, in its list of queries and in the selectors of
// resource groups. Each has this as a client tag, too.
const ClientName = "discreet"

// sessionProperties is what statements run with. Nothing else sets a property: not an address,
// which has no option for it, and no statement, because none of ours is SET SESSION.
//
// optimize_metadata_queries takes values of a partition from its name, whether or not there is a
// row in it. The other would hide the digits of timestamps in the types of columns.
var sessionProperties = map[string]string{"optimize_metadata_queries": "false", "omit_datetime_type_precision": "false"}

// ByPerson are properties of statements that group by person, which set them for themselves; see
// internal/engine/trino. They change how long it takes, and nothing that comes of it.
const ByPerson = "prefer_partial_aggregation = false, task_concurrency = 32"

// Properties names all properties that are set for statements.
func Properties() []string {
	all := slices.Sorted(maps.Keys(sessionProperties))
	for p := range strings.SplitSeq(ByPerson, ", ") {
		name, _, _ := strings.Cut(p, " ")
		all = append(all, name)
	}
	return all
}

// patience is how long a server may take to be connected to, and how long one that has gone away in
// the middle of a statement is looked for. silence is how long it may take to begin an answer:
// Trino answers within seconds, and says that there is nothing yet.
const patience, silence = 15 * time.Second, 60 * time.Second

// Cluster is a cluster, and a catalog of it.
type Cluster struct {
	address.Trino
	transport *guardedTransport
}

// Parse reads an address. The error says what is wrong with it or with the files that it names, in
// words that follow "the address". Nothing is connected to.
func Parse(text string) (*Cluster, error) {
	at, err := address.ParseTrino(text)
	if err != nil {
		return nil, err
	}
	p := &Cluster{Trino: at}
	p.transport, err = newTransport(at)
	return p, err
}

func (p *Cluster) String() string { return p.Where() }

// Open returns a handle. Nothing is connected to before it is used. The tags are beside our own, so
// that an administrator can tell datasets apart.
func (p *Cluster) Open(tags ...string) (*sql.DB, error) {
	scheme := "https"
	if p.Plain {
		scheme = "http"
	}
	long, noDeadline := patience, time.Duration(1<<62)
	server := url.URL{Scheme: scheme, User: url.User(p.User), Host: net.JoinHostPort(p.Host, p.Port)}
	c, err := trino.NewConnector(&trino.Config{
		ServerURI: server.String(), Catalog: p.Catalog, Schema: p.Schema, Source: ClientName,
		ClientTags: append([]string{ClientName}, tags...), SessionProperties: sessionProperties, TimeZone: "UTC", Language: "en",
		HTTPClient: &http.Client{Transport: p.transport},
		// How long a question may take is for who asks it to say.
		RequestRetryTimeout: &long, QueryTimeout: &noDeadline, DisableExplicitPrepare: true,
	})
	if err != nil {
		// What the driver says may repeat parts of the address.
		return nil, fmt.Errorf("the address of the Trino cluster cannot be used; write %s", address.WantTrino)
	}
	return sql.OpenDB(&connector{c, p.transport}), nil
}

// connector closes the connections with the handle.
type connector struct {
	driver.Connector
	transport *guardedTransport
}

func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	return c.Connector.Connect(ctx)
}

func (c *connector) Close() error {
	c.transport.to.CloseIdleConnections()
	return nil
}
