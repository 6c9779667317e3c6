package experiment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/priceforecast"
	"github.com/switchyard-hpc/switchyard/internal/sim"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/plugins/pluginhost"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/plugins/price/feeds"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// SiteTrace is a trace of the jobs that are submitted at a site.
type SiteTrace struct {
	Site string // empty: the jobs of all sites, which its records name
	Path string
}

// OfSites is the experiment that runs sites as their configurations have them on traces, and
// beside that the scheme [Local]. The error names what of a configuration cannot be simulated
// and would change decisions; what cannot and would not is in [Plan.Notes].
func OfSites(configs []*config.Config, traces []SiteTrace) (*Plan, error) {
	plan := Default()
	plan.Name, plan.Scheme, plan.Compare = "sites", Configured, []string{string(Local)}
	plan.Sites = make([]Site, len(configs))
	errs := plan.configuredAs(configs)
	for _, trace := range traces {
		work := defaultWorkload()
		work.Site, work.Trace = trace.Site, Path(trace.Path)
		switch {
		case trace.Site == "" && len(configs) > 1:
			work.Split = ByPartition
		case trace.Site == "":
			work.Site = plan.Sites[0].Name
		case plan.site(trace.Site) < 0:
			errs = append(errs, fmt.Errorf("%s: there is no site %q among those that are simulated", trace.Path, trace.Site))
		}
		plan.Workloads = append(plan.Workloads, work)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return &plan, nil
}

// configuredAs gives the plan's sites, in their order, what their configurations state. It returns an error
// for each, nil if all is well.
func (p *Plan) configuredAs(configs []*config.Config) (errs []error) {
	for _, c := range configs {
		p.Currency, p.ExchangeRates = cmp.Or(p.Currency, c.Currency()), c.ExchangeRates
	}
	for i, c := range configs {
		site, notes, err := ofSite(c)
		if first := p.site(site.Name); err == nil && first >= 0 && first < i {
			err = fmt.Errorf("site %s comes twice", site.Name)
		}
		if own := c.Currency(); err == nil && own != "" && own != p.Currency {
			err = fmt.Errorf("site %s counts in %s and others in %s; sites that are simulated as they are configured have one currency", site.Name, own, p.Currency)
		}
		errs = append(errs, err)
		site.Config, site.Latency, site.FirstCheck, site.PeerSeed = p.Sites[i].Config, p.Sites[i].Latency, p.Sites[i].FirstCheck, p.Sites[i].PeerSeed
		p.Sites[i] = site
		p.fileNotes = append(p.fileNotes, notes...)
	}
	return errs
}

// ofConfigurations reads the configurations of sites that [Site].Config names, if it does. It returns false
// if they cannot be read, so that nothing is known of the sites.
func (p *Plan) ofConfigurations(c *checker) bool {
	missing := slices.IndexFunc(p.Sites, func(s Site) bool { return s.Config == "" })
	switch {
	case !slices.ContainsFunc(p.Sites, func(s Site) bool { return s.Config != "" }):
		return true
	case missing >= 0:
		c.Problem(fmt.Sprintf("site[%d].config", missing), "is missing; either all sites are simulated as they are configured, or none")
		return false
	}
	for _, key := range slices.Sorted(maps.Keys(c.Places())) {
		if key != "" && !besideConfigurations(key) {
			c.Problem(key, "has no effect on sites that are simulated as they are configured; set it in their configurations")
		}
	}
	configs := make([]*config.Config, len(p.Sites))
	for i := range p.Sites {
		one, err := config.LoadElsewhere(string(p.Sites[i].Config))
		if err != nil {
			c.Problem(fmt.Sprintf("site[%d].config", i), "%v", err)
			return false
		}
		if err = p.override(c, one); err != nil {
			c.Problem("policy.name", "site %s: %v", one.Site.Name, err)
		}
		configs[i] = one
	}
	for i, err := range p.configuredAs(configs) {
		if err != nil {
			c.Problem(fmt.Sprintf("site[%d].config", i), "%v", err)
		}
	}
	if !c.Set("scheme") {
		p.Scheme = Configured
	}
	return true
}

// override has a site decide by the policy and the initiation of the experiment, if that states any.
func (p *Plan) override(c *checker, site *config.Config) error {
	named := c.Set("policy.name")
	if named {
		site.Policy.Name = p.Policy.Name
	}
	if c.Set("rounds.initiation") {
		site.Rounds.Initiation = p.Rounds.Initiation
	}
	decides := site.BuiltIn(site.Policy.Name)
	switch {
	case !named && !c.Set("rounds.initiation"):
		return nil
	case decides == nil:
		return fmt.Errorf("%q is no built-in policy; use one of %s", site.Policy.Name, oneOf(config.PolicyNames()))
	}
	allowed := policy.Describe(decides).Initiations
	if !c.Set("rounds.initiation") && !slices.Contains(allowed, site.Rounds.Initiation) {
		site.Rounds.Initiation = config.InitiationFor(site.Policy.Name)
	}
	if !slices.Contains(allowed, site.Rounds.Initiation) {
		return fmt.Errorf("policy %q does not accept initiation %q; use %s", site.Policy.Name, site.Rounds.Initiation, oneOf(allowed))
	}
	return nil
}

// besideConfigurations says whether a key of an experiment has an effect on sites that are simulated as they are
// configured.
func besideConfigurations(key string) bool {
	if _, below, of := strings.Cut(key, "]."); of && strings.HasPrefix(key, "site[") {
		return below == "config" || below == "peer_seed" || below == "first_check" || below == "latency" || strings.HasPrefix(below, "latency.")
	}
	table, _, _ := strings.Cut(key, ".")
	table, _, _ = strings.Cut(table, "[")
	switch key {
	case "policy", "policy.name", "rounds", "rounds.initiation":
		return true
	}
	return slices.Contains([]string{
		"name", "about", "scheme", "compare", "seed", "seeds", "estimates", "load", "history", "check",
		"grid_share", "perturb", "site", "workload", "network", "link", "cut", "crash",
	}, table)
}

// ofSite is a site as its configuration has it.
func ofSite(c *config.Config) (s Site, notes []string, err error) {
	s.live = c
	s.LocalSched, s.Power, s.Prices = c.LocalSched, c.Power, c.Prices
	s.Name = string(c.Site.Name)
	if err := notSimulated(c); err != nil {
		return s, nil, fmt.Errorf("site %s: %w", s.Name, err)
	}
	if ignored := c.SetTables("nats", "gossip", "roster", "submit", "limits", "retention", "results", "accounts", "api", "metrics", "log", "audit"); len(ignored) > 0 {
		notes = append(notes, fmt.Sprintf("site %s: not simulated, as they change no decision about the jobs of a trace: [%s]", s.Name, strings.Join(ignored, "], [")))
	}
	return s, notes, nil
}

// notSimulated says what of a configuration has no counterpart in the simulator, and would
// change what is decided.
func notSimulated(c *config.Config) error {
	var errs []error
	refuse := func(key, format string, args ...any) {
		errs = append(errs, fmt.Errorf("%s: %s", key, fmt.Sprintf(format, args...)))
	}
	if c.LocalSched.Plugin != config.Process {
		refuse("localsched.plugin", "%q is not simulated; write a copy of the configuration for the simulator with plugin = %q and the machine's cpus, nodes and policy",
			c.LocalSched.Plugin, config.Process)
	} else if c.LocalSched.CPUs == 0 {
		refuse("localsched.cpus", "is not set, so that the site has as many as its computer; set it")
	}
	if c.Plugin(config.PolicyKind, c.Policy.Name) != nil {
		refuse("policy.name", "%q is a plugin, which is not simulated in sites as they are configured; write an experiment with a table [[plugin]]", c.Policy.Name)
	}
	if c.Power.Series.Feed != "" {
		refuse("power.series.feed", config.NoSeries)
	}
	if c.Prices.Area != "" && !slices.Contains(feeds.Names(), c.Prices.Feed) {
		refuse("prices.feed", "%q is a plugin, which is not asked; name one of %s in a copy of the configuration", c.Prices.Feed, strings.Join(feeds.Names(), " and "))
	}
	return errors.Join(errs...)
}

// configured says whether the plan is of sites as they are configured.
func (p *Plan) configured() bool { return len(p.Sites) > 0 && p.Sites[0].live != nil }

// configure has each site's peer go by its own configuration, or by the scheme [Local].
func (p *Plan) configure(cfg *sim.Config, scheme Scheme, when calendar) {
	cfg.Begin = when.begin
	for i := range p.Sites {
		live, to := p.Sites[i].live, &cfg.Sites[i]
		decides := pluginhost.CheckedPolicy(live.BuiltIn(live.Policy.Name))
		own := live.Peer(config.Parts{Policy: policy.Describe(decides), Capacity: to.Capacity()})
		to.Tariff, to.Costs, to.Currency = live.SiteTariff(), own.Costs, own.Currency
		to.WaitingCosts, to.DefaultWeights = own.WaitingCosts, own.DefaultWeights
		to.Waits = LocalSched{WaitPrediction: live.LocalSched.WaitPrediction}.waits()
		if own.Costs != nil {
			to.Electricity.Milliwatts = own.Power
		}
		if scheme == Configured {
			to.Peer = &sim.Peer{Config: own, Decides: decides, Fallback: pluginhost.CheckedPolicy(live.BuiltIn(live.Policy.Fallback))}
		}
	}
}

// dated takes the beginning from the traces of sites, and puts them on one clock. Either all
// say when they began or none does.
func (p *Plan) dated() error {
	if !p.configured() {
		return nil
	}
	begins := make([]protocol.Instant, 0, len(p.inputs))
	for i := range p.inputs {
		if p.inputs[i].trace == nil { // it could not be read
			return nil
		}
		if begin, known := p.inputs[i].trace.Header.Int("UnixStartTime"); known && begin > 0 {
			begins = append(begins, protocol.Instant(begin*1000))
		}
	}
	switch {
	case len(begins) == 0:
		p.notes = append(p.notes, fmt.Sprintf("no trace says when it began (UnixStartTime): clocks begin at %s %s", p.Electricity.Start, p.Electricity.Zone))
		return nil
	case len(begins) < len(p.inputs):
		return errors.New("some traces say when they began (UnixStartTime) and others do not, so that their times cannot be compared; add it, or remove it from all")
	}
	p.began = slices.Min(begins)
	for i := range p.inputs {
		for k := range p.inputs[i].jobs {
			p.inputs[i].jobs[k].Submit += begins[i] - p.began
		}
	}
	return nil
}

// feedOf opens the feed of a live site's prices.
func feedOf(from *config.Prices) (feeds.Feed, error) {
	text, err := os.ReadFile(string(from.Config))
	if err != nil {
		return nil, fmt.Errorf("prices.config: %w", err)
	}
	quiet := slog.New(slog.DiscardHandler) // errors in files are returned when prices are requested
	return feeds.Open(from.Feed, string(from.Config), filepath.Dir(string(from.Config)), string(text), from.Area, quiet)
}

// feedPrices are the prices of a live site's feed for a run, with what is known of them ahead: all of
// a contract, and of files what had been published.
func (of *supply) feedPrices(ctx context.Context, when calendar) (*priceforecast.Hindsight, error) {
	from := of.from
	series, err := of.feed.Prices(ctx, price.Query{
		Area: from.Area, From: when.begin - protocol.Instant(from.History), Until: when.last.Add(afterwards),
	})
	if err != nil {
		return nil, err
	}
	if err = covers(series, when); err != nil {
		return nil, err
	}
	if from.Feed == feeds.TariffName {
		return of.hindsightOf(series, priceforecast.Known)
	}
	return of.hindsightOf(series, from.Forecast)
}
