package slurm

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched/changefeed"
	"github.com/switchyard-hpc/switchyard/localsched/spool"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// SetPatience sets how long the adapter waits for launches and for the last words
// of jobs that Slurm has lost.
func SetPatience(c *Config, launch, lost time.Duration) {
	c.timeouts.launch, c.timeouts.lost = launch, lost
}

// SetAskPatience sets how long a quote waits for Slurm's own estimate.
func SetAskPatience(c *Config, ask time.Duration) { c.timeouts.ask = ask }

// SetAccountPatience sets how long the end of a job waits for the accounting.
func SetAccountPatience(c *Config, account time.Duration) { c.timeouts.account = account }

// SetGathering sets for how long cancellations are gathered.
func SetGathering(c *Config, gather time.Duration) { c.timeouts.gather = gather }

// FetchNode reads a node's exporter.
var FetchNode = fetchNode

// CarryOutCancels carries out the cancellations that have come.
func (s *Scheduler) CarryOutCancels(ctx context.Context) { s.cancelAll(ctx) }

// SetKilledPatience sets how long after a start of the controller Slurm may cancel jobs by itself.
func SetKilledPatience(c *Config, killed time.Duration) { c.timeouts.killed = killed }

// AfterKill reports whether a job that was submitted and cancelled at some times may have been
// cancelled by Slurm itself, whose controller was started at a time.
func AfterKill(submitted, cancelled, booted protocol.Instant) bool {
	s := &Scheduler{config: Config{}.withDefaults()}
	return s.afterKill(&entry{native: native{Submitted: submitted}, end: cancelled}, booted)
}

// NumberOfAnother reports whether a job has the number of another, which has it now or had it
// when it started.
func NumberOfAnother(id, now, started uint32) bool {
	j := &job{tag: protocol.Tag{Job: 1, Epoch: 1}}
	second := &job{tag: protocol.Tag{Job: 2, Epoch: 1}, claim: claim{id: started}}
	second.native.ID = now
	s := &Scheduler{jobs: map[protocol.Tag]*job{j.tag: j, second.tag: second}}
	return s.numberOfAnother(j, id)
}

// What the parsers read, as text, one thing on a line.

func ParseQueue(out, mark string) ([]string, error) {
	entries, err := parseQueue(out, mark)
	var lines []string
	for _, e := range entries {
		lines = append(lines, fmt.Sprintf("%d uid=%d %s %s reason=%q submit=%d start=%d end=%d limit=%v cpus=%d on=%d mb=%d priority=%d waits=%v over=%v placed=%v nodes=%q name=%q",
			e.ID, e.uid, e.partition, e.state, e.reason, e.Submitted, e.start, e.end, e.limit, e.cpus, e.nodeCount, e.memoryMB, e.priority, e.waits(), e.over(), e.placed, e.nodes, e.name))
	}
	return lines, err
}

func Spread(times []protocol.Instant, most int) []protocol.Instant { return spread(times, most) }

// ParseNodes is what all nodes are, and what some partitions have.
func ParseNodes(out string, partitions []string) (all, machine string, err error) {
	nodes, err := parseNodes(out)
	return fmt.Sprintf("%+v", nodes), fmt.Sprintf("%+v", machineOf(nodes, partitions, nil)), err
}

func ParsePartitions(out string) ([]string, error) {
	all, err := parsePartitions(out)
	var lines []string
	for _, p := range all {
		lines = append(lines, fmt.Sprintf("%+v", *p))
	}
	return lines, err
}

// GroupOf is a node with what sinfo prints of its features and resources; with none that cannot be
// read.
func GroupOf(features, resources string) protocol.NodeGroup {
	list, _ := parseResources(resources)
	return groupsOf([]*node{{features: parseFeatures(features), resources: list}})[0]
}

// ParseResources and ParseLicenses are in the words of --gres.
func ParseResources(out string) (string, error) {
	list, err := parseResources(out)
	return fmt.Sprint(list), err
}

func ParseLicenses(out string) (string, error) {
	list, err := parseLicenses(out)
	return fmt.Sprint(list), err
}

// AskedInQueue is what a job of the queue asks for, by its columns.
func AskedInQueue(node, job, task string, tasks int) []protocol.Resource {
	return askedInQueue([]string{node, job, task}, tasks)
}

// Extras are the options of sbatch for what a job asks for beside CPUs and memory, or why there
// are none.
func Extras(r protocol.Request) (args []string, reason string) { return extras(r), inexpressible(r) }

func ParseReservations(out string) ([]string, error) {
	all, err := parseReservations(out)
	var lines []string
	for _, r := range all {
		line := fmt.Sprintf("%s from %s to %s every %v: %v, %d cores %v", r.name, stamp(r.start), stamp(r.end), r.again, r.nodes, r.coreCount, r.cores)
		if r.maint {
			line += " for maintenance"
		}
		lines = append(lines, line)
	}
	return lines, err
}

// Swept reports whether reservations that nobody knows of have been looked for.
func (s *Scheduler) Swept() bool { return s.swept.Load() }

// SignalOption is what sbatch gets for the signal before a limit.
func SignalOption(s protocol.LimitSignal) []string { return signalOption(s) }

// ShapeFor is what sbatch gets for a job of an association that is put in partitions, with options of the configuration.
func ShapeFor(extra []string, r protocol.Request, partitions string, of protocol.Association) []string {
	s := &Scheduler{config: Config{Extra: extra}}
	return s.shapeFor(r, partitions, machine{}, of)
}

// WholeSecond and Ceil round up.
var (
	WholeSecond = wholeSecond
	Ceil        = ceil
)

// Choose is the partition for a request, or why none takes it.
func Choose(partitions, nodes string, names []string, r protocol.Request) (chosen, reason string, err error) {
	all, err := parsePartitions(partitions)
	if err != nil {
		return "", "", err
	}
	found, err := parseNodes(nodes)
	if err != nil {
		return "", "", err
	}
	p, reason := choose(all, r, machineOf(found, names, nil))
	if p == nil {
		return "", reason, nil
	}
	return p.name, "", nil
}

func ParseEnding(line string) (string, bool) {
	e, ok := parseEnding(line)
	return e.text(), ok
}

func ParseAccounted(out, name string) (lines []string) {
	for _, e := range parseAccounted(out, name) {
		lines = append(lines, e.text())
	}
	return lines
}

func (e *ending) text() string {
	return fmt.Sprintf("%d uid=%d %s submit=%d start=%d end=%d %d:%d", e.ID, e.uid, e.state, e.Submitted, e.start, e.end, e.code, e.signal)
}

var (
	ParseVersion   = parseVersion
	ParseConfig    = parseConfig
	ParseLimit     = parseLimit
	ParseTime      = parseTime
	ParseSubmitted = parseSubmitted
	ParseExit      = parseExit
	ParseMegabytes = parseMegabytes
	ExpandHosts    = expandHosts
	ParseStatus    = parseStatus
	ParseUsage     = parseUsage
	ParseUntold    = parseUnsent
	ParseTimes     = parseShellTimes
	SeenByWrapper  = seenByWrapper
	CheckExporter  = checkExporter
	WillStart      = willStart
	ParseName      = parseName
	NameOf         = nameOf
	KnownAs        = tagName
	Quote          = quote
	Minutes        = minutes
)

// ExporterOf is where a node is asked.
func ExporterOf(pattern, node string) string { return Config{NodeExporter: pattern}.exporter(node) }

// Refusal reports whether what sbatch said is a refusal, and in which words.
func Refusal(said string) (string, bool) {
	refused, ok := refusal(&commandError{command: "sbatch", code: 1, words: oneLine(said)})
	if !ok {
		return "", false
	}
	return refused.Reason, true
}

// ParseClaim is what a claim says.
func ParseClaim(text string) (by string, id uint32, started protocol.Instant) {
	c := parseClaim(text)
	return c.by, c.id, c.started
}

// Observed is what was observed, in a directory.
type Observed struct {
	dir string
	observed
}

// LoadObserved reads what was observed.
func LoadObserved(dir string, log *slog.Logger) *Observed {
	return &Observed{dir, loadObserved(dir, log)}
}

// Save writes down what was observed.
func (o *Observed) Save() error {
	s := &Scheduler{record: o.observed, config: Config{Dir: o.dir}}
	return s.saveObserved()
}

func guesses(waits map[string]protocol.Duration) estimates {
	guess := estimates{}
	for name, wait := range waits {
		guess[predictor(name)] = wait
	}
	return guess
}

// Add takes note of some jobs of a kind, and how long each has waited.
func (o *Observed) Add(times int, r protocol.Request, waits map[string]protocol.Duration, actual protocol.Duration) {
	for range times {
		o.add(kindOf(r), guesses(waits), actual)
	}
}

// Waits is what is quoted.
func (o *Observed) Waits(r protocol.Request, waits map[string]protocol.Duration) (low, middle, high protocol.Duration) {
	i := o.waits(kindOf(r), guesses(waits))
	return i.low, i.middle, i.high
}

// Remembered is what is known of a job that Slurm has refused, when it looks again at a
// queue that is the same: why, if the refusal still holds.
func Remembered(holds time.Duration) (reason string) {
	var a testOnlyAnswers
	queue := &snapshot{fingerprint: 7}
	a.put(queue, []string{"-n", "3"}, 0, "no such nodes", holds)
	_, reason, _ = a.get(&snapshot{fingerprint: 7}, []string{"-n", "3"})
	return reason
}

// Launch is the script that runs a job.
func Launch(dir string, record spool.Job) string { return launch(dir, record) }

// LastWords is what the text of an exit file says.
func LastWords(text string) (code, signal int, ended protocol.Instant, cpu protocol.Duration, ok bool) {
	last, ok := parseClaimExit(text)
	code, signal = last.status()
	return code, signal, last.ended, last.cpu, ok
}

// EndedItself reports whether a job's script came to its own end, by its exit file and Slurm's word
// and time for its end, if that may or may not be the word for a launch that was refused.
func EndedItself(text, state string, end protocol.Instant, refused bool) bool {
	last, _ := parseClaimExit(text)
	return (&Scheduler{}).endedItself(&job{}, entry{state: state, end: end}, last, func() bool { return refused })
}

// EndBySlurm is how the job of a directory ended that has started, by Slurm's words for its end.
func EndBySlurm(ctx context.Context, dir, state, reason string) spool.End {
	return (&Scheduler{}).outcome(ctx, &job{dir: dir}, entry{state: state, reason: reason})
}

// EndInLog is when a job started and ended by a line of the log, if it is about the one that was
// submitted at an instant, which Slurm has told or the peer alone knows.
func EndInLog(line string, submitted protocol.Instant, reported bool) (start, end protocol.Instant, ok bool) {
	e, _ := parseEnding(line)
	j := &job{name: e.name, submitted: submitted - 300}
	j.record.Account.UID = e.uid
	is := native{ID: e.ID}
	if reported {
		is.Submitted = submitted
	}
	h := history{ended: map[string][]ending{e.name: {e}}}
	found, ok, _ := h.find(context.Background(), j, is, nil)
	return found.start, found.end, ok
}

// LayoutArgs are the options of sbatch for a job's CPUs on a machine of nodes with so many.
func LayoutArgs(r protocol.Request, nodeCPUs int) []string {
	return layout(r, machine{nodes: 4, cpus: 4 * nodeCPUs, nodeCPUs: nodeCPUs})
}

// TakesJobs reports whether a node in such a state takes jobs.
func TakesJobs(state string) bool { return (&node{state: state}).takesJobs() }

// Need is what a job needs of a plan's nodes.
type Need struct {
	Nodes              []int // that it may have
	CPUs, On, NodeCPUs int
	Task               int // CPUs
	Exact, Whole       bool
	NodeMB, CPUMB      int64
	Devices            [2]int32 // on each node, and for each task
	Limit              protocol.Duration
}

// Plan is a plan.
type Plan struct {
	plan *plan
	sets map[string]*nodeSet
}

// NewPlan is a plan from the instant 0 on of nodes with so many CPUs, MB and devices.
func NewPlan(nodes [][3]int) *Plan {
	steps := make([]step, len(nodes))
	for i, n := range nodes {
		steps[i] = step{cpus: n[0], memoryMB: int64(n[1]), resources: amounts{1: int32(n[2])}}
	}
	return &Plan{plan: newPlan(0, steps), sets: map[string]*nodeSet{}}
}

func (p *Plan) demand(n Need) demand {
	key := fmt.Sprint(n.Nodes)
	if p.sets[key] == nil {
		p.sets[key] = &nodeSet{nodes: n.Nodes}
	}
	d := demand{
		among: p.sets[key], cpus: n.CPUs, nodes: n.On, whole: n.Whole, nodeCPUs: n.NodeCPUs, taskCPUs: n.Task,
		nodeMB: n.NodeMB, cpuMB: n.CPUMB, limit: n.Limit,
	}
	if n.Exact {
		d.maxNodes = n.On
	}
	if n.Devices != [2]int32{} {
		d.needs = []need{{kinds: [maxKinds]bool{1: true}, node: n.Devices[0], share: n.Devices[0], perTask: n.Devices[1]}}
	}
	return d
}

// Add adds a job and says when it starts; -1: never.
func (p *Plan) Add(n Need, from protocol.Instant) protocol.Instant {
	return never(p.plan.add([]demand{p.demand(n)}, from))
}

// Starts says when a job would start.
func (p *Plan) Starts(n Need, from protocol.Instant) protocol.Instant {
	d := p.demand(n)
	return never(p.plan.starts(&d, from))
}

func never(at protocol.Instant) protocol.Instant {
	if at == endOfTime {
		return -1
	}
	return at
}

// Reserve takes a node from one instant until another.
func (p *Plan) Reserve(node int, start, end protocol.Instant) {
	p.plan.nodes[node].take(start, end, p.plan.nodes[node].step)
}

// Clone is a plan like this one.
func (p *Plan) Clone() *Plan { return &Plan{plan: p.plan.clone(), sets: p.sets} }

// Free is what a node has free at an instant.
func (p *Plan) Free(node int, at protocol.Instant) (cpus int, mb int64, devices int) {
	s := &p.plan.nodes[node]
	free := s.steps[s.index(at)]
	return free.cpus, free.memoryMB, int(free.resources[1])
}

// Times are the instants at which something changes.
func (p *Plan) Times() (times []protocol.Instant) {
	for _, n := range p.plan.nodes {
		for _, s := range n.steps {
			times = append(times, s.at)
		}
	}
	slices.Sort(times)
	return slices.Compact(times)
}

// Texts are what the commands have printed.
type Texts struct {
	Queue, Nodes, Partitions, Reservations string
	Config                                 map[string]string
}

// Look is a look at a cluster.
type Look struct{ seen *snapshot }

// NewLook reads a look of which the lines of the queue have the mark MARK.
func NewLook(at protocol.Instant, names []string, texts Texts) (*Look, error) {
	c := &cluster{at: at, memory: memoryOf(texts.Config), linear: texts.Config["SelectType"] == "select/linear"}
	var err error
	if c.partitions, err = parsePartitions(texts.Partitions); err != nil {
		return nil, err
	}
	seen := &snapshot{at: at.Time(), all: c.partitions}
	if seen.partitions, err = ours(c.partitions, names); err != nil {
		return nil, err
	}
	if c.queue, err = parseQueue(texts.Queue, "MARK"); err != nil {
		return nil, err
	}
	if c.nodes, err = parseNodes(texts.Nodes); err != nil {
		return nil, err
	}
	if c.reservations, err = parseReservations(texts.Reservations); err != nil {
		return nil, err
	}
	var runs runTimes
	runs.addEnded(c.queue)
	return &Look{seen}, seen.take(c, "north", &runs)
}

// Start is when a job would start, in which partition, or why it never would.
func (l *Look) Start(r protocol.Request) (at protocol.Instant, partition, declined string) {
	w := l.seen.admitted(r, "")
	if len(w.partitions) == 0 {
		_, reason := choose(l.seen.partitions, r, l.seen.machine)
		return 0, "", reason
	}
	found := l.seen.plan.starts(l.seen.plan.cluster.at, nil, []admittedJob{w})[0]
	return found.start, found.partition.name, found.declined
}

// PlannedStarts are those of the jobs that wait, by their numbers.
func (l *Look) PlannedStarts() map[uint32]protocol.Instant {
	planned := map[uint32]protocol.Instant{}
	for i := range l.seen.plan.cluster.queue {
		if e := &l.seen.plan.cluster.queue[i]; e.waits() {
			if start, known := l.seen.plannedStart(e); known {
				planned[e.ID] = start
			}
		}
	}
	return planned
}

// Capacity is what the site states.
func (l *Look) Capacity() protocol.Capacity { return l.seen.capacity() }

// Later is when a job would start that comes a moment after the look, as all do.
func (l *Look) Later(r protocol.Request) protocol.Instant {
	return l.seen.plan.starts(l.seen.plan.cluster.at+1, nil, []admittedJob{l.seen.admitted(r, "")})[0].start
}

// Likely is when a job would start if others run as long as is likely.
func (l *Look) Likely(r protocol.Request) protocol.Instant {
	return l.seen.predicted.starts(l.seen.predicted.cluster.at, nil, []admittedJob{l.seen.admitted(r, "")})[0].start
}

// Forget has the next question plan anew.
func (l *Look) Forget() { l.seen.plan.plan = nil }

// Look has the scheduler look at Slurm as it is now.
func (s *Scheduler) Look(ctx context.Context) error {
	_, err := s.lookSince(ctx, time.Now())
	return err
}

// Unsee has the scheduler forget what it has seen.
func (s *Scheduler) Unsee() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.snapshot = nil
}

// AfterFailures is the reason of a job that Slurm has wait, after it has ended the job so often before it started, and
// what is said of all such jobs.
func AfterFailures(times int, how, reason string) (of, all string) {
	s := &Scheduler{config: Config{Dir: "/spool"}, jobs: map[protocol.Tag]*job{}, changes: changefeed.New(1)}
	j := newJob(protocol.Tag{Job: 1, Epoch: 1}, "name", "/spool/jobs/1")
	j.state, j.failed, j.native.Past = queued, how, make([]native, times)
	s.jobs[j.tag] = j
	s.setPending(j, reason)
	return j.reason, s.Unlaunched()
}

// AdviceOn are the log events about the settings that scontrol show config prints.
func AdviceOn(config string) (events []string) {
	f := siteFacts{config: parseConfig(config)}
	f.findJobComp(Config{})
	for _, one := range f.advice() {
		events = append(events, one.event)
	}
	return events
}
