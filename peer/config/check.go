package config

import (
	"fmt"
	"net"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/localsched/cgroup"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/localsched/spool"
	"github.com/switchyard-hpc/switchyard/localsched/waitpredict"
	"github.com/switchyard-hpc/switchyard/peer/accesstokens"
	"github.com/switchyard-hpc/switchyard/peer/clientcert"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/plugins/policy/mcmf"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// maxSocket is the longest path of a socket on every system, in bytes.
const maxSocket = 103

// checker checks a configuration that was read.
type checker struct {
	*settings.Reader
	config *Config
	uidOf  func(account string) (uint32, error) // [passwd.ErrUnknown] of one that is not known, or not to be looked up

	elsewhere bool // this is not the site's computer
	simulated bool // the tables are those of a site of an experiment
	counted   bool // energy counts there without a price
}

// check reports what the tables contain that cannot be.
func (r *checker) check() {
	c := r.config
	r.checkSite(&c.Site)
	r.checkNATS(&c.NATS)
	r.checkTransfer(&c.Transfer)
	if c.Gossip != nil {
		r.checkGossip(c.Gossip)
	}
	r.checkPlugins()
	r.checkLocalSched(&c.LocalSched)
	r.checkTariff(&c.Tariff)
	r.checkPrices(&c.Prices)
	r.checkPower(&c.Power)
	c.GuestLimits.Check(r.Reader, "guest_limits")
	r.checkBroker()
	r.OneOf("policy.name", c.Policy.Name, append(PolicyNames(), r.plugins(PolicyKind)...)...)
	r.OneOf("policy.fallback", c.Policy.Fallback, PolicyNames()...)
	c.Policy.CheckParameters(r.Reader, "policy", c.Currency())
	c.Rounds.Check(r.Reader, "rounds")
	c.Moves.Check(r.Reader, "moves")
	r.checkInitiation(&c.Rounds)
	r.checkHandoff(&c.Handoff)
	r.checkSubmit(&c.Submit)
	r.checkMail(c.Mail)
	r.checkNotify(c.Notify)
	r.checkTracing(c.Tracing)
	c.FairShare.Check(r.Reader, "fairshare")
	r.checkLimits(&c.Limits)
	r.checkRetention(&c.Retention)
	r.checkResults(&c.Results)
	r.checkAccounts(&c.Accounts)
	r.checkAssociations()
	r.checkAPI(&c.API)
	r.checkPartners()
	if c.Metrics.Listen != "" {
		r.checkAddress("metrics.listen", c.Metrics.Listen)
	}
	r.checkPorts()
	r.OneOf("log.level", c.Log.Level, "debug", "info", "warn", "error")
	r.OneOf("log.format", c.Log.Format, JSON, Text)
	r.AtLeast("audit.max_size", int(c.Audit.MaxSize), 1)
	r.AtLeast("audit.files", c.Audit.Files, 1)
}

func (r *checker) checkResults(c *Results) {
	r.AtLeast("results.max_output", int(c.MaxOutput), 1)
	r.AtLeast("results.max_kept", int(c.MaxKept), 1)
	if c.KeepFor <= 0 {
		r.Problem("results.keep_for", "must be longer than 0")
	}
}

func (r *checker) checkSite(s *Site) {
	switch err := s.Name.Validate(); {
	case s.Name == "":
		r.Problem("site.name", "is missing; choose a name that no other site of the grid has, such as \"north\"")
	case err != nil:
		r.Problem("site.name", "%v", err)
	}
	switch err := s.Number.Validate(); {
	case s.Number == 0:
		r.Problem("site.number", "is missing; choose a number from 1 to %d that no other site of the grid has", protocol.MaxSiteNumber)
	case err != nil:
		r.Problem("site.number", "%v", err)
	}
	r.required("site.state_dir", s.StateDir, "name a directory on a local disk")
	r.required("site.key", s.Key, "make a key with \"switchyard keygen --out PATH\" and name its path")
	r.required("site.socket", s.Socket, "name the socket for submit, queue and the rest")
	if n := len(s.Socket); n > maxSocket {
		r.Problem("site.socket", "this path has %d characters and a socket's may have %d; choose a shorter one, such as /run/switchyard/%s.sock",
			n, maxSocket, s.Name)
	}
}

func (r *checker) required(key string, path settings.Path, remedy string) {
	if path == "" {
		r.Problem(key, "is empty; %s", remedy)
	}
}

// WaitMethods lists the values of [LocalSched.WaitPrediction].
func WaitMethods() (names []string) {
	for _, method := range waitpredict.Methods() {
		names = append(names, string(method))
	}
	return names
}

func (r *checker) checkLocalPolicy(l *LocalSched) {
	if _, err := engine.Named(l.Policy); err != nil {
		r.OneOf("localsched.policy", l.Policy, engine.Names()...)
	}
	if l.Policy == engine.MultifactorName && !r.simulated && r.config.FairShare.HalfLife == 0 {
		r.Problem("localsched.policy", "%q is the order of [fairshare], which has no half_life; set it, or take another policy", l.Policy)
	}
}

func (r *checker) checkLocalSched(l *LocalSched) {
	r.OneOf("localsched.plugin", l.Plugin, append([]string{Process, SlurmCommands}, r.plugins(LocalSchedKind)...)...)
	if !r.simulated && (l.Plugin == SlurmCommands || r.config.Plugin(LocalSchedKind, l.Plugin) != nil) {
		r.notOurs(l)
	}
	r.checkSlurm(l)
	r.checkMaxOutput(l)
	r.checkContainer(l)
	r.AtLeast("localsched.max_processes", l.MaxProcesses, 1)
	if l.Cgroup != cgroup.Own && l.Cgroup != cgroup.None && (!path.IsAbs(l.Cgroup) || path.Clean(l.Cgroup) != l.Cgroup) {
		r.Problem("localsched.cgroup", "%q is not a valid group; use %q, %q, or a path in the hierarchies such as \"/switchyard\"", l.Cgroup, cgroup.Own, cgroup.None)
	}
	r.OneOf("localsched.machine", l.Machine, PerCPU, WholeNode, Partitioned)
	r.checkLocalPolicy(l)
	r.AtLeast("localsched.mhz", l.MHz, 0)
	r.AtLeast("localsched.mflops", l.Mflops, 0)
	r.OneOf("localsched.wait_prediction", l.WaitPrediction, WaitMethods()...)
	r.OneOf("localsched.on_stop", l.OnStop, Leave, End)
	r.AtLeast("localsched.cpus", l.CPUs, 0)
	r.AtLeast("localsched.nodes", l.Nodes, 1)
	r.checkBGP(l)
	r.checkFeatures(l)
	r.checkDevices(l)
	r.checkLicenses(l)
	switch {
	case l.Machine == Partitioned: // its layout knows the nodes
	case l.CPUs == 0 && l.Nodes > 1:
		r.Problem("localsched.nodes", "is %d, but cpus is not set; set cpus to the CPUs of all nodes together", l.Nodes)
	case l.CPUs > 0 && l.Nodes > 0 && l.CPUs%l.Nodes != 0:
		r.Problem("localsched.nodes", "%d nodes do not divide %d cpus; all nodes have the same number of CPUs", l.Nodes, l.CPUs)
	}
}

func (r *checker) checkSubmit(s *Submit) {
	for i, pattern := range s.ExportRemote {
		name := strings.TrimSuffix(pattern, "*")
		if pattern == "" || strings.ContainsAny(name, "*=, \t\r\n\x00") {
			r.Problem(fmt.Sprintf("submit.export_remote[%d]", i),
				"%q is not a variable's name; write a name, or its beginning with a star behind it, as \"LC_*\"", pattern)
		}
	}
}

func (r *checker) checkMail(m *Mail) {
	if m == nil {
		return
	}
	if len(m.Command) == 0 || !path.IsAbs(m.Command[0]) {
		r.Problem("mail.command", "is %q; give the absolute path of a command and its arguments, such as [\"/usr/sbin/sendmail\", \"-t\", \"-i\"]", m.Command)
	}
	if err := protocol.CheckMailTo(m.From); err != nil {
		r.Problem("mail.from", "%v", err)
	} else if strings.Contains(m.From, ",") {
		r.Problem("mail.from", "%q is several addresses; name one", m.From)
	}
}

func (r *checker) checkContainer(l *LocalSched) {
	const key = "localsched.container_command"
	if len(l.Container) == 0 {
		return
	}
	if !path.IsAbs(l.Container[0]) {
		r.Problem(key, "begins with %q; give the absolute path of the command, such as \"/usr/bin/apptainer\"", l.Container[0])
	}
	if !slices.ContainsFunc(l.Container, func(word string) bool { return strings.Contains(word, spool.ContainerImage) }) {
		r.Problem(key, "has no %s, which stands for the image of the job", spool.ContainerImage)
	}
	if r.config.Plugin(LocalSchedKind, l.Plugin) != nil {
		r.Problem(key, "is for plugin = %q and %q; plugins run containers themselves, so remove it", Process, SlurmCommands)
	}
}

func (r *checker) checkMaxOutput(l *LocalSched) {
	if l.MaxOutput == 0 {
		r.Problem("localsched.max_output", "is 0, so guests could write no output; use \"1MB\" or more")
	}
	if r.Set("localsched.max_output") && r.config.Plugin(LocalSchedKind, l.Plugin) != nil {
		r.Problem("localsched.max_output", "is for plugin = %q and %q; plugins limit output themselves, so remove it", Process, SlurmCommands)
	}
}

// Check checks the table, in whatever file it stands, but for what the policy serves.
func (o *Rounds) Check(r *settings.Reader, table string) {
	at := func(name string) string { return settings.Join(table, name) }
	r.OneOf(at("initiation"), string(o.Initiation), Initiations()...)
	r.Positive(at("cycle_interval"), o.CycleInterval)
	r.AtLeast(at("max_jobs_per_cycle"), o.MaxJobsPerCycle, 0)
	r.Positive(at("local_wait_threshold"), o.LocalWaitThreshold)
	r.Positive(at("check_interval"), o.CheckInterval)
	if o.VolunteerBelow == 0 {
		r.Problem(at("volunteer_below"), "is 0, so the site would never volunteer; use a higher value, such as 0.7")
	}
	r.AtLeast(at("recheck_jobs"), o.RecheckJobs, 0)
	r.AtLeast(at("jobs_per_volunteer"), o.JobsPerVolunteer, 0)
	r.Positive(at("quote_timeout"), o.QuoteTimeout)
	if o.CheckInterval > 0 && o.QuoteTimeout >= o.CheckInterval {
		r.Problem(at("quote_timeout"), "%s is not less than check_interval (%s); a round would outlast the next probe, so use a few seconds",
			settings.FormatDuration(o.QuoteTimeout), settings.FormatDuration(o.CheckInterval))
	}
	r.AtLeast(at("round_jobs"), o.RoundJobs, 1)
	r.AtLeast(at("partners_per_round"), o.PartnersPerRound, 1)
}

// checkInitiation also checks that the policy serves it. One that is not set becomes
// what suits the policy.
func (r *checker) checkInitiation(o *Rounds) {
	if !slices.Contains(Initiations(), string(o.Initiation)) {
		return
	}
	p := &r.config.Policy
	info, known := aboutPolicy(p.Name)
	if !known { // what a plugin serves only the plugin knows
		if fallback, _ := aboutPolicy(p.Fallback); !slices.Contains(fallback.Initiations, o.Initiation) {
			r.Problem("policy.fallback", "%q does not support initiation %q, which is required while the plugin cannot decide; use \"local\"",
				p.Fallback, o.Initiation)
		}
		return
	}
	if !r.Set("rounds.initiation") {
		o.Initiation = InitiationFor(p.Name)
	}
	if !slices.Contains(info.Initiations, o.Initiation) {
		names := make([]string, len(info.Initiations))
		for i, one := range info.Initiations {
			names[i] = strconv.Quote(string(one))
		}
		r.Problem("rounds.initiation", "policy %q does not serve %q; use %s, or another policy",
			p.Name, o.Initiation, strings.Join(names, " or "))
	}
}

// CheckParameters checks the parameters of the built-in policies, in whatever file they stand.
// Those of mcmf are checked whether it decides or not: after a reload it may.
func (p *Policy) CheckParameters(r *settings.Reader, table, currency string) {
	mcmfTable := settings.Join(table, "mcmf")
	r.OneOf(settings.Join(mcmfTable, "normalise"), p.MCMF.Normalise, mcmf.ByPrice, mcmf.ByRound)
	for _, variant := range mcmf.Variants() {
		used := variant == mcmf.Full || string(variant) == p.Name || string(variant) == p.Fallback
		if !used {
			continue
		}
		for _, fault := range p.MCMF.config(variant, currency).Faults() {
			r.Problem(settings.Join(mcmfTable, fault.Key), "%s", fault.Text)
		}
	}
	for _, fault := range p.ISS.config().Faults() {
		r.Problem(settings.Join(table, "iss."+fault.Key), "%s", fault.Text)
	}
}

func (r *checker) checkHandoff(h *Handoff) {
	r.Positive("handoff.retry_initial", h.RetryInitial)
	r.Positive("handoff.retry_max", h.RetryMax)
	r.Positive("handoff.submit_recheck_delay", h.SubmitRecheckDelay)
	r.Positive("handoff.start_margin", h.StartMargin)
	r.Positive("handoff.reclaim_after", h.ReclaimAfter)
	r.Positive("handoff.tombstone_ttl", h.TombstoneTTL)
	r.Positive("handoff.planned_starts_interval", h.PlannedStartsInterval)
	if r.config.Moves.Enabled && h.PlannedStartsInterval > rules.PlannedStartLasts {
		r.Warn("handoff.planned_starts_interval", "is longer than %s, after which a planned start does not count for [moves]", rules.PlannedStartLasts.Text())
	}
	if h.RetryMax > 0 && h.RetryMax < h.RetryInitial {
		r.Problem("handoff.retry_max", "%s is less than retry_initial (%s); use that or more", settings.FormatDuration(h.RetryMax), settings.FormatDuration(h.RetryInitial))
	}
	if h.TombstoneTTL > 0 && h.TombstoneTTL <= max(h.RetryMax, h.ReclaimAfter) {
		r.Problem("handoff.tombstone_ttl", "%s is not more than retry_max and reclaim_after; late messages would not be recognized; use days",
			settings.FormatDuration(h.TombstoneTTL))
	}
}

// maxRequeueable is the longest time for which a job can be requeued after its end; later, a store that is put back is likely
// not to know of it.
const maxRequeueable = 7 * protocol.Day

// mostRequeueable is the greatest number of jobs that can be kept for that, all in memory.
const mostRequeueable = 100_000

func (r *checker) checkRetention(c *Retention) {
	r.Positive("retention.finished_jobs", c.FinishedJobs)
	r.AtLeast("retention.max_finished_jobs", c.MaxFinishedJobs, 1)
	r.Positive("retention.finished_guests", c.FinishedGuests)
	r.AtLeast("retention.max_finished_guests", c.MaxFinishedGuests, 1)
	r.Positive("retention.events", c.Events)
	r.within("retention.requeueable", c.Requeueable, 0, maxRequeueable)
	if r.AtLeast("retention.max_requeueable", c.MaxRequeueable, 1); c.MaxRequeueable > mostRequeueable {
		r.Problem("retention.max_requeueable", "is %d; use %d or fewer", c.MaxRequeueable, mostRequeueable)
	}
	r.AtLeast("retention.max_requeueable_bytes", int(c.MaxRequeueableBytes), 1)
}

func (r *checker) checkAPI(a *API) {
	for i, user := range a.Admins {
		r.checkUser(fmt.Sprintf("api.admins[%d]", i), user)
	}
	if a.Listen != "" {
		r.checkAddress("api.listen", a.Listen)
	} else {
		r.checkOfListen(a)
	}
	r.OneOf("api.dashboard", a.Dashboard, Public, ByToken, Off)
	if a.Studies != "" && a.Dashboard == Off {
		r.Problem("api.studies", "has no effect with dashboard = %q; remove one of the two", Off)
	}
	switch {
	case (a.CertFile == "") != (a.KeyFile == ""):
		r.Problem("api", "cert_file and key_file go together; set both, or none to have the peer make a certificate")
	case a.CertFile != "" && len(a.Hosts) > 0:
		r.Problem("api.hosts", "is for the certificate that the peer makes; remove it, or cert_file and key_file")
	}
	for i, host := range a.Hosts {
		if host == "" || strings.ContainsAny(host, "/: \t") && net.ParseIP(host) == nil {
			r.Problem(fmt.Sprintf("api.hosts[%d]", i), "invalid %q; use a host name or an address, without a port", host)
		}
	}
	r.checkAPIClients(a)
	r.checkOIDC(a)
	if most := 10_000; a.MaxRequestRate < 1 || a.MaxRequestRate > most {
		r.Problem("api.max_request_rate", "is %d; use 1 to %d", a.MaxRequestRate, most)
	}
}

// checkOfListen finds keys that only matter with listen.
func (r *checker) checkOfListen(a *API) {
	usual := Default().API // of which `config show` writes the values, too
	for _, one := range []struct {
		key string
		set bool
	}{
		{"hosts", true},
		{"cert_file", true},
		{"key_file", true},
		{"client_ca_file", true},
		{"client", true},
		{"oidc", true},
		{"dashboard", a.Dashboard != usual.Dashboard},
		{"studies", true},
		{"max_request_rate", a.MaxRequestRate != usual.MaxRequestRate},
		{"max_upload", a.MaxUpload != usual.MaxUpload},
	} {
		if key := "api." + one.key; one.set && r.Set(key) {
			r.Problem(key, "has no effect without listen; set listen, or remove it")
		}
	}
}

// checkAPIClients checks the tables [[api.client]].
func (r *checker) checkAPIClients(a *API) {
	if len(a.Clients) > 0 && a.ClientCAFile == "" {
		r.Problem("api.client", "has no effect without client_ca_file in [api]; set that, or remove the table")
	}
	if len(a.Clients) == 0 && a.ClientCAFile != "" {
		r.Problem("api.client_ca_file", "has no effect without a table [[api.client]], which says for which user a certificate stands; add one")
	}
	seen := map[string]bool{}
	for i, client := range a.Clients {
		key := fmt.Sprintf("api.client[%d]", i)
		if err := clientcert.CheckName(client.Certificate); err != nil {
			r.Problem(key+".certificate", "%v", err)
		} else if seen[client.Certificate] {
			r.Problem(key+".certificate", "duplicate name %q; keep one", client.Certificate)
		}
		seen[client.Certificate] = true
		if client.User == "" {
			r.Problem(key+".user", "missing; name a user of this site")
		} else {
			r.checkUser(key+".user", client.User)
		}
		if _, err := accesstokens.ParseScopes(strings.Join(client.Scopes, ",")); err != nil {
			r.Problem(key+".scopes", "%v", err)
		}
	}
}
