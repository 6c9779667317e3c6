package peertest

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Script runs a world by commands in words, one to a line:
//
//	sites a=4 b=4              makes a new world of sites with these CPUs
//	set a phi=60s max-jobs=1   configures a site, or all; before anything happens
//	link a b                   only linked sites are partners
//	tune a initiation=receiver stay
//	                           changes the rules of rounds while the site runs
//	partners a b c             gives site a these partners while it runs
//	map b origin=a account=phys as_account=guest
//	                           puts a rule of what accounts, partitions and QOS mean at site b before others
//	submit a cpus=2 time=60s run=40s name=x
//	                           also n= user= exit= sites=b,c key= power= account= partition= qos= array=0-9%2 requeue fail refuse
//	quote a cpus=2 time=60s    asks what the job would be quoted
//	cancel a a1 [0-3]          job a1 is the first of site a; of an array all or these elements
//	deliver a->b [kind]        the oldest message of a wire; also drop, duplicate
//	deliver-all                until no message is left
//	advance 30s
//	crash b, restart b, wipe b
//	cut a->b, heal a->b, connect a b, disconnect a b
//	hold b, answer b, lose b, undo b, release b
//	                           calls: hold them; carry out and answer the oldest; carry it
//	                           out but lose the answer; lose it wholly; carry out all
//	member a b 7               site a sees another site b with number 7 in gossip
//	together a cpus=2 sites=a + cpus=2 sites=b
//	                           a co-allocation group: its components start at one instant
//	requeue a a1               an operator puts a job back that may have run
//	save a, restore a          keeps the rows of a site; puts them back, and restarts its peer
//	recover a [resume|requeue|cancel]
//	                           shows what a restored store needs; has its peer go on
//	clock a 10m                sets a site's clock forward
//	feed a down                the prices of site a are not answered; up: they are again; EUR:10,20:
//	                           another feed, with these prices
//	show wires | queue a | sites a | rows b | archive a
//
// Errors of a script show in its output.
type Script struct {
	options Options
	world   *World
	saved   Rows
	out     []string
	at      protocol.Instant // of the last line of output
}

// Replay runs the commands of a transcript, which are the lines that begin with
// "> ", and returns the transcript with what they do now. Lines that begin with
// "#" and empty lines stay.
func Replay(transcript string) string {
	var s Script
	var out strings.Builder
	for line := range strings.Lines(transcript) {
		line = strings.TrimRight(line, " \n")
		switch command, ok := strings.CutPrefix(line, "> "); {
		case ok:
			fmt.Fprintln(&out, line)
			for _, said := range s.Do(command) {
				fmt.Fprintln(&out, said)
			}
		case line == "" || line[0] == '#':
			fmt.Fprintln(&out, line)
		}
	}
	return out.String()
}

// Do runs one command and returns what happened.
func (s *Script) Do(command string) []string {
	s.out = nil
	words := strings.Fields(command)
	if len(words) == 0 {
		return nil
	}
	if err := s.do(words[0], words[1:]); err != nil {
		s.out = append(s.out, "error: "+err.Error())
	}
	if s.world != nil {
		if err := s.world.Check(); err != nil {
			s.out = append(s.out, "BROKEN: "+err.Error())
		}
	}
	return s.out
}

func (s *Script) do(verb string, args []string) error {
	setup := map[string]func([]string) error{"sites": s.sites, "set": s.set, "link": s.link}
	if do := setup[verb]; do != nil {
		return do(args)
	}
	if err := s.begin(); err != nil {
		return err
	}
	verbs := map[string]func([]string) error{
		"submit": s.submit, "quote": s.quote, "cancel": s.cancel, "show": s.show,
		"deliver": s.deliver, "drop": s.drop, "duplicate": s.duplicate, "deliver-all": s.deliverAll,
		"advance": s.advance, "crash": s.crash, "restart": s.restart, "wipe": s.wipe,
		"cut": s.cut, "heal": s.heal, "connect": s.connect, "disconnect": s.disconnect,
		"hold": s.hold, "answer": s.answer, "lose": s.lose, "undo": s.undo, "release": s.release,
		"member": s.member, "tune": s.tune, "partners": s.partners, "map": s.mapAssociation, "feed": s.feed,
		"together": s.together, "requeue": s.requeue, "save": s.save, "restore": s.restore, "recover": s.recover, "clock": s.clock,
	}
	if do := verbs[verb]; do != nil {
		return do(args)
	}
	return fmt.Errorf("the command %q is unknown", verb)
}

func (s *Script) sites(args []string) error {
	*s = Script{} // another world
	for _, arg := range args {
		name, cpus, _ := strings.Cut(arg, "=")
		n, err := strconv.Atoi(cpus)
		if err != nil {
			return fmt.Errorf("site %q: %w", arg, err)
		}
		s.options.Sites = append(s.options.Sites, SiteOptions{
			Name: protocol.SiteName(name), Capacity: protocol.Capacity{CPUs: n, Nodes: n},
		})
	}
	return nil
}

func (s *Script) link(args []string) error {
	if len(args) != 2 {
		return errors.New("link takes two sites")
	}
	s.options.Links = append(s.options.Links, [2]protocol.SiteName{protocol.SiteName(args[0]), protocol.SiteName(args[1])})
	return nil
}

func (s *Script) set(args []string) error {
	if len(args) == 0 || s.world != nil {
		return errors.New("set takes a site, or all, before anything happens")
	}
	found := false
	for i := range s.options.Sites {
		if args[0] != "all" && args[0] != string(s.options.Sites[i].Name) {
			continue
		}
		found = true
		if err := configure(&s.options.Sites[i], args[1:]); err != nil {
			return err
		}
	}
	if !found {
		return fmt.Errorf("there is no site %q", args[0])
	}
	return nil
}

// configure reads key=value words into a site's options.
func configure(o *SiteOptions, args []string) error {
	changes := []func(*rules.Config){}
	if o.Config != nil {
		changes = append(changes, o.Config)
	}
	for _, arg := range args {
		key, value, _ := strings.Cut(arg, "=")
		change, err := configureOne(o, key, value)
		if err != nil {
			return fmt.Errorf("%s: %w", arg, err)
		}
		changes = append(changes, change)
	}
	o.Config = func(c *rules.Config) {
		for _, change := range changes {
			change(c)
		}
	}
	return nil
}

// configureOne reads a setting, which is a word, a count or a span of time.
func configureOne(o *SiteOptions, key, value string) (func(*rules.Config), error) {
	if change, isWord, err := configureWord(o, key, value); isWord {
		return change, err
	}
	if n, err := strconv.Atoi(value); err == nil {
		return configureCount(o, key, n)
	}
	d, err := time.ParseDuration(value)
	if err != nil {
		return nil, err
	}
	return configureSpan(o, key, protocol.DurationOf(d))
}

// configureWord reads the settings that are words.
func configureWord(o *SiteOptions, key, value string) (change func(*rules.Config), isWord bool, err error) {
	nothing := func(*rules.Config) {}
	switch key {
	case "initiation":
		return func(c *rules.Config) { c.Initiation = policy.Initiation(value) }, true, nil
	case "reserves":
		return func(c *rules.Config) { c.Reserves = true }, true, nil
	case "stay":
		return func(c *rules.Config) { c.StayLocal = true }, true, nil
	case "greedy": // the policy; its value is the reckoning of energy
		o.Policy = Greedy{EnergyPricing: protocol.EnergyPricing(value)}
		return nothing, true, nil
	case "whole": // the policy, for groups
		o.Policy = Greedy{ApplicationAware: true}
		return nothing, true, nil
	case "prices": // EUR:10,20
		if o.Prices, err = readPrices(value); err != nil {
			return nil, true, err
		}
		return func(c *rules.Config) { c.Area = string(c.Site) }, true, nil
	}
	return nil, false, nil
}

// readPrices reads a currency and its prices in whole units per MWh, hour by hour.
func readPrices(value string) (Prices, error) {
	currency, list, ok := strings.Cut(value, ":")
	if !ok {
		return nil, fmt.Errorf("%q is not currency:price,price", value)
	}
	var units []int64
	for word := range strings.SplitSeq(list, ",") {
		one, err := strconv.ParseInt(word, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("price %q: %w", word, err)
		}
		units = append(units, one)
	}
	return HourlyPrices(currency, units...), nil
}

func configureCount(o *SiteOptions, key string, n int) (func(*rules.Config), error) {
	counts := map[string]func(*rules.Config){
		"round-jobs":    func(c *rules.Config) { c.RoundJobs = n },
		"ask":           func(c *rules.Config) { c.PartnersPerRound = n },
		"recheck":       func(c *rules.Config) { c.RecheckJobs = n },
		"draw":          func(c *rules.Config) { c.JobsPerVolunteer = n },
		"delta":         func(c *rules.Config) { c.VolunteerBelow = n * protocol.PPM / 100 }, // in percent
		"max-output":    func(c *rules.Config) { c.MaxOutput = int64(n) },                    // bytes
		"max-user-jobs": func(c *rules.Config) { c.MaxUserJobs = n },
		"max-q":         func(c *rules.Config) { c.MaxJobsPerCycle = n },
		"watts":         func(c *rules.Config) { c.Power = int64(n) * 1000 },                // of a CPU
		"protect-share": func(c *rules.Config) { c.Protect.Share = n * protocol.PPM / 100 }, // in percent
	}
	if change := counts[key]; change != nil {
		return change, nil
	}
	switch key {
	case "max-jobs":
		o.MaxJobs = n
	case "max-cpus":
		o.MaxCPUs = n
	case "number":
		o.Number = protocol.SiteNumber(n & 0xffff)
	case "mhz":
		o.Capacity.MHz = n
	case "mflops":
		o.Capacity.Mflops = n
	case "extra": // of the policy greedy, which must be set before
		greedy, ok := o.Policy.(Greedy)
		if !ok {
			return nil, errors.New("only the policy greedy has extra")
		}
		greedy.MarginalJobs = n
		o.Policy = greedy
	default:
		return nil, fmt.Errorf("the setting %q is unknown", key)
	}
	return func(*rules.Config) {}, nil
}

func configureSpan(o *SiteOptions, key string, d protocol.Duration) (func(*rules.Config), error) {
	spans := map[string]func(*rules.Config){
		"phi":       func(c *rules.Config) { c.LocalWaitThreshold = d },
		"sigma":     func(c *rules.Config) { c.CheckInterval = d },
		"deadline":  func(c *rules.Config) { c.QuoteTimeout = d },
		"retry":     func(c *rules.Config) { c.RetryInitial = d },
		"retry-max": func(c *rules.Config) { c.RetryMax = d },
		"settle":    func(c *rules.Config) { c.SubmitRecheckDelay = d },
		"reclaim":   func(c *rules.Config) { c.ReclaimAfter = d },
		"cycle":     func(c *rules.Config) { c.CycleInterval = d },
		"epsilon":   func(*rules.Config) { o.Epsilon = d },

		"watermark": func(c *rules.Config) { c.Watermark, c.Machine = d, "machine "+string(c.Site) },

		"price-refresh": func(c *rules.Config) { c.PriceRefresh = d },
		"protect-delay": func(c *rules.Config) { c.Protect.Delay = d },
	}
	if key == "epsilon" {
		o.Epsilon = d
	}
	if change := spans[key]; change != nil {
		return change, nil
	}
	return nil, fmt.Errorf("the setting %q is unknown", key)
}

// begin makes the world when the first thing happens.
func (s *Script) begin() error {
	if s.world != nil {
		return nil
	}
	s.options.Seed = 1
	w, err := New(s.options)
	if err != nil {
		return err
	}
	s.world, s.at = w, w.now
	w.Journal = s.say
	return nil
}

func (s *Script) say(line string) {
	if s.world.now != s.at {
		s.at = s.world.now
		s.out = append(s.out, fmt.Sprintf("-- %v", s.at.Sub(Epoch)))
	}
	s.out = append(s.out, line)
}

func (s *Script) site(args []string) (*Site, error) {
	if len(args) == 0 {
		return nil, errors.New("which site?")
	}
	if site := s.world.Site(protocol.SiteName(args[0])); site != nil {
		return site, nil
	}
	return nil, fmt.Errorf("there is no site %q", args[0])
}

// wire finds the oldest message from->to, of a kind if one is named.
func (s *Script) wire(args []string) (*Wire, error) {
	if len(args) == 0 {
		return nil, errors.New("which wire?")
	}
	from, to, err := ends(args)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(s.world.wires, func(w *Wire) bool {
		return w.From == from && w.To == to && (len(args) < 2 || w.Kind == args[1])
	})
	if i < 0 {
		return nil, fmt.Errorf("no such message from %s to %s", from, to)
	}
	return s.world.wires[i], nil
}

// ends reads a->b.
func ends(args []string) (from, to protocol.SiteName, err error) {
	if len(args) == 0 {
		return "", "", errors.New("from where to where?")
	}
	a, b, ok := strings.Cut(args[0], "->")
	if !ok {
		return "", "", fmt.Errorf("%q is not from->to", args[0])
	}
	return protocol.SiteName(a), protocol.SiteName(b), nil
}
