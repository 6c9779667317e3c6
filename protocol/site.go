package protocol

import (
	"encoding/base64"
	"fmt"
	"strings"
)

// SiteName names a site in configuration, messages and subjects: 1 to 32 lower
// case letters, digits and hyphens, beginning with a letter.
type SiteName string

// Validate says what is wrong with the name, if anything.
func (n SiteName) Validate() error {
	if n == "" || len(n) > 32 {
		return fmt.Errorf("site name %q has %d characters; use 1 to 32", string(n), len(n))
	}
	if n[0] < 'a' || n[0] > 'z' {
		return fmt.Errorf("site name %q must begin with a lower case letter", string(n))
	}
	if i := strings.IndexFunc(string(n), notInName); i >= 0 {
		return fmt.Errorf("site name %q has %q; use lower case letters, digits and hyphens", string(n), n[i])
	}
	return nil
}

func notInName(r rune) bool {
	return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-'
}

// SiteNumber is the site's part of its job ids: 1 to [MaxSiteNumber].
type SiteNumber uint16

// MaxSiteNumber is the largest site number, so that job ids stay below 2⁵³.
const MaxSiteNumber SiteNumber = 9000

// Validate says what is wrong with the number, if anything.
func (n SiteNumber) Validate() error {
	if n < 1 || n > MaxSiteNumber {
		return fmt.Errorf("site number %d is outside 1 to %d", n, MaxSiteNumber)
	}
	return nil
}

// Capacity is what a site's machine can ever offer one job.
type Capacity struct {
	CPUs        int      // of the whole machine
	Nodes       int      // of the whole machine
	NodeCPUs    int      `json:",omitzero"` // of the node with the most; 0: not stated
	MemoryMB    int64    // per node; 0: not stated
	WholeNode   bool     // a node runs one job at a time
	MaxWallTime Duration // the longest limit accepted; 0: none
	MHz         int      // speed of a CPU; 0: not stated
	Mflops      int      // the same in Mflop/s, as a benchmark measured it; 0: not stated
	Machine     Machine  // a CPU as the Γ model sees it

	Groups []NodeGroup `json:",omitempty"` // the nodes; none: nothing is stated of them but what stands above
	Shared []Resource  `json:",omitempty"` // of the whole site, on no node, sorted

	Exclusive  bool `json:",omitempty"` // a job can have nodes for itself; on a WholeNode machine each has
	Containers bool `json:",omitzero"`  // it runs jobs in containers
}

// Rescale is how long work lasts on the machine that takes d on CPUs of the given
// speeds.
func (c *Capacity) Rescale(d Duration, mhz, mflops int) Duration {
	if mflops > 0 && c.Mflops > 0 {
		return d.Rescale(mflops, c.Mflops)
	}
	return d.Rescale(mhz, c.MHz)
}

// CanRun says whether a job of this shape could ever run here.
func (c *Capacity) CanRun(r Request) bool {
	return r.CPUs <= c.CPUs && r.LeastNodes() <= c.Nodes && (c.NodeCPUs <= 0 || r.NodeCPUs() <= c.NodeCPUs) &&
		c.lacksMemory(&r) == "" && (c.MaxWallTime <= 0 || r.WallTime <= c.MaxWallTime) &&
		(!r.Exclusive || c.Exclusive || c.WholeNode) && c.lacks(&r) == ""
}

// Fits is [Capacity.CanRun] with the reason when it does not; empty when it does.
func (c *Capacity) Fits(r Request) (reason string) {
	switch {
	case c.CanRun(r):
	case r.CPUs > c.CPUs:
		return fmt.Sprintf("needs %d CPUs, the site has %d", r.CPUs, c.CPUs)
	case r.LeastNodes() > c.Nodes:
		return fmt.Sprintf("needs %d nodes, the site has %d", r.LeastNodes(), c.Nodes)
	case c.NodeCPUs > 0 && r.NodeCPUs() > c.NodeCPUs:
		return fmt.Sprintf("needs %d CPUs on one node, the largest has %d", r.NodeCPUs(), c.NodeCPUs)
	case c.lacksMemory(&r) != "":
		return c.lacksMemory(&r)
	case c.MaxWallTime > 0 && r.WallTime > c.MaxWallTime:
		return fmt.Sprintf("needs %s, the site's limit is %s", r.WallTime.Text(), c.MaxWallTime.Text())
	case r.Exclusive && !c.Exclusive && !c.WholeNode:
		return "needs nodes for itself, the site gives none"
	}
	return c.lacks(&r)
}

// lacksMemory says how much memory the job needs and the nodes do not have; empty: they have it.
func (c *Capacity) lacksMemory(r *Request) string {
	total := c.MemoryMB * int64(max(1, c.Nodes))
	switch node, all := r.NodeMemoryMB(), r.Layout.MemoryPerCPU*int64(r.CPUs); {
	case c.MemoryMB <= 0:
	case node > c.MemoryMB:
		return fmt.Sprintf("needs %d MB per node, the site has %d", node, c.MemoryMB)
	case all > total:
		return fmt.Sprintf("needs %d MB in all, the site has %d", all, total)
	}
	return ""
}

// ProtocolVersion is the version of the peer messages and sessions that this code
// speaks.
const ProtocolVersion = 8

// Card is a site card: what a site tells each partner about itself on
// connecting. It is signed by the site's key.
type Card struct {
	Site        SiteName
	Number      SiteNumber
	PublicKey   string  // nkey, "U…"
	FirstStart  Instant // when the site's store was made; settles clashes of names
	Incarnation uint64  // rises whenever the store is new or restored
	Software    string
	Protocol    int
	Capacity    Capacity
	Reserves    bool // it can hold room for a job from an instant on (capability "reserve")
	MaxJobs     int  // of the receiver that the sender has at once at most; 0: not stated
	MaxCPUs     int  // of these together at most; 0: any number, or not stated

	// What accounts, partitions and QOS of the receiver's jobs mean at the sender; nil: not stated.
	Associations *AssociationTable

	Shared []string // directories that the sender says it shares with the receiver, as [CheckSharedDir] takes them; sorted

	SeenSeq uint64 // highest job sequence number of the receiver that the sender has seen

	Boot       uint64  // of the sender's life; 0: not stated
	Begun      Instant // of that life
	Generation uint64  // of the sender's store
	Proof      Proof   // by the sender, of this life of its own; zero: none
	Stopped    bool    // the sender starts nothing until an operator decides: its store may be older, or a copy
	Seen       Life    // the latest life of the receiver that the sender durably knows; zero: none
}

// Life is what the card says of the sender's life.
func (c *Card) Life() Life {
	return Life{Incarnation: c.Incarnation, Boot: c.Boot, Begun: c.Begun, Generation: c.Generation, Proof: c.Proof}
}

// Life is one run of a peer on its store, and how far it has come.
type Life struct {
	Incarnation uint64  `json:"incarnation"`    // of the store; rises when it is new or an operator says that it goes on after a restore
	Boot        uint64  `json:"boot"`           // rises with each start on the store; 0: not stated
	Begun       Instant `json:"begun_ms"`       // by the site's clock; tells two lives with one boot apart
	Generation  uint64  `json:"generation"`     // rises with every durable change of the store
	Proof       Proof   `json:"proof,omitzero"` // that its own site has stated all this; zero: none
}

// Proof is what a site makes of a statement about its own life, so that a partner can show
// that it was made. Only what carries messages between sites makes and checks proofs.
type Proof [64]byte

// MarshalText writes the proof in base64.
func (p Proof) MarshalText() ([]byte, error) {
	return base64.StdEncoding.AppendEncode(nil, p[:]), nil
}

// UnmarshalText reads what [Proof.MarshalText] wrote; anything else is an error.
func (p *Proof) UnmarshalText(text []byte) error {
	data, err := base64.StdEncoding.DecodeString(string(text))
	if err != nil {
		return fmt.Errorf("a proof: %w", err)
	}
	if len(data) != len(p) {
		return fmt.Errorf("a proof has %d bytes, this one has %d", len(p), len(data))
	}
	*p = Proof(data)
	return nil
}

// Same says whether both are one run, however far each has come.
func (l Life) Same(other Life) bool {
	return l.Incarnation == other.Incarnation && l.Boot == other.Boot && l.Begun == other.Begun
}

// Follows says whether a store with the life l can have been in the life earlier before: what
// is known to have happened then is in it.
func (l Life) Follows(earlier Life) bool {
	switch {
	case earlier.Boot == 0 || l.Incarnation > earlier.Incarnation || l.Same(earlier):
		return true
	case l.Incarnation < earlier.Incarnation:
		return false
	}
	return l.Boot > earlier.Boot && l.Generation >= earlier.Generation
}

// String names the life for people.
func (l Life) String() string {
	return fmt.Sprintf("start %d of %s, change %d", l.Boot, l.Begun.Time().UTC().Format("2006-01-02 15:04:05Z"), l.Generation)
}

// PowerBudget is the power that the running jobs of a machine may draw together now. The zero
// PowerBudget means that no budget is active.
type PowerBudget struct {
	Active     bool
	Milliwatts int64 // while it is active. Zero lets no job run
}

// ActiveBudget is a budget of this power.
func ActiveBudget(milliwatts int64) PowerBudget {
	return PowerBudget{Active: true, Milliwatts: milliwatts}
}

// Load is how busy a machine is. Queued work is apart from [Load.RUS].
type Load struct {
	CPUs           int
	Busy           int   // CPUs that run jobs; on a whole-node machine all CPUs of the nodes taken
	QueuedJobs     int   // jobs in the local queue that have not started
	QueuedWork     int64 // CPU·ms that queued jobs ask for
	Benefit        int   // of local users from the grid, in parts per million: 2,000,000 halves their response time. Zero means not measured.
	PowerIdledCPUs int   // idle CPUs that a power budget keeps from working now
	Draw           int64 // milliwatts that the jobs which run are taken to draw; 0: not known
	Budget         PowerBudget
}

// RUS is the resource utilization status of [SS 2.1.1]: busy CPUs over CPUs, in
// parts per million. CPUs that may not work count as busy.
func (l Load) RUS() int {
	if l.CPUs <= 0 {
		return PPM
	}
	return int((int64(l.Busy) + int64(l.PowerIdledCPUs)) * PPM / int64(l.CPUs))
}

// Free is how many CPUs run nothing now and may.
func (l Load) Free() int { return max(0, l.CPUs-l.Busy-l.PowerIdledCPUs) }

// PPM is the whole in parts per million.
const PPM = 1_000_000

// Digest is a site's load as it advertises it in gossip.
type Digest struct {
	Site SiteName
	Seq  uint64 // rises with every digest of the site; older ones are dropped
	Load Load
}
