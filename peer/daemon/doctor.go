package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/localdisk"
	"github.com/switchyard-hpc/switchyard/internal/wallclock"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/peer/daemon/localqueue"
	"github.com/switchyard-hpc/switchyard/peer/statedir"
	"github.com/switchyard-hpc/switchyard/peer/store"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Verdict is how something stands.
type Verdict string

// The verdicts.
const (
	OK      Verdict = "ok"
	Warning Verdict = "warning" // the site works, and something should be looked at
	Failed  Verdict = "failed"  // something does not work
)

// Finding is one thing that [Examine] has looked at.
type Finding struct {
	Check   string  `json:"check"` // what was looked at: "peer", "clock", "keys", "partner borealis" and the like
	Verdict Verdict `json:"verdict"`
	What    string  `json:"what"`
	Remedy  string  `json:"remedy,omitempty"` // what to do; empty: nothing, or What says it
}

// examination collects findings.
type examination struct {
	cfg      *config.Config
	peer     *api.Client
	patience time.Duration // until the peer has answered
	up       bool          // the peer answers
	hung     bool          // a peer runs that does not answer: it has the database, and the addresses
	findings []Finding
}

// littleSpace is below what a busy peer writes in some weeks, in bytes.
const littleSpace = 1 << 30

// dialTimeout bounds the wait for an address that does not answer.
const dialTimeout = 3 * time.Second

// patience bounds the wait for the answer of the peer, which is there at once if the peer is well.
const patience = 10 * time.Second

// Examine looks at a site on this machine as far as it can: at its configuration, and through its peer if
// that runs. It changes nothing.
func Examine(ctx context.Context, cfg *config.Config, build Build) []Finding {
	e := &examination{cfg: cfg, peer: api.Dial(string(cfg.Site.Socket)), patience: patience}
	e.lookAtPeer(ctx)
	e.lookAtClock()
	e.lookAtConfiguration(ctx, build)
	e.lookAtStore()
	e.lookAtListeners(ctx)
	e.lookAtPartners(ctx)
	e.lookAtPlugins(ctx)
	e.lookAtSlurm(ctx)
	return e.findings
}

func (e *examination) add(check string, verdict Verdict, what, remedy string) {
	e.findings = append(e.findings, Finding{Check: check, Verdict: verdict, What: what, Remedy: remedy})
}

// lookAtPeer asks the peer how it is. Its notes name what a job's control group cannot do, and what its clock did.
func (e *examination) lookAtPeer(ctx context.Context) {
	limited, stop := context.WithTimeout(ctx, e.patience)
	defer stop()
	info, err := e.peer.Info(limited)
	if err != nil && ctx.Err() == nil {
		e.hung = limited.Err() != nil || errors.Is(err, api.ErrSilent) || errors.Is(err, api.ErrUnreachable) && e.databaseInUse()
	}
	switch {
	case e.hung:
		what := "it runs and does not answer at " + string(e.cfg.Site.Socket)
		if limited.Err() == nil {
			what += ": " + err.Error()
		}
		e.add("peer", Failed, what, "see its log; restart it if it stays so: running jobs go on meanwhile. If another peer has the state directory, stop that one")
		return
	case errors.Is(err, api.ErrUnreachable):
		e.add("peer", Warning, "it does not run, or not as this configuration says: "+err.Error(), "start it, and run doctor again: links, plugins and control groups are seen only through it")
		return
	case err != nil:
		e.add("peer", Failed, err.Error(), "run doctor as root or as the peer's account")
		return
	}
	e.up = true
	e.add("peer", OK, fmt.Sprintf("site %s, switchyard %s, up for %s", info.Site, info.Version, info.Uptime.Text()), "")
	if info.Site != e.cfg.Site.Name {
		e.add("peer", Failed, fmt.Sprintf("the peer at %s is that of %s, and the configuration is that of %s", e.cfg.Site.Socket, info.Site, e.cfg.Site.Name), "give the configuration of the peer by --config")
	}
	for _, alarm := range info.Alarms {
		e.add("peer", Failed, alarm, "")
	}
	for _, note := range info.Notes {
		e.add("peer", Warning, note, "")
	}
	switch recovery, err := e.peer.Recovery(limited); {
	case err != nil:
		e.add("peer", Failed, err.Error(), "")
	case recovery.Needed:
		e.add("peer", Failed, "nothing is started here: "+strings.Join(recovery.Reasons, "; "), "switchyard recover says what would happen, and ends that")
	}
}

// lookAtClock asks the kernel whether the clock is kept.
func (e *examination) lookAtClock() {
	switch synced, offset, err := wallclock.Synchronized(); {
	case err != nil:
		e.add("clock", Warning, fmt.Sprintf("whether it is synchronized cannot be read: %v", err), "have chronyd, ntpd or systemd-timesyncd keep the clock")
	case !synced:
		e.add("clock", Warning, "the kernel does not take it for synchronized", "have chronyd, ntpd or systemd-timesyncd keep the clock; in a container the host does")
	default:
		e.add("clock", OK, fmt.Sprintf("synchronized, at most about %s off", max(offset, time.Millisecond)), "")
	}
}

// lookAtConfiguration looks for what a start would fail on.
func (e *examination) lookAtConfiguration(ctx context.Context, build Build) {
	found := Check(ctx, e.cfg, build)
	for _, warning := range e.cfg.Warnings {
		e.add("configuration", Warning, warning.String(), "")
	}
	for _, warning := range slices.Concat(found.Warnings, found.Unseen) {
		e.add("configuration", Warning, warning, "")
	}
	for _, problem := range found.Problems {
		e.add("configuration", Failed, problem, "")
	}
	if len(found.Warnings)+len(found.Unseen)+len(found.Problems) == 0 {
		e.add("configuration", OK, "keys and their files, accounts, the batch system and plugins are as a start needs them", "")
	}
}

// lookAtStore reads the database of a stopped peer, and looks at the disk.
func (e *examination) lookAtStore() {
	dir := string(e.cfg.Site.StateDir)
	if !e.up && !e.hung {
		e.lookAtDatabase(statedir.Database(dir))
	}
	if network, err := localdisk.NetworkFS(dir); err == nil && network != "" {
		e.add("disk", Failed, fmt.Sprintf("state_dir %s is on a network file system (%s)", dir, network), "move it to a local disk while the peer is stopped")
	}
	switch err := checkFreeSpace(dir); {
	case errors.Is(err, fs.ErrNotExist):
		e.add("disk", Warning, fmt.Sprintf("state_dir %s does not exist yet", dir), "the first start makes it")
	case err != nil:
		e.add("disk", Failed, err.Error(), "free space, or move the state directory while the peer is stopped")
	default:
		free, err := localdisk.Free(dir)
		verdict := OK
		if err != nil || free < littleSpace {
			verdict = Warning
		}
		e.add("disk", verdict, "state_dir is on "+localdisk.Describe(dir), "")
	}
}

// databaseInUse reports whether a peer has the database open.
func (e *examination) databaseInUse() bool {
	return store.InUse(statedir.Database(string(e.cfg.Site.StateDir)))
}

func (e *examination) lookAtDatabase(path string) {
	report, err := verified(func(visit func(string, store.Row)) (store.Report, error) { return store.Look(path, visit) })
	switch {
	case errors.Is(err, store.ErrLocked):
		e.add("database", Warning, "a peer has opened it just now", "run doctor again")
		return
	case errors.Is(err, fs.ErrNotExist):
		e.add("database", Warning, "there is none yet", "the first start makes it")
		return
	case err != nil:
		e.add("database", Failed, err.Error(), "")
		return
	}
	for _, damage := range report.Damage {
		e.add("database", Failed, damage.Error(), "switchyard store verify lists all errors; docs/operations.md says how a database is replaced")
	}
	if len(report.Damage) == 0 {
		e.add("database", OK, fmt.Sprintf("no errors in %d pages", report.Pages), "")
	}
}

// lookAtListeners connects to the addresses where the running peer listens. At those of a stopped one nothing else may answer. They are not
// taken for that, since the peer may start at any moment.
func (e *examination) lookAtListeners(ctx context.Context) {
	for _, one := range []struct{ key, address string }{
		{"[nats] listen", e.cfg.NATS.Listen}, {"[api] listen", e.cfg.API.Listen}, {"[metrics] listen", e.cfg.Metrics.Listen},
	} {
		switch err := e.tryListener(ctx, one.address); {
		case one.address == "":
		case err != nil && (e.up || e.hung):
			e.add("port", Failed, fmt.Sprintf("%s: nothing answers at %s: %v", one.key, one.address, err), "see the peer's log")
		case err != nil:
			e.add("port", Failed, fmt.Sprintf("%s: %v", one.key, err), "stop what has the address, or choose another one")
		default:
			e.add("port", OK, one.key+" "+one.address, "")
		}
	}
}

func (e *examination) tryListener(ctx context.Context, address string) error {
	switch {
	case address == "":
		return nil
	case e.up || e.hung:
		return dial(ctx, reached(address))
	case dial(ctx, reached(address)) == nil:
		return fmt.Errorf("%s is not free: something answers there", address)
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(host, "0")) // any port
	if err != nil {
		return fmt.Errorf("%s is no address of this machine: %w", host, err)
	}
	return listener.Close()
}

// reached is the address by which a listener is reached from its machine.
func reached(address string) string {
	host, port, err := net.SplitHostPort(address)
	if ip := net.ParseIP(host); err == nil && (host == "" || ip != nil && ip.IsUnspecified()) {
		return net.JoinHostPort("localhost", port)
	}
	return address
}

func dial(ctx context.Context, address string) error {
	ctx, stop := context.WithTimeout(ctx, dialTimeout)
	defer stop()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	return conn.Close()
}

// lookAtPartners asks the peer for its links. A link that is up has carried the cards of both sites, signed by the configured keys:
// each reaches the other. Of others the address is tried.
func (e *examination) lookAtPartners(ctx context.Context) {
	known := map[protocol.SiteName]view.Site{}
	if e.up {
		sites, err := e.peer.Sites(ctx)
		if err != nil {
			e.add("partners", Failed, err.Error(), "")
			return
		}
		for _, one := range sites.Sites {
			known[one.Site] = one
		}
	}
	if self, ok := known[e.cfg.Site.Name]; ok {
		e.lookAtDrain("peer", &self)
	}
	for i := range e.cfg.Partners {
		e.lookAtPartner(ctx, &e.cfg.Partners[i], known)
	}
}

func (e *examination) lookAtPartner(ctx context.Context, table *config.Partner, known map[protocol.SiteName]view.Site) {
	check := "partner " + string(table.Name)
	site, seen := known[table.Name]
	switch {
	case e.up && !seen:
		e.add(check, Failed, "the peer does not know it", "switchyard reload")
		return
	case site.Link == "up":
		e.add(check, OK, "the link is up, and the keys match", "")
		e.lookAtKeys(check, table, &site)
		e.lookAtDrain(check, &site)
		return
	case site.Link == "unresponsive" || site.Link == "refused":
		e.add(check, Failed, site.Link+": "+site.Reason, "")
		return
	}
	said := ""
	if site.Reason != "" {
		said = " (" + site.Reason + ")"
	}
	verdict := Failed
	if !e.up {
		verdict = Warning
	}
	address, err := addressOf(table.URL)
	switch {
	case table.URL == "" && e.up:
		e.add(check, Failed, "it does not connect to this site"+said, fmt.Sprintf("[[partner]] has no url: the site itself connects to [nats] listen = %q here; see that its peer runs, and that no firewall is between", e.cfg.NATS.Listen))
	case table.URL == "":
		e.add(check, Warning, "it connects to this site, so that it is seen only through the running peer", "")
	case err != nil:
		e.add(check, Failed, err.Error(), "correct url of the [[partner]]")
	default:
		if err = dial(ctx, address); err != nil {
			e.add(check, verdict, fmt.Sprintf("%s cannot be reached: %v", address, err), "see that its peer runs, and that no firewall is between")
		} else if e.up {
			e.add(check, Failed, fmt.Sprintf("%s answers, and there is no link%s", address, said), "compare the public keys of both configurations, and whether that site has this one as a [[partner]]")
		} else {
			e.add(check, OK, address+" answers", "")
		}
	}
}

// lookAtKeys says which of two keys a partner uses.
func (e *examination) lookAtKeys(check string, table *config.Partner, site *view.Site) {
	switch {
	case table.NextPublicKey == "":
	case site.PublicKey == table.NextPublicKey:
		e.add(check, Warning, "it uses next_public_key, so that its former key is no longer needed",
			fmt.Sprintf("write public_key = %q in its [[partner]] in place of public_key or public_key_file, remove next_public_key, and reload", table.NextPublicKey))
	case site.PublicKey != table.PublicKey:
		e.add(check, Warning, fmt.Sprintf("it uses the key %s, which its [[partner]] does not have", site.PublicKey), "switchyard reload, if the file was edited since")
	default:
		e.add(check, OK, "it uses public_key; next_public_key is accepted too", "")
	}
}

// lookAtDrain says which new jobs are not exchanged with a partner.
func (e *examination) lookAtDrain(check string, site *view.Site) {
	if site.Drain != nil {
		e.add(check, Warning, site.Drain.String(), "switchyard resume "+string(site.Site)+" ends that")
	}
	if site.Draining != "" {
		e.add(check, Warning, site.Draining, "")
	}
}

// addressOf is the address that a partner's URL names.
func addressOf(text string) (string, error) {
	at, err := url.Parse(text)
	switch {
	case err != nil:
		return "", err
	case at.Port() == "":
		return "", fmt.Errorf("url %q has no port", text)
	}
	return at.Host, nil
}

// lookAtPlugins asks the peer for its plugins. Those of a stopped peer are tried with the configuration.
func (e *examination) lookAtPlugins(ctx context.Context) {
	if !e.up {
		return
	}
	plugins, err := e.peer.Plugins(ctx)
	if err != nil {
		e.add("plugins", Failed, err.Error(), "")
	}
	for _, one := range plugins {
		if one.State == "up" {
			e.add("plugin "+one.Name, OK, "up, version "+one.Version, "")
			continue
		}
		e.add("plugin "+one.Name, Failed, fmt.Sprintf("%s: %s", one.State, one.Failure), "see the log of the peer; switchyard plugin check tries it alone")
	}
}

// lookAtSlurm looks at the settings of Slurm that withhold something from the adapter.
func (e *examination) lookAtSlurm(ctx context.Context) {
	if e.cfg.LocalSched.Plugin != config.SlurmCommands {
		return
	}
	advice, err := localqueue.SlurmAdvice(ctx, e.cfg)
	if err != nil {
		e.add("slurm", Failed, "its controller does not answer: "+err.Error(), "see scontrol ping")
		return
	}
	for _, one := range advice {
		e.add("slurm", Warning, one.What, one.Remedy)
	}
	if len(advice) == 0 {
		e.add("slurm", OK, "its controller answers, and withholds nothing", "")
	}
}
