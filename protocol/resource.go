package protocol

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// GPU is the name of the resource that sbatch's options --gpus and the like ask for.
const GPU = "gpu"

// License is the name of the resources of a whole site that sbatch's option --licenses asks for; the
// type of each is the name of the license.
const License = "license"

// Resource is a number of things of one kind beside CPUs and memory that a job uses while it
// runs, or that a node or a site has: GPUs, network cards, whatever a site names.
type Resource struct {
	Name  string `json:"name"`
	Type  string `json:"type,omitempty"` // of a job: empty is any; of a node: empty is none
	Count int    `json:"count"`
	Per   Per    `json:"per,omitempty"` // what the count of a job is of; a node or a site states none
}

// Per is what a job's count of a resource is of.
type Per uint8

// What counts are of. The zero Per is none of them.
const (
	PerNode Per = iota + 1
	PerTask
	PerJob
)

// String is the word for it in JSON and messages.
func (p Per) String() string {
	switch p {
	case PerNode:
		return "node"
	case PerTask:
		return "task"
	case PerJob:
		return "job"
	}
	return fmt.Sprintf("per(%d)", uint8(p))
}

// MarshalText prints the word.
func (p Per) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads the word.
func (p *Per) UnmarshalText(text []byte) error {
	for _, one := range []Per{PerNode, PerTask, PerJob} {
		if one.String() == string(text) {
			*p = one
			return nil
		}
	}
	return fmt.Errorf(`%.40q is not "node", "task" or "job"`, text)
}

// Kind is the name and, if there is one, the type, as in "gpu:a100".
func (r Resource) Kind() string {
	if r.Type == "" {
		return r.Name
	}
	return r.Name + ":" + r.Type
}

// String is the kind and the count, as --gres has it: "gpu:a100:2".
func (r Resource) String() string { return r.Kind() + ":" + strconv.Itoa(r.Count) }

// Serves says whether what a node or a site has is of the kind that a job asks for.
func (r Resource) Serves(asked Resource) bool {
	return r.Name == asked.Name && (asked.Type == "" || r.Type == asked.Type)
}

// CompareResources orders resources by name, type and what they are counted by.
func CompareResources(a, b Resource) int {
	return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Type, b.Type), cmp.Compare(a.Per, b.Per))
}

// CountOf is how many resources of the kind that a job asks for are in a list of what a node or
// a site has.
func CountOf(has []Resource, asked Resource) int {
	n := 0
	for _, one := range has {
		if one.Serves(asked) {
			n += one.Count
		}
	}
	return n
}

// CheckResources says what is wrong with a list of resources, if anything: it is sorted, and has most entries at most.
// Those of jobs say what they are counted by, those of nodes and sites do not.
func CheckResources(list []Resource, field string, most int, ofJob bool) error {
	if len(list) > most {
		return wrongField(field, "has %d entries, at most %d are allowed", len(list), most)
	}
	for i, one := range list {
		err := one.check(ofJob)
		if err == nil && i > 0 && CompareResources(list[i-1], one) >= 0 {
			err = wrongField("name", "%s does not sort after %s", one.Kind(), list[i-1].Kind())
		}
		if err != nil {
			return &FieldError{fmt.Sprintf("%s[%d]", field, i), err}
		}
	}
	return nil
}

func (r Resource) check(ofJob bool) error {
	if err := checkWord("name", r.Name); err != nil {
		return err
	}
	if r.Type != "" {
		if err := checkWord("type", r.Type); err != nil {
			return err
		}
	}
	switch {
	case r.Count < 1 || r.Count > math.MaxInt32:
		return wrongField("count", "%d is outside 1 to %d", r.Count, math.MaxInt32)
	case ofJob && (r.Per < PerNode || r.Per > PerJob):
		return wrongField("per", "%d is unknown", r.Per)
	case !ofJob && r.Per != 0:
		return wrongField("per", "is for what a job asks for")
	}
	return nil
}

// checkWord checks the name of a resource, its type or a feature: a word that stands in
// sbatch's lists and expressions without quotes.
func checkWord(field, s string) error {
	switch {
	case s == "":
		return wrongField(field, "is missing")
	case len(s) > MaxName:
		return wrongField(field, "has %d bytes, at most %d are allowed", len(s), MaxName)
	}
	if i := strings.IndexFunc(s, notInWord); i >= 0 {
		r, _ := utf8.DecodeRuneInString(s[i:])
		return wrongField(field, "%+.80q has %+q; use letters, digits and _ . - + = / @", s, r)
	}
	return nil
}

// IsWord says whether a job can ask for a resource or a feature of this name.
func IsWord(s string) bool { return checkWord("", s) == nil }

func notInWord(r rune) bool {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
		return false
	}
	return !strings.ContainsRune("_.-+=/@", r)
}

// NodeGroup is a number of nodes of a site that are alike.
type NodeGroup struct {
	Nodes     int
	CPUs      int        // of each
	MemoryMB  int64      `json:",omitzero"`  // of each; 0: not stated
	Resources []Resource `json:",omitempty"` // of each, sorted
	Features  []string   `json:",omitempty"` // of each, sorted
}

// CheckGroups says what is wrong with the groups and the resources of the whole site, if
// anything.
func (c *Capacity) CheckGroups() error {
	if len(c.Groups) > MaxGroups {
		return wrongField("groups", "has %d entries, at most %d are allowed", len(c.Groups), MaxGroups)
	}
	for i := range c.Groups {
		if err := c.Groups[i].check(); err != nil {
			return &FieldError{fmt.Sprintf("groups[%d]", i), err}
		}
	}
	return CheckResources(c.Shared, "shared", MaxShared, false)
}

func (g *NodeGroup) check() error {
	switch {
	case g.Nodes < 1 || g.Nodes > math.MaxInt32:
		return wrongField("nodes", "%d is outside 1 to %d", g.Nodes, math.MaxInt32)
	case g.CPUs < 0 || g.CPUs > math.MaxInt32:
		return wrongField("cpus", "%d is outside 0 to %d", g.CPUs, math.MaxInt32)
	case g.MemoryMB < 0:
		return wrongField("memory_mb", "%d is negative", g.MemoryMB)
	case len(g.Features) > MaxFeatures:
		return wrongField("features", "has %d entries, at most %d are allowed", len(g.Features), MaxFeatures)
	}
	for i, name := range g.Features {
		err := checkWord("", name)
		if err == nil && i > 0 && g.Features[i-1] >= name {
			err = wrongField("", "%q does not sort after %q", name, g.Features[i-1])
		}
		if err != nil {
			return &FieldError{fmt.Sprintf("features[%d]", i), err}
		}
	}
	return CheckResources(g.Resources, "resources", MaxResources, false)
}

// Has says whether the nodes have a feature.
func (g *NodeGroup) Has(feature string) bool {
	_, found := slices.BinarySearch(g.Features, feature)
	return found
}

// Totals lists the resources of all nodes together and of the whole site, sorted.
// No count is above [math.MaxInt32].
func (c *Capacity) Totals() (list []Resource) {
	for i := range c.Groups {
		for _, one := range c.Groups[i].Resources {
			one.Count = int(min(int64(one.Count)*int64(c.Groups[i].Nodes), math.MaxInt32))
			list = append(list, one)
		}
	}
	list = append(list, c.Shared...)
	slices.SortFunc(list, CompareResources)
	sums := list[:0]
	for _, one := range list {
		if last := len(sums) - 1; last >= 0 && CompareResources(sums[last], one) == 0 {
			sums[last].Count = min(sums[last].Count, math.MaxInt32-one.Count) + one.Count
			continue
		}
		sums = append(sums, one)
	}
	return sums
}

// Features lists the features that any node of the site has, sorted.
func (c *Capacity) Features() (names []string) {
	for i := range c.Groups {
		names = append(names, c.Groups[i].Features...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// OnNode is how many of a resource one node must have at least if the job is to have any of its
// tasks there; 0: the job's count is of all its nodes together.
func (r *Request) OnNode(asked Resource) int {
	switch asked.Per {
	case PerNode:
		return asked.Count
	case PerTask:
		if tasks := r.NodeCPUs() / r.CPUsPerTask(); asked.Count <= math.MaxInt32/max(1, tasks) {
			return asked.Count * tasks
		}
		return math.MaxInt32
	case PerJob:
	}
	return 0
}

// NewLicense returns a number of licenses of one name, as a job asks for them.
func NewLicense(name string, count int) Resource {
	return Resource{Name: License, Type: name, Count: count, Per: PerJob}
}

// Licenses are those that the job uses while it runs.
func (r *Request) Licenses() (list []Resource) {
	for _, one := range r.Resources {
		if one.Name == License && one.Per == PerJob {
			list = append(list, one)
		}
	}
	return list
}

// ofSite says whether the job asks for nothing that its nodes must have.
func (r *Request) ofSite() bool {
	return r.Features == "" && !slices.ContainsFunc(r.Resources, func(one Resource) bool { return one.Per != PerJob })
}

// InAll is how many of a resource the job has at least on all its nodes together: on the fewest
// nodes that it may have.
func (r *Request) InAll(asked Resource) int {
	times := 1
	switch asked.Per {
	case PerNode:
		times = max(1, r.LeastNodes())
	case PerTask:
		times = r.Tasks()
	case PerJob:
	}
	return int(min(int64(asked.Count)*int64(times), math.MaxInt32))
}

// CheckExtras says what is wrong with the resources and features that the job asks for, if
// anything.
func (r *Request) CheckExtras() error {
	if err := CheckResources(r.Resources, "resources", MaxResources, true); err != nil {
		return err
	}
	if _, err := ParseFeatures(r.Features); err != nil {
		return &FieldError{"features", err}
	}
	return nil
}

// lacks is what of the resources and features that a job asks for the site never has, for
// people; empty: nothing. It holds necessary conditions: that nodes with all that is asked
// have room for all of the job. How the job would be packed on them is left to the scheduler.
func (c *Capacity) lacks(r *Request) string {
	if len(r.Resources) == 0 && r.Features == "" {
		return ""
	}
	for _, asked := range r.Resources {
		if has := c.mostOf(asked); has < r.InAll(asked) {
			return missing(asked, r.InAll(asked), has, "the site")
		}
	}
	features, err := ParseFeatures(r.Features)
	if err != nil {
		return err.Error()
	}
	for _, one := range features.Counted() {
		if nodes := c.nodesWith(one.Name); nodes < one.Count {
			return fmt.Sprintf("needs %d nodes with the feature %s, the site has %d", one.Count, one.Name, nodes)
		}
	}
	reason := ""
	for _, alternative := range features.Alternatives() {
		why := c.lacksTogether(r, alternative)
		if why == "" {
			return ""
		}
		reason = cmp.Or(reason, why)
	}
	return reason
}

// Eligible says of each group whether its nodes have all that each node of the job must have. Of
// several alternatives of features it looks at the first that the site could serve. The job must be one that
// [Capacity.CanRun].
func (c *Capacity) Eligible(r *Request) []bool {
	groups := make([]bool, len(c.Groups))
	features, err := ParseFeatures(r.Features)
	if err != nil {
		return groups
	}
	alternatives := features.Alternatives()
	for i, alternative := range alternatives {
		if i+1 < len(alternatives) && c.lacksTogether(r, alternative) != "" {
			continue
		}
		for i := range c.Groups {
			groups[i] = c.Groups[i].lacks(r, alternative) == ""
		}
		break
	}
	return groups
}

// lacksTogether looks at the nodes that have all that one node must have.
func (c *Capacity) lacksTogether(r *Request, features Constraint) string {
	var nodes, cpus int
	var reason string
	together, stated := make([]int, len(r.Resources)), true
	for i := range c.Groups {
		g := &c.Groups[i]
		if why := g.lacks(r, features); why != "" {
			reason = cmp.Or(reason, why)
			continue
		}
		nodes += g.Nodes
		cpus += g.Nodes * g.CPUs
		stated = stated && g.CPUs > 0
		for i, asked := range r.Resources {
			together[i] += g.Nodes * CountOf(g.Resources, asked)
		}
	}
	with := "such nodes"
	switch {
	case len(c.Groups) == 0 && r.ofSite(): // the whole site has it, which lacks has found
		return ""
	case nodes == 0 && len(c.Groups) == 0:
		return "needs " + r.extras() + "; the site states none"
	case nodes == 0:
		return reason
	case nodes < max(1, r.LeastNodes()):
		return fmt.Sprintf("needs %d nodes with %s, the site has %d", r.LeastNodes(), r.extras(), nodes)
	case stated && cpus < r.CPUs:
		return fmt.Sprintf("needs %d CPUs on nodes with %s, the site has %d", r.CPUs, r.extras(), cpus)
	}
	for i, asked := range r.Resources {
		if has := together[i] + CountOf(c.Shared, asked); has < r.InAll(asked) {
			return missing(asked, r.InAll(asked), has, with)
		}
	}
	return ""
}

// lacks is what a node of the group has not, of what each node of the job must have.
func (g *NodeGroup) lacks(r *Request, features Constraint) string {
	for _, asked := range r.Resources {
		if need, has := r.OnNode(asked), CountOf(g.Resources, asked); has < need {
			return missing(asked, need, has, "a node")
		}
	}
	switch {
	case !features.Admits(g) && len(r.Resources) == 0:
		return "no node has the features " + r.Features
	case !features.Admits(g):
		return "no node has " + r.extras()
	case g.CPUs > 0 && g.CPUs < r.NodeCPUs():
		return fmt.Sprintf("needs %d CPUs on one node, one with %s has %d", r.NodeCPUs(), r.extras(), g.CPUs)
	case g.MemoryMB > 0 && g.MemoryMB < r.NodeMemoryMB():
		return fmt.Sprintf("needs %d MB per node, one with %s has %d", r.NodeMemoryMB(), r.extras(), g.MemoryMB)
	}
	return ""
}

func missing(asked Resource, need, has int, where string) string {
	if has == 0 {
		return fmt.Sprintf("needs %d %s, the site has none", need, asked.Kind())
	}
	return fmt.Sprintf("needs %d %s, %s has %d", need, asked.Kind(), where, has)
}

// mostOf is how many resources of a kind the whole site has.
func (c *Capacity) mostOf(asked Resource) int {
	n := CountOf(c.Shared, asked)
	for i := range c.Groups {
		n += c.Groups[i].Nodes * CountOf(c.Groups[i].Resources, asked)
	}
	return n
}

func (c *Capacity) nodesWith(feature string) int {
	n := 0
	for i := range c.Groups {
		if c.Groups[i].Has(feature) {
			n += c.Groups[i].Nodes
		}
	}
	return n
}

// extras names the resources and features that the job asks for.
func (r *Request) extras() string {
	var words []string
	for _, one := range r.Resources {
		words = append(words, one.Kind())
	}
	if r.Features != "" {
		words = append(words, r.Features)
	}
	return strings.Join(words, " and ")
}
