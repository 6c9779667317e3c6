package peer_test

import (
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/peertest"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
)

var (
	chaosSeeds = flag.Int("chaos.seeds", 0, "how many seeds TestChaos and TestChaosRestored each run; 0: 300, with -short 100")
	chaosFrom  = flag.Uint64("chaos.from", 1, "number of the first seed of these, so that long runs need not try the same ones again")
	chaosSeed  = flag.Uint64("chaos.seed", 0, "run this seed only, and print its journal")
)

// TestChaos lets random grids with random jobs meet a nemesis that loses, doubles
// and delays messages, cuts wires, crashes peers and loses the answers of calls.
// Sites differ in initiation, policy, MaxQ, protection and prices; of some jobs several start
// together, on whole nodes or not, within limits of cost and time or not. No invariant may break
// meanwhile; once the nemesis relents, every job must end
// and nothing may be left.
func TestChaos(t *testing.T) {
	t.Parallel()
	runSeeds(t, func(i uint64) uint64 { return i + 1 }, func(*chaos) {})
}

// runSeeds runs chaos with the seeds that the flags ask for: that number of seeds from the
// first one on, or one seed alone. prepare has the last word on each.
func runSeeds(t *testing.T, seedOf func(i uint64) uint64, prepare func(*chaos)) {
	t.Helper()
	if *chaosSeed != 0 {
		c := newChaos(t, *chaosSeed)
		c.world.Journal = func(line string) { t.Logf("%9d %s", c.world.Now()-peertest.Epoch, line) }
		prepare(c)
		c.run(t)
		return
	}
	seeds := *chaosSeeds
	if seeds == 0 {
		seeds = 300
		if testing.Short() {
			seeds = 100
		}
	}
	for i := range uint64(seeds) {
		c := newChaos(t, seedOf(*chaosFrom-1+i))
		prepare(c)
		if c.run(t); t.Failed() {
			return
		}
	}
}

// TestChaosIsDeterministic runs seeds twice and compares all that happened.
func TestChaosIsDeterministic(t *testing.T) {
	t.Parallel()
	hash := func(seed uint64) uint64 {
		c := newChaos(t, seed)
		h := fnv.New64a()
		c.world.Journal = func(line string) { fmt.Fprintln(h, c.world.Now(), line) }
		c.run(t)
		return h.Sum64()
	}
	for seed := uint64(1001); seed < 1006; seed++ {
		if a, b := hash(seed), hash(seed); a != b {
			t.Errorf("seed %d: two runs differ", seed)
		}
	}
}

// chaos is one random grid with its workload and nemesis.
type chaos struct {
	seed     uint64
	rng      *rand.Rand
	world    *peertest.World
	nemesis  *peertest.Nemesis
	sites    map[protocol.SiteName]peertest.SiteOptions
	refused  map[string]bool // names of jobs that no batch system takes
	share    map[protocol.SiteName]int
	groups   map[protocol.SiteName]groupRoom // of whose own machine for components that start together
	span     protocol.Duration               // of the workload and the faults
	timeless bool                            // no application has a limit of time
	older    bool                            // rows of an earlier time are put back, and with them a restart that was wanted may be lost
}

func newChaos(t *testing.T, seed uint64) *chaos {
	t.Helper()
	c := &chaos{
		seed: seed, rng: rand.New(rand.NewPCG(seed, 7)), span: 5 * protocol.Minute,
		sites: map[protocol.SiteName]peertest.SiteOptions{}, refused: map[string]bool{},
		share: map[protocol.SiteName]int{}, groups: map[protocol.SiteName]groupRoom{},
	}
	settle := c.between(500, 3000)
	c.nemesis = &peertest.Nemesis{
		Loss: c.rng.IntN(30), Doubled: c.rng.IntN(20), Slow: c.rng.IntN(20), SlowBy: c.between(1000, 60_000),
		CallLoss: c.rng.IntN(20), CallBy: c.between(1, 800), CommitBy: c.between(0, 200), Late: settle,
		CrashEach: c.between(5_000, 200_000), CutEach: c.between(5_000, 200_000), Outage: c.between(1000, 90_000),
	}
	c.nemesis.Seed(seed)
	options := peertest.Options{Seed: seed, Faults: c.nemesis}
	for i := range 2 + c.rng.IntN(3) {
		o := c.site(t, i, settle)
		c.sites[o.Name] = o
		options.Sites = append(options.Sites, o)
	}
	world, err := peertest.New(options)
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	c.world = world
	return c
}

// Jobs that have ended can be requeued for a while, with the seeds from one number on. The others leave the worlds as they are that
// tests look for rare cases in.
const (
	requeueable     = 30 * protocol.Second
	requeueableFrom = 12_000_000
)

func (c *chaos) between(low, high int64) protocol.Duration {
	return protocol.Duration(low + c.rng.Int64N(high-low+1))
}

func (c *chaos) site(t *testing.T, i int, settle protocol.Duration) peertest.SiteOptions {
	t.Helper()
	nodes := 1 + c.rng.IntN(4)
	o := peertest.SiteOptions{
		Name:     protocol.SiteName(string(rune('a' + i))),
		Capacity: protocol.Capacity{CPUs: nodes * (1 + c.rng.IntN(4)), Nodes: nodes, WholeNode: c.rng.IntN(2) == 0},
		MaxJobs:  1 + c.rng.IntN(8),
		Skew:     c.between(-3_600_000, 3_600_000),
		Epsilon:  c.between(0, 60_000),
	}
	if c.rng.IntN(3) == 0 {
		o.MaxCPUs = 1 + c.rng.IntN(o.Capacity.CPUs)
	}
	switch c.rng.IntN(6) {
	case 0, 1, 2:
		o.Policy = peertest.Greedy{MarginalJobs: c.rng.IntN(4), EnergyPricing: c.reckoning(), ApplicationAware: c.rng.IntN(4) > 0}
	case 3:
		o.Policy = solver(t)
	}
	reserves := c.rng.IntN(4) > 0
	c.roomForGroups(&o, reserves)
	initiation := c.initiation(&o)
	draw, recheck, stay := c.rng.IntN(3), c.rng.IntN(3), c.rng.IntN(2) == 0
	o.Capacity.MHz = c.rng.IntN(4) * 300
	retry, phi, rounds := c.between(50, 2000), c.between(1, 60_000), 1+c.rng.IntN(8)
	if c.rng.IntN(2) == 0 {
		retry = c.between(50, 200) // so that prepared guests lose their patience
	}
	longest := max(1000, retry*c.between(1, 8))
	more, perCPU := c.electricity(&o), protocol.Micro(c.rng.Int64N(2_000_000))
	watermark := protocol.Duration(0)
	if c.seed%2 == 0 { // lives are distinguished
		watermark = c.between(1000, 20_000)
	}
	planned, moves := protocol.Duration(0), rules.Moves{}
	if c.seed%3 == 0 { // jobs are placed again
		planned, moves = c.between(500, 20_000), c.moves()
	}
	o.Config = func(cfg *rules.Config) {
		cfg.MaxStaging, cfg.PlannedStarts, cfg.Moves = 1000, planned, moves
		if c.seed >= requeueableFrom {
			cfg.Requeueable = rules.Requeueable{For: requeueable, Jobs: 8, Bytes: 1 << 20}
		}
		more(cfg)
		cfg.Watermark = watermark
		cfg.RetryInitial, cfg.RetryMax, cfg.QuoteTimeout = retry, longest, max(retry*2, 300)
		cfg.Initiation, cfg.JobsPerVolunteer, cfg.RecheckJobs, cfg.StayLocal = initiation, draw, recheck, stay
		cfg.LocalWaitThreshold, cfg.RoundJobs, cfg.SubmitRecheckDelay = phi, rounds, settle
		cfg.Reserves, cfg.Margin, cfg.Currency = reserves, 3*longest, "EUR"
		cfg.Tariff = localsched.Tariff{CPUHour: perCPU, Currency: "EUR"}
		cfg.CheckInterval, cfg.ReclaimAfter = 20*protocol.Second, 40*protocol.Second
	}
	return o
}

// moves draws when jobs are placed again.
func (c *chaos) moves() rules.Moves {
	return rules.Moves{
		Interval: c.between(500, 20_000), Jobs: 1 + c.rng.IntN(16), Gain: c.between(1, 5000), GainShare: c.rng.IntN(200_000),
		Wait: c.between(0, 60_000), Pause: c.between(1, 20_000), Most: 1 + c.rng.IntN(5),
	}
}

func (c *chaos) run(t *testing.T) {
	t.Helper()
	for range 20 + c.rng.IntN(41) {
		c.world.After(c.between(0, int64(c.span)), c.arrive)
	}
	for range c.rng.IntN(4) {
		c.world.After(c.between(0, int64(c.span)), c.tune)
	}
	c.nemesis.Unleash(c.world)
	for range 30 {
		c.world.Advance(c.span / 30)
		if err := c.world.Check(); err != nil {
			c.fail(t, err.Error())
			return
		}
	}
	c.nemesis.Relent(c.world)
	c.wholeAgain()
	for range 12 {
		c.world.Advance(10 * protocol.Second)
		c.cancelHopeless()
	}
	if busy := c.untilQuiet(); busy != "" {
		c.fail(t, "still busy:\n"+busy)
	}
	c.world.Advance(requeueable + 2*protocol.Second)
	if err := c.world.Check(); err != nil {
		c.fail(t, err.Error())
	}
	c.checkEnds(t)
}

// cancelHopeless cancels the jobs that no site takes because of its limits; they
// wait with a reason for as long as their submitters like.
func (c *chaos) cancelHopeless() {
	for _, s := range c.world.Sites() {
		for _, stored := range s.Rows().Jobs() {
			if stored.Phase == row.JobInGridQueue && !c.canRun(s, stored.Spec) {
				c.world.Cancel(s.Name, stored.Spec.Job)
			}
		}
	}
}

func (c *chaos) canRun(origin *peertest.Site, spec protocol.Spec) bool {
	if c.refused[spec.Name] {
		return false
	}
	for _, s := range c.world.Sites() {
		o := c.sites[s.Name]
		within := s == origin || ((o.MaxCPUs == 0 || spec.CPUs <= o.MaxCPUs) && c.lets(s.Name, spec.CPUs))
		if spec.Allows(s.Name) && o.Capacity.Fits(spec.Request) == "" && within {
			return true
		}
	}
	return false
}

// lets says whether a site's protection leaves room for a guest.
func (c *chaos) lets(site protocol.SiteName, cpus int) bool {
	share, ok := c.share[site]
	return !ok || cpus*protocol.PPM/c.sites[site].Capacity.CPUs <= share
}

func (c *chaos) fail(t *testing.T, problem string) {
	t.Helper()
	t.Errorf("seed %d (-run %s$ -chaos.seed=%d): %s", c.seed, t.Name(), c.seed, problem)
}

func (c *chaos) checkEnds(t *testing.T) {
	t.Helper()
	for _, end := range c.world.Ends() {
		switch {
		case !end.State.Terminal():
			c.fail(t, fmt.Sprintf("job %v has not ended", end.Job))
		case end.State == protocol.Completed && !end.Requeue && (end.Starts > 1+end.Restarts || !c.older && end.Starts <= end.Restarts):
			c.fail(t, fmt.Sprintf("run-once job %v has COMPLETED with %d starts and %d restarts", end.Job, end.Starts, end.Restarts))
		}
	}
	for _, s := range c.world.Sites() {
		for key := range s.Rows().Rows[row.ArrayTable] {
			c.fail(t, fmt.Sprintf("array %s of %s has not ended", key, s.Name))
		}
		for key := range s.Rows().Rows[row.RequeueableTable] {
			c.fail(t, fmt.Sprintf("job %s of %s can still be requeued", key, s.Name))
		}
		left := s.Peer().Leftovers()
		if len(left) > 0 { // the question for the own load, every σ, may be under way
			c.world.Advance(2 * protocol.Second)
			left = s.Peer().Leftovers()
		}
		if len(left) > 0 {
			c.fail(t, fmt.Sprintf("left at %s: %s", s.Name, strings.Join(left, "; ")))
		}
	}
}

// tune gives a site another initiation, and may have its policy look at applications or not
// any more.
func (c *chaos) tune() {
	sites := c.world.Sites()
	s := sites[c.rng.IntN(len(sites))]
	o := c.sites[s.Name]
	initiation := c.initiation(&o)
	toggles := o.Policy != nil && c.rng.IntN(2) == 0
	c.world.Tune(s.Name, func(cfg *rules.Config) {
		cfg.Initiation = initiation
		if toggles {
			decides := cfg.Policy.DecidesApplications()
			cfg.Policy.Can = nil
			if !decides {
				cfg.Policy.Can = []policy.Capability{policy.Applications}
			}
		}
	})
}

// wholeAgain gives sites with groups that wait for a policy that looks at them such a one.
func (c *chaos) wholeAgain() {
	for _, s := range c.world.Sites() {
		if o := c.sites[s.Name]; brokers(&o) {
			c.world.Tune(s.Name, func(cfg *rules.Config) { cfg.Policy.Can = []policy.Capability{policy.Applications} })
		}
	}
}

// initiation is one that the site's policy accepts.
func (c *chaos) initiation(o *peertest.SiteOptions) policy.Initiation {
	all := []policy.Initiation{policy.Sender, policy.Receiver, policy.Symmetric, policy.Cycle, policy.Cycle}
	switch policy := o.Policy.(type) {
	case nil: // tc
		all = all[:3]
	case peertest.Greedy:
	default:
		all = policy.Info().Initiations
	}
	return all[c.rng.IntN(len(all))]
}

func (c *chaos) reckoning() protocol.EnergyPricing {
	return []protocol.EnergyPricing{protocol.Hourly, protocol.AtOnce, protocol.TwoPrice}[c.rng.IntN(3)]
}

// electricity draws a site's cycle, what it takes in one, its prices, which fail now and
// then, and how it protects its users.
func (c *chaos) electricity(o *peertest.SiteOptions) func(*rules.Config) {
	period, maxQ, power := c.between(3000, 40_000), 0, c.rng.Int64N(300_000)
	var protect rules.Protection
	switch c.rng.IntN(4) {
	case 0:
		protect.Share = 200_000 + c.rng.IntN(800_000)
		c.share[o.Name] = protect.Share
	case 1:
		protect.Delay = c.between(1, 60_000)
	}
	if c.rng.IntN(2) == 0 {
		maxQ = 1 + c.rng.IntN(5)
	}
	c.groups[o.Name] = c.groups[o.Name].within(maxQ)
	area := ""
	if c.rng.IntN(2) == 0 {
		area, o.Prices = "x", c.prices()
	}
	return func(cfg *rules.Config) {
		cfg.CycleInterval, cfg.MaxJobsPerCycle, cfg.Power, cfg.Protect = period, maxQ, power, protect
		cfg.Area, cfg.PriceRefresh = area, protocol.Minute
	}
}

func (c *chaos) prices() peertest.Prices {
	right := peertest.HourlyPrices("EUR", 40, -3, 5)
	return func(query price.Query) (price.Forecast, error) {
		if c.rng.IntN(3) == 0 {
			return price.Forecast{}, errors.New("the feed is down")
		}
		return right(query)
	}
}

// arrive submits one or a few jobs somewhere, some to be cancelled later.
func (c *chaos) arrive() {
	sites := c.world.Sites()
	s := sites[c.rng.IntN(len(sites))]
	var jobs []protocol.Job
	for range 1 + c.rng.IntN(2) {
		jobs = append(jobs, c.job(s))
	}
	key := ""
	if c.rng.IntN(4) == 0 {
		key = strconv.Itoa(c.rng.IntN(5))
	}
	user := []string{"ada", "ada", "ada", "readonly"}[c.rng.IntN(4)]
	if c.groups[s.Name].members > 1 && c.rng.IntN(3) == 0 {
		c.gather(s.Name)
		return
	}
	asked := c.world.Submit(s.Name, user, key, jobs...)
	if c.rng.IntN(3) == 0 {
		within := []int64{1000, 5000, 60_000}[c.rng.IntN(3)]
		at := sites[c.rng.IntN(len(sites))]
		c.world.After(c.between(0, within), func() {
			submitted, ok := s.Answer(asked).(view.Submitted)
			switch {
			case !ok:
			case at == s:
				c.world.Cancel(s.Name, submitted.Jobs[0])
			default:
				c.world.CancelThere(at.Name, submitted.Jobs[0], user)
			}
		})
	}
}

func (c *chaos) job(s *peertest.Site) protocol.Job {
	wall := c.between(1000, 120_000)
	spec := protocol.Spec{
		Request: protocol.Request{CPUs: 1 + c.rng.IntN(8), WallTime: wall}, Requeue: c.rng.IntN(3) == 0,
	}
	if c.rng.IntN(4) == 0 {
		spec.Nodes = 1 + c.rng.IntN(min(3, spec.CPUs))
	}
	if c.rng.IntN(4) == 0 {
		spec.Sites = []protocol.SiteName{c.world.Sites()[c.rng.IntN(len(c.world.Sites()))].Name}
	}
	if c.rng.IntN(6) == 0 && len(spec.Sites) == 0 {
		for _, other := range c.world.Sites() {
			if other != s {
				spec.Sites = append(spec.Sites, other.Name)
			}
		}
	}
	plan := peertest.Plan{Run: c.between(1, int64(wall)*5/4), Exit: c.rng.IntN(2), NodeFail: c.rng.IntN(12) == 0, Refuse: c.rng.IntN(15) == 0}
	spec.Name = strconv.Itoa(c.rng.Int())
	c.refused[spec.Name] = plan.Refuse
	job := plan.Job(spec)
	if c.rng.IntN(3) == 0 {
		job.Payload.Staging = &protocol.Staging{Bytes: int64(c.between(1, 1000)), SHA256: [32]byte{1}}
		if c.rng.IntN(2) == 0 {
			job.Payload.Staging.Out = []string{"."}
		}
	}
	return job
}

// TestChaosRestored lets random grids with a nemesis have the rows of an earlier time put back
// at one of their sites, whose witness file remembers more. An operator cancels what is in
// doubt. No job may start twice, and every job that is known must end.
func TestChaosRestored(t *testing.T) {
	t.Parallel()
	tellsLives := func(i uint64) uint64 { return 2*i + 2_000_000 } // an even seed does
	runSeeds(t, tellsLives, func(c *chaos) {
		c.restore()
		c.operate()
	})
}

// restore puts the rows of an earlier time back, once in a while.
func (c *chaos) restore() {
	sites := c.world.Sites()
	s := sites[c.rng.IntN(len(sites))]
	c.world.After(c.between(10_000, 150_000), func() {
		backup := s.Rows().Copy()
		c.world.After(c.between(1000, 120_000), func() {
			if !s.Up() {
				return
			}
			card := s.Peer().Card("")
			c.world.Restore(s.Name, backup)
			c.world.Configure(s.Name, func(cfg *rules.Config) { cfg.Witness = card.Life() })
			c.world.After(c.between(1, 30_000), func() { _ = c.world.Restart(s.Name) }) // a failure is among the world's problems
		})
	})
}

// TestChaosRestoredWhole does the same with the local queue of that time, and the witness file:
// only partners can know, so all of them are up and have seen a later state.
func TestChaosRestoredWhole(t *testing.T) {
	t.Parallel()
	tellsLives := func(i uint64) uint64 { return 2*i + 4_000_000 }
	runSeeds(t, tellsLives, (*chaos).restoreWhole)
}

// restoreWhole rolls a site back, of which its partners are heard in time.
func (c *chaos) restoreWhole() {
	c.nemesis.Loss, c.nemesis.Slow, c.nemesis.CrashEach, c.nemesis.CutEach = 0, 0, 0, 0
	c.rollBack()
	c.operate()
}

// rollBack puts a whole state directory of an earlier time back.
func (c *chaos) rollBack() {
	sites := c.world.Sites()
	s := sites[c.rng.IntN(len(sites))]
	c.world.After(c.between(10_000, 120_000), func() {
		then, was := s.Directory(), s.Rows().Life().Generation
		if c.rng.IntN(2) == 0 {
			c.world.After(c.between(1, 900), func() { then = then.SpoolOf(s) })
		}
		var put func()
		put = func() {
			if c.seen(s) <= was {
				c.world.After(protocol.Second, put)
				return
			}
			c.world.RollBack(s.Name, then)
			c.world.After(c.between(1, 30_000), func() { _ = c.world.Restart(s.Name) }) // a failure is among the world's problems
		}
		c.world.After(c.between(1000, 120_000), put)
	})
}

// seen is the generation of a site that all partners have seen.
func (c *chaos) seen(of *peertest.Site) uint64 {
	least := of.Rows().Life().Generation
	for _, s := range c.world.Sites() {
		if s != of {
			row, _ := s.Rows().Rows[row.PartnerTable][string(of.Name)].(row.Partner)
			least = min(least, row.Life.Generation)
		}
	}
	return least
}

// operate has an operator look every half minute.
func (c *chaos) operate() {
	for _, s := range c.world.Sites() {
		if s.Up() {
			c.world.Ask(s.Name, func(asked event.AskID) event.Event {
				return event.Recover{Asked: asked, Cancel: true, User: "root", Admin: true}
			})
			for _, job := range s.Rows().Jobs() {
				if job.OperatorReason != "" {
					c.world.Cancel(s.Name, job.Spec.Job)
				}
			}
		}
	}
	c.world.After(30*protocol.Second, c.operate)
}

// TestChaosPartners lets the sites of random grids with a nemesis be given other partners now and
// then, while they run: some leave with jobs under way, come back, or have another key. In the end
// all are partners again, and all jobs must end.
func TestChaosPartners(t *testing.T) {
	t.Parallel()
	runSeeds(t, func(i uint64) uint64 { return i + 6_000_000 }, (*chaos).changePartners)
}

// changePartners gives sites other partners now and then, and all of them in the end.
func (c *chaos) changePartners() {
	whole := map[protocol.SiteName][]rules.Partner{}
	for _, s := range c.world.Sites() {
		c.world.Configure(s.Name, func(cfg *rules.Config) { whole[s.Name] = cfg.Partners })
	}
	for range 1 + c.rng.IntN(12) {
		c.world.After(c.between(0, int64(c.span)-1), func() { c.setPartners(whole) })
	}
	c.world.After(c.span, func() {
		for _, s := range c.world.Sites() {
			c.world.SetPartners(s.Name, func(cfg *rules.Config) { cfg.Partners = whole[s.Name] })
		}
	})
}

// setPartners gives a site some of all its partners.
func (c *chaos) setPartners(whole map[protocol.SiteName][]rules.Partner) {
	sites := c.world.Sites()
	s := sites[c.rng.IntN(len(sites))]
	var some []rules.Partner
	for _, one := range whole[s.Name] {
		if c.rng.IntN(3) == 0 {
			continue
		}
		if c.rng.IntN(4) == 0 {
			one.PublicKey = peertest.PublicKey(one.Site, protocol.SiteNumber(100+c.rng.IntN(100)))
		}
		some = append(some, one)
	}
	c.world.SetPartners(s.Name, func(cfg *rules.Config) { cfg.Partners = some })
}
