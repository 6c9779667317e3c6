package peertest

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/association"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func (s *Script) submit(args []string) error {
	site, err := s.site(args)
	if err != nil {
		return err
	}
	w, err := readJob(args[1:])
	if err != nil {
		return err
	}
	var jobs []protocol.Job
	for range w.n {
		job := w.plan.Job(w.spec)
		job.Array = w.array
		jobs = append(jobs, job)
	}
	s.world.Submit(site.Name, w.user, w.key, jobs...)
	return nil
}

func (s *Script) quote(args []string) error {
	site, err := s.site(args)
	if err != nil {
		return err
	}
	w, err := readJob(args[1:])
	if err != nil {
		return err
	}
	s.world.Ask(site.Name, func(asked event.AskID) event.Event {
		return event.TestSubmit{Asked: asked, User: w.user, Jobs: []protocol.Job{{Spec: w.spec}}}
	})
	return nil
}

// wanted is a job as a script's words describe it.
type wanted struct {
	spec protocol.Spec
	plan Plan
	user string
	key  string
	n    int

	array *protocol.Array
}

func readJob(args []string) (wanted, error) {
	w := wanted{
		spec: protocol.Spec{Request: protocol.Request{CPUs: 1, WallTime: protocol.Minute}, Name: "x"},
		plan: Plan{Run: 30 * protocol.Second}, user: "ada", n: 1,
	}
	for _, arg := range args {
		key, value, _ := strings.Cut(arg, "=")
		if err := w.read(key, value); err != nil {
			return w, fmt.Errorf("%s: %w", arg, err)
		}
	}
	return w, nil
}

func (w *wanted) read(key, value string) (err error) {
	switch key {
	case "cpus":
		w.spec.CPUs, err = strconv.Atoi(value)
	case "n":
		w.n, err = strconv.Atoi(value)
	case "power": // in percent
		w.spec.Power, err = strconv.Atoi(value)
		w.spec.Power *= protocol.PPM / 100
	case "exit":
		w.plan.Exit, err = strconv.Atoi(value)
	case "time":
		w.spec.WallTime, err = readSpan(value)
	case "run":
		w.plan.Run, err = readSpan(value)
	case "name":
		w.spec.Name = value
	case "user":
		w.user = value
	case "key":
		w.key = value
	case "sites":
		for name := range strings.SplitSeq(value, ",") {
			w.spec.Sites = append(w.spec.Sites, protocol.SiteName(name))
		}
	default:
		err = w.readMark(key, value)
	}
	return err
}

func (w *wanted) readMark(key, value string) error {
	switch key {
	case "array":
		array, err := protocol.ParseArray(value)
		w.array = &array
		return err
	case "account":
		w.spec.Account = value
	case "partition":
		w.spec.Partition = value
	case "qos":
		w.spec.QOS = value
	case "requeue":
		w.spec.Requeue = true
	case "fail":
		w.plan.NodeFail = true
	case "refuse":
		w.plan.Refuse = true
	default:
		return errors.New("no such property of a job")
	}
	return nil
}

func readSpan(text string) (protocol.Duration, error) {
	d, err := time.ParseDuration(text)
	return protocol.DurationOf(d), err
}

func (s *Script) tune(args []string) error {
	site, err := s.site(args)
	if err != nil {
		return err
	}
	var o SiteOptions
	if err = configure(&o, args[1:]); err != nil {
		return err
	}
	s.world.Tune(site.Name, o.Config)
	return nil
}

func (s *Script) partners(args []string) error {
	site, err := s.site(args)
	if err != nil {
		return err
	}
	var partners []rules.Partner
	for _, name := range args[1:] {
		other := s.world.Site(protocol.SiteName(name))
		if other == nil || other == site {
			return fmt.Errorf("%s is no other site", name)
		}
		partners = append(partners, rules.Partner{Site: other.Name, PublicKey: other.cfg.PublicKey, MaxJobs: 1000})
	}
	s.world.SetPartners(site.Name, func(cfg *rules.Config) { cfg.Partners = partners })
	return nil
}

// mapAssociation puts a rule before those of a site's table of associations while it runs.
func (s *Script) mapAssociation(args []string) error {
	site, err := s.site(args)
	if err != nil {
		return err
	}
	var rule association.Rule
	for _, arg := range args[1:] {
		key, value, _ := strings.Cut(arg, "=")
		field := map[string]*string{
			"origin": &rule.Origin, "user": &rule.User, "account": &rule.Account, "partition": &rule.Partition, "qos": &rule.QOS,
			"as_account": &rule.AsAccount, "as_partition": &rule.AsPartition, "as_qos": &rule.AsQOS, "refuse": &rule.Refuse,
		}[key]
		switch {
		case key == "ignore":
			rule.Ignore = strings.Split(value, ",")
		case field == nil:
			return fmt.Errorf("%s: no such key of a rule", arg)
		default:
			*field = value
		}
	}
	s.world.SetPartners(site.Name, func(cfg *rules.Config) {
		cfg.Associations.Rules = append([]association.Rule{rule}, cfg.Associations.Rules...)
	})
	return nil
}

func (s *Script) cancel(args []string) error {
	site, id, err := s.siteAndJob(args[:min(2, len(args))]) //nolint:mnd // the third are elements
	if err != nil {
		return err
	}
	name := protocol.JobName{Job: id}
	if len(args) > 2 { //nolint:mnd // as above
		if name.Elements, err = protocol.ParseIndexes(args[2]); err != nil {
			return err
		}
	}
	s.world.CancelElements(site.Name, name)
	return nil
}

// siteAndJob reads the name of a site and the name of a job.
func (s *Script) siteAndJob(args []string) (*Site, protocol.JobID, error) {
	site, err := s.site(args)
	if err != nil {
		return nil, 0, err
	}
	if len(args) != 2 {
		return nil, 0, errors.New("which job?")
	}
	id, err := s.world.scribe.id(args[1])
	return site, id, err
}

// id reads a job's name, as a1.
func (c *scribe) id(name string) (protocol.JobID, error) {
	digits := strings.IndexAny(name, "0123456789")
	if digits < 1 {
		return 0, fmt.Errorf("%q names no job; a1 is the first of site a", name)
	}
	n, err := strconv.ParseUint(name[digits:], 10, 32)
	if err != nil {
		return 0, fmt.Errorf("job %q: %w", name, err)
	}
	for number, site := range c.names {
		if string(site) == name[:digits] {
			return protocol.NewJobID(number, c.first[number]+n-1), nil
		}
	}
	return 0, fmt.Errorf("job %q: there is no site %s", name, name[:digits])
}

func (s *Script) deliver(args []string) error   { return s.move(args, s.world.Deliver) }
func (s *Script) duplicate(args []string) error { return s.move(args, s.world.Duplicate) }
func (s *Script) drop(args []string) error      { return s.move(args, s.world.Drop) }

func (s *Script) move(args []string, how func(*Wire)) error {
	wire, err := s.wire(args)
	if err == nil {
		how(wire)
	}
	return err
}

func (s *Script) deliverAll(_ []string) error {
	for range 1000 {
		if len(s.world.wires) == 0 {
			return nil
		}
		s.world.Deliver(s.world.wires[0])
	}
	return errors.New("the messages do not come to an end")
}

func (s *Script) advance(args []string) error {
	if len(args) != 1 {
		return errors.New("how long?")
	}
	d, err := readSpan(args[0])
	if err == nil {
		s.world.Advance(d)
	}
	return err
}

func (s *Script) crash(args []string) error {
	site, err := s.site(args)
	if err == nil {
		s.world.Crash(site.Name)
	}
	return err
}

func (s *Script) restart(args []string) error {
	site, err := s.site(args)
	if err != nil {
		return err
	}
	return s.world.Restart(site.Name)
}

// wipe crashes a site and loses its disk.
func (s *Script) wipe(args []string) error {
	site, err := s.site(args)
	if err == nil {
		s.world.Wipe(site.Name)
	}
	return err
}

func (s *Script) cut(args []string) error {
	from, to, err := ends(args)
	if err == nil {
		s.world.Cut(from, to)
	}
	return err
}

func (s *Script) heal(args []string) error {
	from, to, err := ends(args)
	if err == nil {
		s.world.Heal(from, to)
	}
	return err
}

func (s *Script) connect(args []string) error    { return s.pair(args, s.world.Connect) }
func (s *Script) disconnect(args []string) error { return s.pair(args, s.world.Disconnect) }

func (s *Script) pair(args []string, do func(a, b protocol.SiteName)) error {
	a, err := s.site(args)
	if err != nil {
		return err
	}
	b, err := s.site(args[1:])
	if err == nil {
		do(a.Name, b.Name)
	}
	return err
}

func (s *Script) member(args []string) error {
	site, err := s.site(args)
	if err != nil {
		return err
	}
	if len(args) != 3 {
		return errors.New("member takes a site, and the name and number of the one that it sees")
	}
	n, err := strconv.ParseUint(args[2], 10, 14)
	if err != nil {
		return fmt.Errorf("number: %w", err)
	}
	name, number := protocol.SiteName(args[1]), protocol.SiteNumber(n)
	site.step(event.MemberSeen{Site: name, Number: number, PublicKey: PublicKey(name+"-other", number), FirstStart: 1})
	s.world.settle()
	return nil
}

// feed takes a site's prices away, gives them back, or has another feed with other prices.
func (s *Script) feed(args []string) error {
	site, err := s.site(args)
	if err != nil {
		return err
	}
	if len(args) != 2 {
		return errors.New("feed takes a site, and down, up or the prices of another feed")
	}
	if args[1] == "down" || args[1] == "up" {
		site.feedDown = args[1] == "down"
		return nil
	}
	if site.prices, err = readPrices(args[1]); err != nil {
		return err
	}
	s.world.Ask(site.Name, func(asked event.AskID) event.Event { return event.ChangePrices{Asked: asked} })
	return nil
}

func (s *Script) hold(args []string) error {
	site, err := s.site(args)
	if err == nil {
		site.holding = true
	}
	return err
}

// answer carries the oldest held call out and answers it.
func (s *Script) answer(args []string) error { return s.fate(args, CallFate{}) }

// lose carries the oldest held call out; its answer is lost.
func (s *Script) lose(args []string) error { return s.fate(args, CallFate{Unknown: true}) }

// undo loses the oldest held call wholly.
func (s *Script) undo(args []string) error { return s.fate(args, CallFate{Effect: -1, Unknown: true}) }

func (s *Script) fate(args []string, fate CallFate) error {
	site, err := s.site(args)
	if err != nil {
		return err
	}
	if len(site.calls) == 0 {
		return fmt.Errorf("%s holds no calls", site.Name)
	}
	call := site.calls[0]
	site.calls = site.calls[1:]
	site.carryOut(call, fate)
	s.world.settle()
	return nil
}

func (s *Script) release(args []string) error {
	site, err := s.site(args)
	if err != nil {
		return err
	}
	held := site.calls
	site.holding, site.calls = false, nil
	for _, call := range held {
		site.begin(call)
	}
	site.pump()
	s.world.settle()
	return nil
}
