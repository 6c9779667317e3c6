package protocol

import (
	"cmp"
	"fmt"
	"strings"
)

// Change says what of a job that has not started is another from now on. What it leaves out stays as it is.
type Change struct {
	Name     *string    `json:"name,omitempty"`
	Comment  *string    `json:"comment,omitempty"`
	WallTime *Duration  `json:"wall_time_ms,omitempty"`
	MinTime  *Duration  `json:"min_time_ms,omitempty"`
	Sites    []SiteName `json:"sites,omitempty"`
	Anywhere bool       `json:"anywhere,omitempty"` // it may run at any site; only without Sites
	Nice     *int64     `json:"nice,omitempty"`

	Account   *string `json:"account,omitempty"`
	Partition *string `json:"partition,omitempty"`
	QOS       *string `json:"qos,omitempty"`

	Begin      *Instant    `json:"begin_ms,omitempty"`
	Deadline   *Instant    `json:"deadline_ms,omitempty"`
	Priority   *int64      `json:"priority,omitempty"`   // 0: the one that is worked out
	Dependency *Dependency `json:"dependency,omitempty"` // without terms: on no other job

	Throttle *int `json:"throttle,omitempty"` // of an array alone
}

// Check says what is wrong with the change as such, if anything: whether the job can be as it says is another question.
func (c *Change) Check() error {
	switch {
	case c.None():
		return wrongField("change", "names nothing that is to be changed")
	case c.Anywhere && len(c.Sites) > 0:
		return wrongField("anywhere", "excludes sites")
	case c.Throttle != nil && *c.Throttle < 0:
		return wrongField("throttle", "is %d; give 0 or more", *c.Throttle)
	case c.Dependency == nil || len(c.Dependency.Terms) == 0:
		return nil
	}
	conditions := Conditions{Dependency: c.Dependency}
	return conditions.check()
}

// Apply changes the description of a job and its conditions. The throttle is that of an array, and left to the caller.
func (c *Change) Apply(s *Spec, w *Conditions) {
	assign(&s.Name, c.Name)
	assign(&s.Comment, c.Comment)
	assign(&s.WallTime, c.WallTime)
	assign(&s.MinTime, c.MinTime)
	assign(&s.Nice, c.Nice)
	assign(&s.Account, c.Account)
	assign(&s.Partition, c.Partition)
	assign(&s.QOS, c.QOS)
	assign(&w.Begin, c.Begin)
	assign(&w.Deadline, c.Deadline)
	assign(&w.Priority, c.Priority)
	if c.Anywhere || len(c.Sites) > 0 {
		s.Sites = c.Sites
	}
	switch d := c.Dependency; {
	case d == nil:
	case len(d.Terms) == 0:
		w.Dependency = nil
	default:
		next := *d
		next.KillInvalid = d.KillInvalid || w.Dependency != nil && w.Dependency.KillInvalid
		w.Dependency = &next
	}
}

func assign[T any](field, to *T) {
	if to != nil {
		*field = *to
	}
}

// Parts are what of the change concerns the origin alone, and what the site must know that has the job.
func (c *Change) Parts() (origin, site Change) {
	origin = Change{
		Name: c.Name, Comment: c.Comment, Deadline: c.Deadline, Priority: c.Priority, Dependency: c.Dependency, Throttle: c.Throttle,
	}
	site = *c
	site.Name, site.Comment, site.Deadline, site.Priority, site.Dependency, site.Throttle = nil, nil, nil, nil, nil, nil
	return origin, site
}

// After is an earlier change, and after it this one. Nil is none.
func (c *Change) After(earlier *Change) *Change {
	if earlier == nil {
		return c
	}
	out := Change{
		Name: cmp.Or(c.Name, earlier.Name), Comment: cmp.Or(c.Comment, earlier.Comment),
		WallTime: cmp.Or(c.WallTime, earlier.WallTime), MinTime: cmp.Or(c.MinTime, earlier.MinTime),
		Sites: c.Sites, Anywhere: c.Anywhere, Nice: cmp.Or(c.Nice, earlier.Nice),
		Account: cmp.Or(c.Account, earlier.Account), Partition: cmp.Or(c.Partition, earlier.Partition), QOS: cmp.Or(c.QOS, earlier.QOS),
		Begin: cmp.Or(c.Begin, earlier.Begin), Deadline: cmp.Or(c.Deadline, earlier.Deadline), Priority: cmp.Or(c.Priority, earlier.Priority),
		Dependency: cmp.Or(c.Dependency, earlier.Dependency), Throttle: cmp.Or(c.Throttle, earlier.Throttle),
	}
	if !c.Anywhere && len(c.Sites) == 0 {
		out.Sites, out.Anywhere = earlier.Sites, earlier.Anywhere
	}
	return &out
}

// None says whether nothing is changed. Nil changes nothing.
func (c *Change) None() bool { return c == nil || c.String() == "" }

// String lists what is changed, for people, as "time limit 30:00, nice 100".
func (c *Change) String() string {
	var words []string
	add := func(changed bool, format string, args ...any) {
		if changed {
			words = append(words, fmt.Sprintf(format, args...))
		}
	}
	text := func(what string, to *string) {
		if to != nil {
			add(true, "%s %s", what, cmp.Or(EscapeText(*to), "none"))
		}
	}
	text("name", c.Name)
	text("comment", c.Comment)
	if c.WallTime != nil {
		add(true, "time limit %s", c.WallTime.Text())
	}
	if c.MinTime != nil {
		add(true, "least time limit %s", c.MinTime.Text())
	}
	add(c.Anywhere, "any site")
	add(len(c.Sites) > 0, "sites %s", joinNames(c.Sites))
	if c.Nice != nil {
		add(true, "nice %d", *c.Nice)
	}
	text("account", c.Account)
	text("partition", c.Partition)
	text("QOS", c.QOS)
	words = append(words, c.conditions()...)
	if c.Throttle != nil {
		add(true, "throttle %d", *c.Throttle)
	}
	return strings.Join(words, ", ")
}

// conditions lists what is changed of the job's conditions.
func (c *Change) conditions() (words []string) {
	instant := func(what string, at *Instant) {
		if at != nil && *at != 0 {
			words = append(words, what+" "+at.Text())
		} else if at != nil {
			words = append(words, "no "+what)
		}
	}
	instant("begin", c.Begin)
	instant("deadline", c.Deadline)
	if c.Priority != nil && *c.Priority != 0 {
		words = append(words, fmt.Sprintf("priority %d", *c.Priority))
	} else if c.Priority != nil {
		words = append(words, "the priority that is worked out")
	}
	if c.Dependency != nil {
		words = append(words, "dependency "+cmp.Or(c.Dependency.String(), "none"))
	}
	return words
}

func joinNames(sites []SiteName) string {
	words := make([]string, len(sites))
	for i, name := range sites {
		words[i] = string(name)
	}
	return strings.Join(words, ", ")
}
