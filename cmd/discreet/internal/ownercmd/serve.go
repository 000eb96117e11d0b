package ownercmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
	"go.yaml.in/yaml/v3"

	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/internal/policywords"
	"github.com/discreet-dp/discreet/internal/server"
	"github.com/discreet-dp/discreet/internal/server/openid"
	"github.com/discreet-dp/discreet/internal/server/users"
	page "github.com/discreet-dp/discreet/internal/server/web"
	"github.com/discreet-dp/discreet/internal/version"
)

// ServeCmd is the server. Every flag but --config and --demo can also be a key of the file and a
// variable of the environment.
type ServeCmd struct {
	Config string `help:"A YAML file with these flags as keys; flags and the environment take precedence." placeholder:"FILE" env:"DISCREET_CONFIG"`
	Demo   bool   `help:"Serve a made-up hospital from a temporary folder, and print the passwords of its users."`

	Policy string `help:"The policy file." placeholder:"FILE" short:"p" env:"DISCREET_POLICY"`
	Users  string `help:"The file of the users, or the address of their database (postgres://...); by default next to the ledger, as .users, or in its database." placeholder:"FILE" env:"DISCREET_USERS"`

	Listen    string `help:"The address for PostgreSQL clients, ${default} unless given; empty means none." default:"${listen}" placeholder:"ADDRESS" env:"DISCREET_LISTEN"`
	HTTP      string `help:"The address for HTTP, ${default} unless given; empty means none." name:"http" default:"${http}" placeholder:"ADDRESS" env:"DISCREET_HTTP"`
	TLSCert   string `help:"The certificate, in PEM. You can renew it while the server runs." name:"tls-cert" placeholder:"FILE" env:"DISCREET_TLS_CERT"`
	TLSKey    string `help:"The key of the certificate, in PEM." name:"tls-key" placeholder:"FILE" env:"DISCREET_TLS_KEY"`
	Plaintext bool   `help:"Listen without TLS where others can connect, because a proxy in front encrypts." env:"DISCREET_PLAINTEXT"`

	TrustProxy string `help:"Addresses or networks of proxies that say for whom they connect, by the PROXY protocol, Forwarded or X-Forwarded-For. Only these are believed." name:"trust-proxy" placeholder:"CIDR,..." env:"DISCREET_TRUST_PROXY"`

	Running          int           `help:"How many questions have a turn at once; 0 means two for each core, and at least four." default:"0" placeholder:"N" env:"DISCREET_RUNNING"`
	Waiting          int           `help:"How many questions of one analyst can wait, ${default} unless given. Questions that are answered from memory do not count." default:"200" placeholder:"N" env:"DISCREET_WAITING"`
	Timeout          time.Duration `help:"How long a question may take, ${default} unless given. A question that would take longer is refused, free. If the policy says release: tick or immediate, it is stopped instead, which is an incident: the charge stays, and the analyst is shut out until 'discreet incidents release'." default:"5m" placeholder:"TIME" env:"DISCREET_TIMEOUT"`
	Rate             int           `help:"How many questions each analyst may ask in a minute, ${default} unless given." default:"600" placeholder:"N" env:"DISCREET_RATE"`
	Patience         time.Duration `help:"How long a question that comes too early for --rate waits, ${default} unless given; one that would wait longer is refused. 0 means that none waits." default:"10s" placeholder:"TIME" env:"DISCREET_PATIENCE"`
	Connections      int           `help:"How many connections each listener accepts, ${default} unless given." default:"1000" placeholder:"N" env:"DISCREET_CONNECTIONS"`
	SessionIdle      time.Duration `help:"Sign a browser out after this long without requests, ${default} unless given." default:"30m" placeholder:"TIME" env:"DISCREET_SESSION_IDLE"`
	SessionLength    time.Duration `help:"Sign a browser out after this long in any case, ${default} unless given." default:"12h" placeholder:"TIME" env:"DISCREET_SESSION_LENGTH"`
	OpenIDIssuer     string        `help:"The OpenID Connect provider that people can sign in with, such as https://login.example.org." name:"openid-issuer" placeholder:"ADDRESS" env:"DISCREET_OPENID_ISSUER"`
	OpenIDClient     string        `help:"The id of this server at the provider." name:"openid-client" placeholder:"ID" env:"DISCREET_OPENID_CLIENT"`
	OpenIDSecretFile string        `help:"The file of the client's secret; or the secret itself in DISCREET_OPENID_SECRET." name:"openid-secret-file" placeholder:"FILE" env:"DISCREET_OPENID_SECRET_FILE"`
	OpenIDClaim      string        `help:"The claim that holds the name of a user, ${default} unless given." name:"openid-claim" default:"email" placeholder:"CLAIM" env:"DISCREET_OPENID_CLAIM"`
	OpenIDDomain     string        `help:"The domain that the claim must end in; the part before the @ is then the name of the user." name:"openid-domain" placeholder:"DOMAIN" env:"DISCREET_OPENID_DOMAIN"`
	OpenIDName       string        `help:"The name to show for the provider; its host unless given." name:"openid-name" placeholder:"NAME" env:"DISCREET_OPENID_NAME"`
	Memory           string        `help:"How much memory the engine of each dataset may use, such as 4GB." placeholder:"SIZE" env:"DISCREET_MEMORY"`
	Threads          int           `help:"How many cores one question can use; 0 means all." default:"0" placeholder:"N" env:"DISCREET_THREADS"`

	Notify string `help:"A program to run when an analyst asks for more budget, and when you answer: it gets the event as JSON on standard input, and can send mail or call a webhook." placeholder:"PROGRAM" env:"DISCREET_NOTIFY"`

	CheckLedger bool `help:"Check the whole ledger before answering anything. Without it, a large ledger is opened from its last checkpoint, and checked while the server runs." env:"DISCREET_CHECK_LEDGER"`

	LogFormat       string        `help:"The format of the log: text or json; ${default} unless given." enum:"text,json" default:"text" placeholder:"FORMAT" env:"DISCREET_LOG_FORMAT"`
	LogLevel        string        `help:"The lowest level to log: debug, info, warn or error; ${default} unless given." enum:"debug,info,warn,error" default:"info" placeholder:"LEVEL" env:"DISCREET_LOG_LEVEL"`
	LogTexts        bool          `help:"Log the texts of questions, which can be about people; without it, only a hash." env:"DISCREET_LOG_TEXTS"`
	ShutdownTimeout time.Duration `help:"How long running questions may take to finish when the server stops, ${default} unless given." default:"30s" placeholder:"TIME" env:"DISCREET_SHUTDOWN_TIMEOUT"`
}

const (
	DefaultListen = "127.0.0.1:5432"
	DefaultHTTP   = "127.0.0.1:8432"
)

func (ServeCmd) Help() string {
	return `Lets analysts ask with psql, with anything that speaks PostgreSQL's protocol, and over HTTP. Add users with
'discreet user add'. The log goes to standard error. SIGTERM and Ctrl-C let running questions finish; a second
signal ends the server at once. SIGHUP reads the certificate and the policy again, as 'discreet reload' does.

  discreet serve --demo                     a made-up hospital to try it with
  discreet serve --policy hospital.yaml     for this machine only
  discreet serve --config server.yaml       with a file; deploy/server.yaml is an example
  discreet serve --policy hospital.yaml --listen :5432 --http :8432 --tls-cert tls.crt --tls-key tls.key`
}

func (c *ServeCmd) Run(ctx context.Context, s console.Screen) error {
	config, err := c.serverConfig(s)
	if err != nil {
		return err
	}
	tour := func(*server.Server) {}
	if c.Demo {
		d, err := newServeDemo(ctx, c, &config)
		if err != nil {
			return err
		}
		defer d.remove()
		tour = func(srv *server.Server) { d.tour(s, srv) }
	}
	var stage console.Stage
	progress := NewTimeoutExtender(NotifySystemd)
	config.Progress = func(what string, done, of int64) {
		stage.Tell(what, done, of)
		progress()
	}
	done := console.WaitingFor(s.Err, stage.Or("opening the ledger"))
	srv, err := server.Begin(ctx, config)
	done()
	if err != nil {
		return refuseServing(err)
	}
	return c.serve(ctx, config.Log, srv, func(ctx context.Context) error {
		done := console.WaitingFor(s.Err, stage.Or("opening the data"))
		err := srv.OpenData(ctx)
		done()
		if err != nil {
			return err
		}
		c.greet(s, srv)
		tour(srv)
		return s.Failed()
	})
}

func (c *ServeCmd) serverConfig(s console.Screen) (server.Config, error) {
	switch {
	case c.Demo && (c.Policy != "" || c.Users != ""):
		return server.Config{}, console.Misuse(errors.New("--demo has its own policy and users; leave out --policy and --users, or " +
			"--demo"))
	case !c.Demo && c.Policy == "":
		return server.Config{}, console.Misuse(errors.New("name the policy with --policy, in DISCREET_POLICY or in the --config " +
			"file; 'discreet serve --demo' needs none"))
	case c.Patience < 0:
		return server.Config{}, console.Misuse(errors.New("--patience is below 0; 0 means that no question waits"))
	case c.ShutdownTimeout < 0:
		return server.Config{}, console.Misuse(errors.New("--shutdown-timeout is below 0"))
	}
	secret, err := c.readOIDCSecret()
	if err != nil {
		return server.Config{}, console.Misuse(err)
	}
	return server.Config{
		OpenID: openid.Config{Issuer: c.OpenIDIssuer, Client: c.OpenIDClient, Secret: secret, Claim: c.OpenIDClaim, Domain: c.OpenIDDomain,
			Name: c.OpenIDName},
		Notify: c.Notify,
		Policy: c.Policy, Users: c.Users, Listen: c.Listen, HTTP: c.HTTP, Certificate: c.TLSCert, Key: c.TLSKey, Plaintext: c.Plaintext,
		TrustProxy: c.TrustProxy,
		Running:    c.Running, Waiting: c.Waiting, Timeout: c.Timeout, Rate: c.Rate, Patience: cmp.Or(c.Patience, -1),
		Connections: c.Connections, Ends: users.Ends{Idle: c.SessionIdle, Whole: c.SessionLength}, Demo: c.Demo,
		Memory: c.Memory, Threads: c.Threads,
		FullCheck: c.CheckLedger, Log: c.logger(s), Texts: c.LogTexts, Version: version.Version,
	}, nil
}

// readOIDCSecret returns the client's secret at the OpenID provider. It is no flag: others on the
// machine see those.
func (c *ServeCmd) readOIDCSecret() (string, error) {
	given := os.Getenv("DISCREET_OPENID_SECRET")
	if c.OpenIDSecretFile == "" {
		return given, nil
	}
	if given != "" {
		return "", errors.New("the secret of the OpenID client is given both in DISCREET_OPENID_SECRET and in --openid-secret-file; " +
			"keep one")
	}
	text, err := os.ReadFile(c.OpenIDSecretFile)
	if err != nil {
		return "", fmt.Errorf("--openid-secret-file: %w", err)
	}
	return strings.TrimSpace(string(text)), nil
}

func (c *ServeCmd) logger(s console.Screen) *slog.Logger {
	var level slog.Level
	level.UnmarshalText([]byte(c.LogLevel)) // one of the words, which was checked
	o := &slog.HandlerOptions{Level: level}
	if c.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(s.Err, o))
	}
	return slog.New(slog.NewTextHandler(s.Err, o))
}

// refuseServing marks what the command line can put right.
func refuseServing(err error) error {
	var plaintext *server.PlaintextError
	if errors.As(err, &plaintext) || errors.Is(err, server.ErrNoUsers) {
		return console.Misuse(err)
	}
	return err
}

// serve answers until it is told to end, and ends in order. The data is opened meanwhile.
func (c *ServeCmd) serve(ctx context.Context, log *slog.Logger, srv *server.Server, open func(context.Context) error) error {
	again := make(chan os.Signal, 1)
	signal.Notify(again, syscall.SIGHUP)
	defer signal.Stop(again)
	served := make(chan error, 1)
	go func() { served <- srv.Serve() }()
	opened := make(chan error, 1)
	opening, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { opened <- open(opening) }()
	var err error
	done := false
	for waiting := true; waiting; {
		select {
		case err = <-opened:
			done, waiting = true, err == nil
			if err == nil {
				NotifySystemd("READY=1")
				log.Info("ready", "version", version.Version)
			}
		case <-again:
			if err := srv.ReloadCertificate(); err != nil {
				log.Error("the certificate could not be read again; the last one stays in use", "error", err)
			} else if srv.Encrypted() {
				log.Info("the certificate was read again")
			}
			go srv.ReloadPolicy(opening) // opening data can take long
		case err = <-served:
			waiting = false
		case <-ctx.Done():
			waiting = false
		}
	}
	if cancel(); !done {
		<-opened
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		err = nil // it was told to end while it opened the data
	}
	NotifySystemd("STOPPING=1")
	log.Info("ending", "timeout", c.ShutdownTimeout)
	last, stop := context.WithTimeout(context.WithoutCancel(ctx), c.ShutdownTimeout)
	defer stop()
	err = errors.Join(err, console.NotInOrder(srv.Shutdown(last)))
	log.Info("ended")
	return err
}

// greet says where the server listens and, where no tour follows, how to connect.
func (c *ServeCmd) greet(s console.Screen, srv *server.Server) {
	if a := srv.WireAddr(); a != nil {
		fmt.Fprintf(s.Out, "PostgreSQL on %s\n", a)
		if dataset, analyst := firstAnalyst(srv); !c.Demo {
			fmt.Fprintf(s.Out, "  %s\n", psqlLine(a, srv.Encrypted(), dataset, url.User(analyst)))
		}
	}
	if a := srv.HTTPAddr(); a != nil {
		fmt.Fprintf(s.Out, "HTTP on %s\n", a)
		if page.Built {
			fmt.Fprintf(s.Out, "  %s/ is the page, in a browser\n", webAddress(a, srv.Encrypted()))
		}
		fmt.Fprintf(s.Out, "  %s/openapi.json describes it, with a token\n", webAddress(a, srv.Encrypted()))
	}
	ticks := srv.Ticks()
	for _, name := range srv.Policy().Names() {
		fmt.Fprintf(s.Out, "%s: %s\n", name, policywords.Release(srv.Policy().Datasets[name], ticks[name]))
	}
}

// firstAnalyst is the first dataset of the policy and the first of its analysts.
func firstAnalyst(srv *server.Server) (dataset, analyst string) {
	p := srv.Policy()
	dataset = p.Names()[0]
	return dataset, slices.Concat(p.Datasets[dataset].AnalystNames(), []string{"ANALYST"})[0]
}

func psqlLine(a net.Addr, encrypted bool, dataset string, who *url.Userinfo) string {
	u := url.URL{Scheme: "postgresql", User: who, Host: localAddress(a), Path: "/" + dataset}
	if encrypted {
		u.RawQuery = "sslmode=require"
	}
	return "psql " + console.ShellQuote(u.String())
}

func webAddress(a net.Addr, encrypted bool) string {
	if encrypted {
		return "https://" + localAddress(a)
	}
	return "http://" + localAddress(a)
}

// localAddress is an address as somebody on this machine connects to it.
func localAddress(a net.Addr) string {
	host, port, err := net.SplitHostPort(a.String())
	if ip := net.ParseIP(host); err == nil && ip.IsUnspecified() {
		return net.JoinHostPort("localhost", port)
	}
	return a.String()
}

// serveFile is the file of --config: the flags of serve, by their names.
type serveFile struct {
	path string
	keys map[string]*yaml.Node
}

var notKeys = []string{"config", "demo", "help"}

// fileKeys are the keys that name a file, from the folder of the file that they stand in.
var fileKeys = []string{"policy", "users", "tls-cert", "tls-key", "openid-secret-file"}

// BeforeResolve reads the file. What it says counts where neither a flag nor the environment does.
func (c *ServeCmd) BeforeResolve(ctx *kong.Context) error {
	path := os.Getenv("DISCREET_CONFIG")
	var names []string
	for _, flag := range ctx.Flags() {
		if slices.Contains(notKeys, flag.Name) {
			if given, ok := ctx.FlagValue(flag).(string); flag.Name == "config" && ok && given != "" {
				path = given
			}
			continue
		}
		names = append(names, flag.Name)
	}
	if path == "" {
		return nil
	}
	f, err := readServeFile(path, names)
	if err != nil {
		return err
	}
	ctx.AddResolver(f)
	return nil
}

// readServeFile reads a file that has some of the names as keys, and no others.
func readServeFile(path string, names []string) (*serveFile, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("--config: %w", err)
	}
	defer file.Close()
	f := &serveFile{path, map[string]*yaml.Node{}}
	var document yaml.Node
	reader := yaml.NewDecoder(io.LimitReader(file, 1<<20))
	if err := reader.Decode(&document); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %s", path, strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if document.Kind == 0 || document.Content[0].Tag == "!!null" {
		return f, nil // only comments
	}
	if err := reader.Decode(&yaml.Node{}); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: the file has more than one document; keep one", path)
	}
	top := document.Content[0]
	if top.Kind != yaml.MappingNode {
		return nil, f.errorAt(top, "write keys and values, such as policy: hospital.yaml")
	}
	var wrong []error
	for i := 0; i+1 < len(top.Content); i += 2 {
		key, value := top.Content[i], top.Content[i+1]
		switch {
		case !slices.Contains(names, key.Value):
			wrong = append(wrong, f.errorAt(key, "there is no key %q; the keys are %s", key.Value, strings.Join(names, ", ")))
		case f.keys[key.Value] != nil:
			wrong = append(wrong, f.errorAt(key, "%s is given twice, first in line %d; keep one", key.Value, f.keys[key.Value].Line))
		case value.Kind != yaml.ScalarNode:
			wrong = append(wrong, f.errorAt(value, "%s must be a single value", key.Value))
		default:
			f.keys[key.Value] = value
		}
	}
	return f, errors.Join(wrong...)
}

// errorAt is something that is wrong at a place, in the form that editors jump to.
func (f *serveFile) errorAt(n *yaml.Node, format string, args ...any) error {
	return fmt.Errorf("%s:%d:%d: %s", f.path, n.Line, n.Column, fmt.Sprintf(format, args...))
}

// Validate implements [kong.Resolver]. The keys were checked when they were read.
func (f *serveFile) Validate(*kong.Application) error { return nil }

// Resolve implements [kong.Resolver]. The value is tried first, so that what is wrong with it has a
// line.
func (f *serveFile) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	n := f.keys[flag.Name]
	if n == nil {
		return nil, nil
	}
	for _, name := range flag.Envs {
		if _, ok := os.LookupEnv(name); ok {
			return nil, nil
		}
	}
	text := n.Value
	if n.Tag == "!!null" {
		text = ""
	}
	if slices.Contains(fileKeys, flag.Name) && text != "" && !filepath.IsAbs(text) && !users.InDatabase(text) {
		text = filepath.Join(filepath.Dir(f.path), text)
	}
	value := *flag.Value // a copy, because trying it notes that it was set
	err := value.Parse(kong.Scan().PushTyped(text, kong.FlagValueToken), reflect.New(flag.Target.Type()).Elem())
	if err == nil && flag.Enum != "" && !slices.Contains(strings.Split(flag.Enum, ","), text) {
		err = fmt.Errorf("must be one of %s", strings.ReplaceAll(flag.Enum, ",", ", "))
	}
	if err != nil {
		return nil, f.errorAt(n, "%v", err)
	}
	return text, nil
}

// NotifySystemd tells systemd how the service is, where it wants to know. Nobody is harmed where it
// does not get there.
func NotifySystemd(state string) {
	socket := os.Getenv("NOTIFY_SOCKET")
	if socket == "" {
		return
	}
	conn, err := net.Dial("unixgram", socket) // a name that begins with @ is an abstract one
	if err != nil {
		return
	}
	defer conn.Close()
	conn.Write([]byte(state))
}

// What systemd is told while something is opened: to wait for longer than it would, as long as
// there is progress.
const (
	extendTimeoutEvery = 30 * time.Second
	extendTimeoutBy    = 5 * time.Minute
)

// NewTimeoutExtender tells systemd to be patient, now and then, when more of something was read.
func NewTimeoutExtender(tell func(string)) func() {
	var mu sync.Mutex
	last := time.Now()
	return func() {
		mu.Lock()
		defer mu.Unlock()
		if now := time.Now(); now.Sub(last) >= extendTimeoutEvery {
			last = now
			tell(fmt.Sprintf("EXTEND_TIMEOUT_USEC=%d", extendTimeoutBy.Microseconds()))
		}
	}
}
