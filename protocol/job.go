package protocol

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
)

// JobID is a job's number on the grid: site number × 10¹² + sequence. It fits in
// 53 bits, so that any tool that parses "Submitted batch job <digits>" holds it
// exactly.
type JobID uint64

// SeqsPerSite is how many job ids a site can give out.
const SeqsPerSite = 1_000_000_000_000

// NewJobID joins the origin's number and a sequence number.
func NewJobID(origin SiteNumber, seq uint64) JobID {
	return JobID(uint64(origin)*SeqsPerSite + seq%SeqsPerSite)
}

// ParseJobID reads a decimal job id.
func ParseJobID(s string) (JobID, error) {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("job id %q is not a number; ids look like %d", s, NewJobID(1, 42))
	}
	id := JobID(n)
	if id.Origin().Validate() != nil {
		return 0, fmt.Errorf("job id %s names no site; ids begin with the number of one, as %d with 1", s, NewJobID(1, 42))
	}
	return id, nil
}

// Origin is the number of the site where the job was submitted.
func (id JobID) Origin() SiteNumber {
	n := uint64(id) / SeqsPerSite
	if n > uint64(MaxSiteNumber) {
		return 0
	}
	return SiteNumber(n)
}

// Seq is the job's sequence number at its origin.
func (id JobID) Seq() uint64 { return uint64(id) % SeqsPerSite }

func (id JobID) String() string { return strconv.FormatUint(uint64(id), 10) }

// Epoch numbers the owners of one job. It rises with each offer and each commit
// at the origin's own site and is never reused.
type Epoch uint32

// Tag identifies one placement of one job, in messages, directories and the
// names of local jobs.
type Tag struct {
	Job   JobID
	Epoch Epoch
}

// String prints "job:epoch".
func (t Tag) String() string { return fmt.Sprintf("%d:%d", t.Job, t.Epoch) }

// ParseTag reads what [Tag.String] prints.
func ParseTag(s string) (Tag, error) {
	job, epoch, ok := strings.Cut(s, ":")
	if !ok {
		return Tag{}, fmt.Errorf("tag %q is not job:epoch", s)
	}
	id, err := ParseJobID(job)
	if err != nil {
		return Tag{}, fmt.Errorf("tag %q: %w", s, err)
	}
	e, err := strconv.ParseUint(epoch, 10, 32)
	if err != nil {
		return Tag{}, fmt.Errorf("tag %q: the epoch is not a number below 2³²", s)
	}
	return Tag{Job: id, Epoch: Epoch(e)}, nil
}

// Request is what a scheduler must know of a job to plan it.
type Request struct {
	Job        JobID    `json:"job,omitempty"`
	CPUs       int      `json:"cpus"`                  // in all
	Nodes      int      `json:"nodes,omitempty"`       // at least; 0: any
	MemoryMB   int64    `json:"memory_mb,omitempty"`   // per node; 0: any
	WallTime   Duration `json:"wall_time_ms"`          // the limit, after which the job is ended
	MinTime    Duration `json:"min_time_ms,omitempty"` // the limit may be lowered to this if the job then starts sooner; 0: it may not
	Power      int      `json:"power_ppm,omitempty"`   // that the job draws, in parts per million of what a site states; 0: not known
	PowerClass uint64   `json:"power_class,omitempty"` // equal for jobs that are expected to draw similar power, see [PowerClassOf]; 0: not known
	Layout     Layout   `json:"layout,omitzero"`       // of the CPUs

	Resources []Resource `json:"resources,omitempty"` // beside CPUs and memory, sorted
	Features  string     `json:"features,omitempty"`  // that its nodes must have, see [ParseFeatures]; empty: none
	Exclusive bool       `json:"exclusive,omitempty"` // no other job runs on its nodes, and it has all their CPUs

	// Priority is that of the job in the local queue, as the peer of the site states it to its local scheduler: the
	// higher, the sooner. It does not leave the site. 0: not stated.
	Priority int64 `json:"priority,omitempty"`
}

// Equal says whether two requests are the same in everything.
func (r *Request) Equal(other Request) bool {
	return r.Job == other.Job && r.CPUs == other.CPUs && r.Nodes == other.Nodes && r.MemoryMB == other.MemoryMB &&
		r.WallTime == other.WallTime && r.MinTime == other.MinTime && r.Power == other.Power && r.PowerClass == other.PowerClass && r.Layout == other.Layout &&
		r.Features == other.Features && r.Priority == other.Priority && r.Exclusive == other.Exclusive && slices.Equal(r.Resources, other.Resources)
}

// LeastTime is the shortest limit with which the job may start.
func (r *Request) LeastTime() Duration { return cmp.Or(r.MinTime, r.WallTime) }

// TotalMemoryMB is the memory that the job asks for on the fewest nodes that it takes; of more than [MaxMemory] it is one more than that.
func (r *Request) TotalMemoryMB() int64 {
	nodes := int64(max(1, r.LeastNodes()))
	if r.MemoryMB > MaxMemory/nodes {
		return MaxMemory + 1
	}
	return r.MemoryMB * nodes
}

// CheckRequest says what is wrong with the request, if anything, wherever it is submitted.
func (r *Request) CheckRequest() error {
	switch {
	case r.CPUs < 1:
		return fmt.Errorf("the job asks for %d CPUs; ask for 1 or more", r.CPUs)
	case r.WallTime < 1:
		return fmt.Errorf("the job's time limit is %s; give a positive one", r.WallTime.Text())
	case r.MinTime < 0 || r.MinTime > r.WallTime:
		return fmt.Errorf("the least time limit that the job takes is %s; give one between 0 and its time limit, %s", r.MinTime.Text(), r.WallTime.Text())
	case r.WallTime > MaxWallTime:
		return fmt.Errorf("the job's time limit is %s; give one of at most %s", r.WallTime.Text(), MaxWallTime.Text())
	case r.Nodes < 0 || r.MemoryMB < 0:
		return fmt.Errorf("the job asks for %d nodes and %d MB; neither may be negative", r.Nodes, r.MemoryMB)
	case r.TotalMemoryMB() > MaxMemory:
		return fmt.Errorf("the job asks for %d MB on each of %d nodes; ask for at most %d MB together", r.MemoryMB, max(1, r.LeastNodes()), MaxMemory)
	}
	if err := r.CheckLayout(); err != nil {
		return fmt.Errorf("the job %w", err)
	}
	return r.CheckExtras()
}

// PowerClassOf returns a hash of the site, the user and the job name. Jobs with equal values are
// expected to draw similar power; the hash does not reveal the names.
func PowerClassOf(site SiteName, user, name string) uint64 {
	h := fnv.New64a()
	for _, word := range []string{string(site), user, name} {
		_, _ = h.Write([]byte(word)) // never fails
		_, _ = h.Write([]byte{0})
	}
	return max(1, h.Sum64())
}

// Spec is a job without what it runs.
type Spec struct {
	Request
	Association

	Name      string     `json:"name,omitempty"`
	User      string     `json:"user,omitempty"`           // who submitted it, at the origin
	Sites     []SiteName `json:"sites,omitempty"`          // where it may run; empty: anywhere
	Requeue   bool       `json:"requeue,omitempty"`        // rerun-ok: may be granted elsewhere when its site is lost
	Submitted Instant    `json:"submitted_ms,omitempty"`   // by the origin's clock
	MHz       int        `json:"mhz,omitempty"`            // speed of the CPUs that the wall time is meant for; 0: not stated
	Mflops    int        `json:"mflops,omitempty"`         // the same in Mflop/s; 0: not stated
	Data      int64      `json:"data_bytes,omitempty"`     // that must travel to a site that is not the origin
	DataOut   int64      `json:"data_out_bytes,omitempty"` // that must travel back from it
	Comment   string     `json:"comment,omitempty"`        // of the user's, for people
	Container string     `json:"container,omitempty"`      // image in which the script runs, as the site's container command takes it; empty: none
	StageIn   int64      `json:"stage_in_bytes,omitempty"` // size of the archive of files that go with it to a site that is not the origin; 0: none do
	StageOut  bool       `json:"stage_out,omitempty"`      // files of its working directory come back from there
	InPlace   bool       `json:"in_place,omitempty"`       // it runs in its own working directory, which its site and its origin share: nothing travels

	Traceparent Traceparent `json:"traceparent,omitempty"` // below which its spans are; empty: they begin a trace

	Nice     int64 `json:"nice,omitempty"`     // what is taken off its priority; below 0 only of jobs that an administrator favors
	Restarts int   `json:"restarts,omitempty"` // how often its origin has heard of it that it ran, and had it run again

	// What the origin predicts for the run on the machine that this is sent to. Another site
	// may get other numbers.
	PredictedRunTime Duration `json:"predicted_run_ms,omitempty"`   // run time; 0: not known, the wall time counts
	Intensity        int      `json:"intensity_ppm,omitempty"`      // r_a/R∞: share of the peak that its CPUs reach while they compute, in parts per million; 0: not known
	Computing        int      `json:"computing_ppm,omitempty"`      // share of the run time in which they compute, in parts per million; 0: not known
	MeasuredPower    int      `json:"measured_power_ppm,omitempty"` // power of its CPUs as earlier runs were measured, as [Request.Power]; 0: not known
}

// Stages says whether files travel with the job.
func (s *Spec) Stages() bool { return s.StageIn > 0 || s.StageOut }

// Travel is what of a job travels between its origin and the site that runs it.
type Travel struct {
	Data     int64 `json:"data_bytes,omitempty"`
	DataOut  int64 `json:"data_out_bytes,omitempty"`
	StageIn  int64 `json:"stage_in_bytes,omitempty"`
	StageOut bool  `json:"stage_out,omitempty"`
}

// StayInPlace makes the job one that runs in its own working directory at another site, so that nothing of it travels, and
// returns what would.
func (s *Spec) StayInPlace() Travel {
	spared := Travel{s.Data, s.DataOut, s.StageIn, s.StageOut}
	s.Data, s.DataOut, s.StageIn, s.StageOut, s.InPlace = 0, 0, 0, false, true
	return spared
}

// LeavePlace undoes [Spec.StayInPlace].
func (s *Spec) LeavePlace(spared Travel) {
	s.Data, s.DataOut, s.StageIn, s.StageOut, s.InPlace = spared.Data, spared.DataOut, spared.StageIn, spared.StageOut, false
}

// Described is the job as its user may describe it: without what peers say of it.
func (s *Spec) Described() Spec {
	d := *s
	d.Job, d.User, d.Submitted, d.PowerClass, d.MHz, d.Mflops = 0, "", 0, 0, 0, 0
	d.PredictedRunTime, d.Intensity, d.Computing, d.MeasuredPower = 0, 0, 0, 0
	d.Priority = 0
	d.StageIn, d.StageOut, d.InPlace = 0, false, false // as what the job runs says, and where
	d.Restarts = 0
	return d
}

// Asked is the job as sites are asked for quotes of it: without what its user has written for people,
// without its image, which only says whether a site is asked at all, and without what it went through and its trace.
func (s *Spec) Asked() Spec {
	a := *s
	a.Name, a.Comment, a.Container, a.Restarts, a.Traceparent = "", "", "", 0, ""
	return a
}

// MaxComment is the longest comment, in bytes.
const MaxComment = 1024

// CheckComment says what is wrong with a job's comment, if anything. It may be empty.
func CheckComment(s string) error { return checkLabel("the job's comment", s, MaxComment) }

// CheckContainer says what is wrong with the image of a job's container, if anything, wherever it comes
// from. It becomes an argument of a command, which must not take it for an option.
func CheckContainer(image string) error {
	err := CheckText(image)
	switch {
	case image == "":
		return nil
	case len(image) > MaxPath:
		return wrongField("container", "has %d bytes, at most %d are allowed", len(image), MaxPath)
	case strings.HasPrefix(image, "-"):
		return wrongField("container", "%.80q begins with a hyphen, as an option does", image)
	case err != nil:
		return wrongField("container", "%.80q: %w", image, err)
	}
	return nil
}

// ForgetPrediction takes back what the origin expected of the run on a machine.
func (s *Spec) ForgetPrediction() {
	s.PredictedRunTime, s.Intensity, s.Computing, s.MeasuredPower = 0, 0, 0, 0
}

// MaxNice is the most that is taken off a priority, or given: as in Slurm.
const MaxNice = 1<<31 - 3

// CheckNice says what is wrong with what is to be taken off a job's priority, if anything.
func CheckNice(nice int64) error {
	if nice < -MaxNice || nice > MaxNice {
		return wrongField("nice", "is %d; give %d to %d", nice, -MaxNice, MaxNice)
	}
	return nil
}

// MaxPower is the most that [Request.Power] may be: a hundred times what a site states.
const MaxPower = 100 * PPM

// Check says what is wrong with the job, if anything, wherever it is submitted.
func (s *Spec) Check() error {
	return cmp.Or(
		s.CheckRequest(),
		s.checkNumbers(),
		checkLabel("the job's name", s.Name, MaxJobName),
		s.checkSites(),
		s.CheckAssociation(),
		CheckComment(s.Comment),
		CheckNice(s.Nice),
		CheckContainer(s.Container),
		s.Traceparent.Check(),
	)
}

func (s *Spec) checkNumbers() error {
	switch {
	case s.MHz < 0 || s.Mflops < 0:
		return fmt.Errorf("the job is meant for CPUs of %d MHz or %d Mflop/s; give a positive speed, or 0", s.MHz, s.Mflops)
	case s.Power < 0 || s.Power > MaxPower:
		return fmt.Errorf("the power is %d parts per million of the default; use 1 to %d, or 0 for the default", s.Power, MaxPower)
	case s.Restarts < 0:
		return fmt.Errorf("the job was run again %d times; give a positive number, or 0", s.Restarts)
	case s.StageIn < 0:
		return fmt.Errorf("the files of the job have %d bytes; give a positive number, or 0", s.StageIn)
	case s.InPlace && (s.Stages() || s.Data != 0 || s.DataOut != 0):
		return errors.New("the job runs where its files are, and yet some travel")
	case s.Data < 0 || s.DataOut < 0:
		return fmt.Errorf("the job has %d bytes of data and %d of results; give positive numbers, or 0", s.Data, s.DataOut)
	}
	return nil
}

func (s *Spec) checkSites() error {
	if len(s.Sites) > MaxJobSites {
		return fmt.Errorf("the job names %d sites; name at most %d", len(s.Sites), MaxJobSites)
	}
	return nil
}

// ScaledRequest is the request as it is on a machine: its wall time scales with the ratio of
// the speeds, as [SS 3] and [MC 3.1] assume: of those in Mflop/s where both are stated,
// else of those in MHz. Where one is not stated they count as equal.
func (s *Spec) ScaledRequest(c *Capacity) Request {
	r := s.Request
	r.Priority = 0 // the site that runs it states its own
	r.WallTime = c.Rescale(r.WallTime, s.MHz, s.Mflops)
	if r.MinTime > 0 {
		r.MinTime = min(c.Rescale(r.MinTime, s.MHz, s.Mflops), r.WallTime)
	}
	return r
}

// Allows says whether the submitter lets the job run at the site.
func (s *Spec) Allows(site SiteName) bool {
	return len(s.Sites) == 0 || slices.Contains(s.Sites, site)
}

// State is a job's state as shown outside.
type State uint8

// The job states. The zero State is none of them.
const (
	Pending State = iota + 1
	Running
	Completed
	Failed
	Cancelled
	Timeout
	NodeFail
)

// States lists every job state in order.
func States() []State {
	return []State{Pending, Running, Completed, Failed, Cancelled, Timeout, NodeFail}
}

// Terminal says whether the state is a last one.
func (s State) Terminal() bool { return s >= Completed && s <= NodeFail }

func (s State) String() string {
	switch s {
	case Pending:
		return "PENDING"
	case Running:
		return "RUNNING"
	case Completed:
		return "COMPLETED"
	case Failed:
		return "FAILED"
	case Cancelled:
		return "CANCELLED"
	case Timeout:
		return "TIMEOUT"
	case NodeFail:
		return "NODE_FAIL"
	}
	return fmt.Sprintf("STATE(%d)", uint8(s))
}

// ParseState reads what [State.String] prints.
func ParseState(s string) (State, error) {
	for _, state := range States() {
		if state.String() == s {
			return state, nil
		}
	}
	return 0, fmt.Errorf("job state %q is unknown", s)
}

// MarshalText prints the state's name.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the state's name.
func (s *State) UnmarshalText(text []byte) (err error) {
	*s, err = ParseState(string(text))
	return err
}

// Stream names one of the files of a job that travel: its output, and the archives of [Staging].
type Stream uint8

// The streams.
const (
	Stdout Stream = iota + 1
	Stderr
	StageOutArchive // the files that come back from the job's working directory
	StageInArchive  // the files that its origin sends with it
)

// Streams lists every stream in order.
func Streams() []Stream { return []Stream{Stdout, Stderr, StageOutArchive, StageInArchive} }

func (s Stream) String() string {
	switch s {
	case Stdout:
		return "stdout"
	case Stderr:
		return "stderr"
	case StageOutArchive:
		return "stage-out"
	case StageInArchive:
		return "stage-in"
	}
	return fmt.Sprintf("stream(%d)", uint8(s))
}

// File describes an output file of a finished job.
type File struct {
	Stream Stream   `json:"stream"`
	Size   int64    `json:"size"` // in bytes
	SHA256 [32]byte `json:"sha256"`
}

// SignalOutOfMemory is the signal of the outcome of a job of which a process was ended for want of memory, whatever its
// script ended with. It is no signal of Linux: Slurm has this number for such jobs, and prints 0:125.
const SignalOutOfMemory = 125

// Outcome is how a job ended.
type Outcome struct {
	State    State    `json:"state"`               // a terminal one
	ExitCode int      `json:"exit_code,omitempty"` // of the script; 0 when a signal ended it
	Signal   int      `json:"signal,omitempty"`    // 0: none; [SignalOutOfMemory]: there was no memory for it
	Reason   string   `json:"reason,omitempty"`
	Waited   Duration `json:"waited_ms"` // from the commit to the local queue to the start
	Ran      Duration `json:"ran_ms"`
	Files    []File   `json:"files,omitempty"` // what must travel to the origin; none for a job that ran there
	Usage    Usage    `json:"usage,omitzero"`
	Bill     *Bill    `json:"bill,omitempty"` // of the run; nil: it has not been made, or the site charges nothing
}

// StageOutBytes is the size of the archive of files that come back, if there is one among the files of a job.
func StageOutBytes(files []File) int64 {
	for i := range files {
		if files[i].Stream == StageOutArchive {
			return files[i].Size
		}
	}
	return 0
}

// ErrOutputGone says that a site does not have a job's output any more, and will not have it
// again.
var ErrOutputGone = errors.New("the output is not there any more")
