package archtest

// Switchyard returns this repository's rules. A new room gets its row here and
// in the table of docs/architecture.md.
func Switchyard() Rules {
	return Rules{
		TopLevel: []string{
			"cmd", "peer", "plugins", "protocol", "localsched", "examples", "internal", "docs",
			"go.mod", "go.sum", "Makefile", "README.md", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md",
			"bin", // built, never committed
		},
		Rooms:     rooms(),
		Never:     never(),
		Libraries: libraries(),
		Clean:     clean(),
		Plugins:   plugins(),
	}
}

// The levels, from the ground up: DESIGN's "arrows point down".
const (
	numbers  = 5  // what the nouns print with
	nouns    = 10 // protocol
	borders  = 20 // the interfaces and the algorithms on bare nouns
	forms    = 25 // the nouns on the wire, and as people see them
	experts  = 30 // policies, the engine, the wire, what plugin authors import
	drivers  = 35 // what keeps the jobs of an engine
	loops    = 37 // what drives it by the wall clock
	machines = 40 // what drives an engine or a plugin
	advisers = 45 // what the core asks before it acts
	orders   = 46 // what the core is told once
	contract = 47 // what goes into its steps, and what comes out; what it knows of partners
	councils = 48 // what puts together what advisers say
	brokers  = 48 // advisers that go by what the core is told once
	desks    = 49 // what puts advisers together
	steps    = 48 // what the core's parts have in common in a step
	places   = 49 // where its jobs are
	rows     = 50 // what the core keeps of all that
	accounts = 51 // what that comes to in money and power, in rounds and in quotes
	answers  = 52 // what people are answered of it
	core     = 53 // the peer's state machine, and what does without it
	helpers  = 60 // what both shells and adapters use
	shells   = 70 // the loops around the core
	gates    = 75 // who is let in, beside those whom a shell knows
	adapters = 80 // what is plugged into the live shell
	parts    = 82 // what the daemon is made of, as far as it is a thing of its own
	keepers  = 83 // parts that use others
	daemons  = 84 // the parts as one peer
	grids    = 85 // several peers at once
	studies  = 87 // what is told as a study of a lower level tells it
	surveys  = 88 // studies put together
	wiring   = 90 // the binaries
)

// workers are the tests of studies that run many simulations side by side; each of the
// others has one goroutine for each simulation, which shares nothing.
const workers = "Workers|SameBytes|SearchThatFails|ThreadsDoNotMatter"

// simulated are the tests of commands that drive a simulation or an engine, alone or by way of a
// plugin: much computing in one goroutine. How hosts and plugins talk is raced elsewhere.
const simulated = "^Test(Sim|Standalone|CheckEngine|NewPlugins)"

func rooms() []Room { //nolint:funlen // a table
	return []Room{
		{Path: "protocol", Level: nouns, Pure: true},
		{Path: "internal/archtest/...", Level: nouns},
		{Path: "internal/int128", Level: nouns, Pure: true},
		{Path: "internal/localdisk", Level: nouns},
		{Path: "internal/passwd", Level: nouns},
		{Path: "internal/fileguard", Level: nouns},
		{Path: "internal/slurmlinks", Level: nouns},
		{Path: "internal/sparse", Level: nouns, Pure: true},
		{Path: "internal/staging", Level: borders},
		{Path: "internal/decimal", Level: numbers, Pure: true},
		{Path: "internal/problems", Level: nouns, Pure: true},
		{Path: "internal/problems/problemstest", Level: borders},
		{Path: "internal/oldnames", Level: nouns, Pure: true},
		{Path: "internal/parallel", Level: nouns},
		{Path: "internal/testprogram", Level: nouns},
		{Path: "internal/testlog", Level: nouns},
		{Path: "plugins/conformance", Level: nouns},
		{Path: "plugins/sdk/python", Level: nouns, Pure: true},

		{Path: "internal/tokens", Level: borders, Pure: true},
		{Path: "internal/quantity", Level: borders, Pure: true},
		{Path: "localsched", Level: borders, Pure: true},
		{Path: "localsched/partition", Level: borders, Pure: true},
		{Path: "localsched/power", Level: borders, Pure: true},
		{Path: "localsched/fairshare", Level: borders, Pure: true},
		{Path: "protocol/wire", Level: borders, Pure: true},
		{Path: "plugins/policy", Level: borders, Pure: true},
		{Path: "plugins/price", Level: borders, Pure: true},
		{Path: "internal/mincostflow", Level: borders, Pure: true},
		{Path: "internal/appassign", Level: borders, Pure: true},
		{Path: "internal/predict/gamma", Level: borders, Pure: true},
		{Path: "internal/predict/sarima", Level: borders, Pure: true},
		{Path: "internal/predict/wait/dbscan", Level: borders, Pure: true},
		{Path: "internal/workload", Level: borders, Pure: true},
		{Path: "internal/console", Level: borders},
		{Path: "internal/benchratio", Level: wiring},
		{Path: "internal/settings", Level: borders},
		{Path: "internal/wallclock", Level: borders},

		{Path: "protocol/common/v1", Level: forms},
		{Path: "protocol/protocoltest", Level: forms},
		{Path: "peer/view", Level: forms, Pure: true},
		{Path: "peer/signedtext", Level: borders, Pure: true},
		{Path: "peer/invitation", Level: forms, Pure: true},
		{Path: "peer/roster", Level: forms, Pure: true},
		{Path: "internal/slurmtext", Level: experts, Pure: true},

		{Path: "plugins/policy/*", Level: experts, Pure: true},
		{Path: "plugins/price/priceformat", Level: experts, Pure: true},
		{Path: "plugins/price/contract", Level: experts, Pure: true},
		{Path: "internal/predict/forecast", Level: experts, Pure: true},
		{Path: "internal/predict/wait", Level: experts, Pure: true},
		{Path: "localsched/engine", Level: experts, Pure: true},
		{Path: "peer/due", Level: experts, Pure: true},
		{Path: "peer/eligible", Level: experts, Pure: true},
		{Path: "peer/association", Level: experts, Pure: true},
		{Path: "peer/row", Level: experts, Pure: true},
		{Path: "peer/phase", Level: forms, Pure: true},
		{Path: "localsched/spool", Level: experts},
		{Path: "localsched/cgroup", Level: experts},
		{Path: "localsched/changefeed", Level: experts, Pure: true},
		{Path: "protocol/*/v1", Level: experts},

		{Path: "localsched/driver", Level: drivers, Pure: true},

		{Path: "plugins/sdk", Level: machines},
		{Path: "plugins/price/filefeed", Level: machines},
		{Path: "internal/budget", Level: machines, Pure: true},
		{Path: "internal/cost", Level: machines, Pure: true},
		{Path: "localsched/usage", Level: experts},
		{Path: "internal/nodebench", Level: machines},
		{Path: "localsched/live", Level: loops},
		{Path: "localsched/waitpredict", Level: machines},
		{Path: "localsched/virtual", Level: machines, Pure: true},
		{Path: "localsched/powergate", Level: machines},
		{Path: "localsched/tasks", Level: experts},
		{Path: "localsched/process", Level: machines},
		{Path: "localsched/slurm", Level: machines},
		{Path: "localsched/localschedtest", Level: machines},
		{Path: "plugins/policytest", Level: machines},
		{Path: "plugins/pricetest", Level: machines},
		{Path: "peer/gridqueue", Level: machines, Pure: true},
		{Path: "peer/lives", Level: machines, Pure: true},
		{Path: "peer/compact", Level: machines, Pure: true},
		{Path: "peer/intake", Level: machines, Pure: true},
		{Path: "peer/quoting", Level: machines, Pure: true},

		{Path: "peer/pricing", Level: advisers, Pure: true},
		{Path: "peer/status", Level: advisers, Pure: true},
		{Path: "peer/loadhistory", Level: advisers, Pure: true},
		{Path: "peer/accounting", Level: advisers, Pure: true},

		{Path: "peer/rounds", Level: councils, Pure: true},
		{Path: "peer/rules", Level: orders, Pure: true},

		{Path: "peer/event", Level: contract, Pure: true},
		{Path: "peer/partner", Level: contract, Pure: true},

		{Path: "peer/broker", Level: brokers, Pure: true},
		{Path: "peer/fairness", Level: brokers, Pure: true},
		{Path: "peer/admission", Level: desks, Pure: true},
		{Path: "peer/handoff", Level: desks, Pure: true},

		{Path: "peer/step", Level: steps, Pure: true},

		{Path: "peer/localrun", Level: places, Pure: true},

		{Path: "peer/tables", Level: rows, Pure: true},
		{Path: "peer/ledger", Level: accounts, Pure: true},
		{Path: "peer/hosting", Level: accounts, Pure: true},
		{Path: "peer/lineup", Level: accounts, Pure: true},
		{Path: "peer/moves", Level: accounts, Pure: true},
		{Path: "peer/answers", Level: answers, Pure: true},

		{Path: "peer", Level: core, Pure: true},
		{Path: "plugins/pluginhost", Level: core},
		{Path: "plugins/price/feeds", Level: core},
		{Path: "internal/batchscript", Level: core},
		{Path: "internal/priceforecast", Level: core},

		{Path: "plugins/skeleton", Level: helpers},
		{Path: "peer/identity", Level: helpers},
		{Path: "peer/audit", Level: core},
		{Path: "peer/spans", Level: core, Pure: true},
		{Path: "peer/connlimit", Level: helpers},
		{Path: "peer/clientcert", Level: helpers},
		{Path: "peer/transfer", Level: helpers},
		{Path: "peer/accounts", Level: helpers, Pure: true},
		{Path: "peer/witness", Level: helpers},
		{Path: "internal/metrics", Level: helpers},
		{Path: "peer/recording", Level: helpers},
		{Path: "peer/statedir", Level: helpers},

		{Path: "peer/eventstream", Level: helpers},

		{Path: "peer/accesstokens", Level: shells},
		{Path: "peer/openid", Level: gates},
		{Path: "peer/servercert", Level: shells},
		{Path: "peer/node", Level: shells},
		{Path: "peer/peertest", Level: shells},
		{Path: "internal/sim", Level: shells, Race: workers},

		{Path: "peer/openid/openidtest", Level: gates},

		{Path: "peer/gossip", Level: adapters},
		{Path: "peer/bus", Level: adapters},
		{Path: "peer/store", Level: adapters},
		{Path: "peer/results", Level: adapters},
		{Path: "peer/mail", Level: adapters},
		{Path: "peer/notices", Level: adapters},
		{Path: "peer/otlp", Level: adapters},
		{Path: "peer/config", Level: adapters},
		{Path: "peer/api", Level: adapters},
		{Path: "internal/report", Level: adapters},
		{Path: "internal/application", Level: adapters},

		{Path: "peer/display", Level: parts},
		{Path: "peer/dashboard", Level: keepers},
		{Path: "peer/top", Level: keepers},
		{Path: "peer/daemon/pricefeed", Level: parts},
		{Path: "peer/daemon/localqueue", Level: parts},
		{Path: "peer/daemon/powerbudget", Level: keepers},

		{Path: "peer/daemon", Level: daemons},

		{Path: "internal/testbed", Level: grids},
		{Path: "internal/experiment", Level: grids, Race: workers},
		{Path: "internal/reproduce", Level: grids, Race: workers},
		{Path: "internal/reproduce/bluegene", Level: studies, Race: workers},
		{Path: "internal/recordedgrid", Level: studies},
		{Path: "internal/reproduce/gridcost", Level: studies},
		{Path: "internal/reproduce/superscheduler", Level: studies, Race: workers},
		{Path: "internal/tune", Level: studies, Race: workers},
		{Path: "internal/reproduce/papers", Level: surveys},
		{Path: "internal/schedule", Level: studies},
		{Path: "internal/demo", Level: studies},
		{Path: "plugins/suite", Level: studies},

		{Path: "cmd/...", Level: wiring, Plain: simulated},
		{Path: "plugins/standalone", Level: wiring},
		{Path: "examples/...", Level: wiring},
	}
}

func never() []Never {
	const (
		injected = "its ports are injected by peer/daemon"
		drives   = "the simulator drives peer.Peer itself"
		public   = "examples use the public packages only"
		studied  = "the daemon and its parts link no study"
		contract = "it needs what goes into a peer and comes out, not the state machine"
	)
	return []Never{
		{"peer/node", "peer/gossip", injected},
		{"peer/node", "peer/bus", injected},
		{"peer/node", "peer/store", injected},
		{"peer/node", "peer/config", injected},
		{"peer/node", "peer/recording", injected},
		{"peer/node", "plugins/pluginhost", injected},
		{"peer/node", "localsched/process", injected},
		{"peer/node", "localsched/slurm", injected},
		{"internal/sim", "peer/node", drives},
		{"internal/sim", "peer/gossip", drives},
		{"internal/sim", "peer/bus", drives},
		{"internal/sim", "peer/store", drives},
		{"peer/api", "peer", contract},
		{"peer/store", "peer", contract},
		{"peer/results", "peer", contract},
		{"peer/config", "peer", contract},
		{"peer/accounts", "peer", contract},
		{"peer/display", "peer", contract},
		{"peer/dashboard", "peer", contract},
		{"peer/top", "peer", contract},
		{"peer/daemon/...", "peer", contract},
		{"internal/metrics", "peer", contract},
		{"internal/experiment", "peer", contract},
		{"internal/reproduce/...", "peer", contract},
		{"cmd/...", "peer", contract},
		{"peer/...", "internal/sim", studied},
		{"peer/daemon/...", "internal/report", "the dashboard draws, and nothing else of the daemon"},
		{"examples/...", "internal/...", public},
		{"examples/...", "peer/...", public},
		{"...", "cmd/...", "nothing imports cmd"},
	}
}

func libraries() []Library {
	return []Library{
		{[]string{"github.com/hashicorp/memberlist"}, []string{"peer/gossip"}},
		{
			[]string{"github.com/nats-io/nats.go", "github.com/nats-io/nats-server/v2", "github.com/nats-io/jwt/v2"},
			[]string{"peer/bus"},
		},
		{[]string{"github.com/nats-io/nkeys", "filippo.io/edwards25519"}, []string{"peer/identity"}},
		{[]string{"go.etcd.io/bbolt"}, []string{"peer/store"}},
		{[]string{"github.com/cilium/ebpf"}, []string{"localsched/cgroup"}},
		{[]string{"github.com/BurntSushi/toml"}, []string{"internal/settings"}},
		{[]string{"github.com/spf13/cobra", "github.com/spf13/pflag"}, []string{"cmd/..."}},
		{
			[]string{"github.com/hashicorp/go-plugin", "github.com/hashicorp/go-hclog"},
			[]string{"plugins/sdk", "plugins/pluginhost"},
		},
		{[]string{"github.com/prometheus"}, []string{"internal/metrics"}},
		{[]string{"google.golang.org/protobuf"}, []string{"protocol/*/v1", "peer/otlp"}},
		{[]string{"go.opentelemetry.io/otel", "go.opentelemetry.io/proto/otlp"}, []string{"peer/otlp"}},
		{[]string{"pgregory.net/rapid"}, []string{"protocol/protocoltest"}},
		{[]string{"google.golang.org/grpc"}, []string{"protocol/*/v1", "plugins/sdk", "plugins/pluginhost"}},
		{[]string{"golang.org/x/sys"}, []string{"internal/staging", "internal/wallclock", "localsched/process", "localsched/spool", "localsched/tasks", "localsched/cgroup", "plugins/pluginhost"}},
		{[]string{"github.com/coreos/go-oidc/v3", "github.com/go-jose/go-jose/v4"}, []string{"peer/openid", "peer/openid/openidtest"}},
		{[]string{"golang.org/x/oauth2"}, []string{"peer/openid"}},
		{[]string{"github.com/zitadel/oidc/v3"}, []string{"peer/openid/openidtest"}},
		{[]string{"github.com/tmaxmax/go-sse"}, []string{"peer/api"}},
		{[]string{"golang.org/x/time"}, []string{"peer/api", "peer/connlimit", "peer/bus", "peer/gossip", "peer/transfer"}},
		{[]string{"gonum.org/v1/gonum"}, []string{"internal/predict/sarima", "internal/predict/forecast", "internal/predict/wait", "internal/workload", "internal/report", "internal/tune"}},
		{[]string{"github.com/schollz/progressbar/v3"}, []string{"cmd/..."}},
		{[]string{"github.com/gdamore/tcell/v2"}, []string{"peer/top", "cmd/..."}},
	}
}

func clean() Clean {
	return Clean{
		Std: []string{
			"bufio", "bytes", "cmp", "compress/gzip", "container/heap", "context", "crypto/hmac", "crypto/sha256", "embed", "encoding/base64", "encoding/binary", "encoding/hex", "encoding/json", "encoding/xml", "errors",
			"fmt", "hash/fnv", "io", "iter", "maps", "math", "math/bits", "math/rand/v2", "path", "slices", "sort",
			"strconv", "strings", "time", "unicode", "unicode/utf8",
		},
		Banned: map[string][]string{
			"time": {
				"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker",
				"Local", "LoadLocation",
			},
			"context": {
				"AfterFunc", "WithTimeout", "WithTimeoutCause", "WithDeadline", "WithDeadlineCause",
			},
			"fmt": {"Print", "Printf", "Println"},
			"math/rand/v2": {
				"Int", "IntN", "Int32", "Int32N", "Int64", "Int64N", "Uint", "UintN", "Uint32", "Uint32N",
				"Uint64", "Uint64N", "N", "Float32", "Float64", "NormFloat64", "ExpFloat64", "Perm", "Shuffle",
			},
		},
	}
}

// plugins are the imports of the SDK, of the local scheduler that runs processes, which a plugin may
// put its own order into, and of what they need (docs/decisions/0028).
func plugins() Plugins {
	return Plugins{
		Examples: "examples/plugins/*",
		Own: []string{
			"plugins/sdk", "plugins/policy", "plugins/price",
			"protocol", "protocol/wire", "protocol/common/v1", "protocol/plugin/v1",
			"protocol/policy/v1", "protocol/localsched/v1", "protocol/price/v1",
			"localsched", "localsched/engine", "localsched/process",
			"localsched/cgroup", "localsched/changefeed", "localsched/driver", "localsched/live",
			"localsched/partition", "localsched/power", "localsched/spool", "localsched/tasks", "localsched/usage",
			"internal/decimal", "internal/int128", "internal/localdisk", "internal/passwd", "internal/problems", "internal/settings", "internal/sparse", "internal/staging", "internal/wallclock",
		},
		Modules: []string{
			"github.com/hashicorp/go-plugin", "google.golang.org/grpc", "google.golang.org/protobuf", "github.com/BurntSushi/toml",
			// What these need.
			"github.com/fatih/color", "github.com/golang/protobuf", "github.com/hashicorp/go-hclog", "github.com/hashicorp/yamux",
			"github.com/mattn/go-colorable", "github.com/mattn/go-isatty", "github.com/oklog/run", "golang.org/x/net",
			"golang.org/x/sys", "golang.org/x/text", "google.golang.org/genproto/googleapis/rpc",
			"github.com/cilium/ebpf", // by localsched/cgroup
		},
	}
}
