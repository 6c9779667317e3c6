package admission_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/admission"
	"github.com/switchyard-hpc/switchyard/peer/broker"
	"github.com/switchyard-hpc/switchyard/peer/eligible"
	partners "github.com/switchyard-hpc/switchyard/peer/partner"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

const noon protocol.Instant = 1_800_000_000_000

// The sites: a has 8 CPUs, b 16, c 4, of d nothing is known yet, and e is not compatible.
func site(name protocol.SiteName, cpus int) eligible.Site {
	return eligible.Site{Name: name, Reserves: true, Capacity: &protocol.Capacity{CPUs: cpus, Nodes: 1, NodeCPUs: cpus, MHz: 1000}}
}

func desk(partners ...admission.Partner) *admission.Desk {
	decides := &policy.Description{Name: "iss", Can: []policy.Capability{policy.Applications}}
	return &admission.Desk{
		Site: site("a", 8), Number: 1, MaxJobs: 10, MaxOfUser: 5, Policy: decides,
		Objectives: &broker.Objectives{Policy: decides}, Partners: partners,
	}
}

func partner(name protocol.SiteName, cpus int) admission.Partner {
	return admission.Partner{Site: site(name, cpus)}
}

// unknown is d, whose card has not come.
func unknown() admission.Partner { return admission.Partner{Site: eligible.Site{Name: "d"}} }

func job(cpus int) protocol.Job {
	return protocol.Job{
		Spec:    protocol.Spec{Request: protocol.Request{CPUs: cpus, WallTime: protocol.Hour}, Name: "mesh"},
		Payload: &protocol.Payload{Script: []byte("#!/bin/sh\n"), WorkDir: "/home/ada", Stdout: "/out", Stderr: "/out"},
	}
}

func application() *protocol.Application {
	return &protocol.Application{MaxCost: protocol.Unlimited, MaxTime: protocol.Never}
}

// users has an account for each user but eve.
type users struct{}

func (users) Local(user string) (string, error) {
	if user == "eve" {
		return "", errors.New("eve has no account here")
	}
	return user, nil
}

func (users) Guest(protocol.SiteName, string) (string, error) { return "", nil }

// TestRefuseSubmission: the limits of jobs hold to the last one, and each job needs an account and a script.
func TestRefuseSubmission(t *testing.T) {
	t.Parallel()
	empty := job(1)
	empty.Payload = nil
	for name, tt := range map[string]struct {
		jobs         []protocol.Job
		open, ofUser int
		user         string
		stopped      string
		want         view.RefusalCode
	}{
		"none":                    {nil, 0, 0, "ada", "", view.BadRequest},
		"one":                     {slices.Repeat([]protocol.Job{job(1)}, 1), 0, 0, "ada", "", ""},
		"the last one":            {slices.Repeat([]protocol.Job{job(1)}, 1), 9, 4, "ada", "", ""},
		"one too many":            {slices.Repeat([]protocol.Job{job(1)}, 1), 10, 0, "ada", "", view.Unavailable},
		"the last ones of a user": {slices.Repeat([]protocol.Job{job(1)}, 5), 0, 0, "ada", "", ""},
		"one too many of a user":  {slices.Repeat([]protocol.Job{job(1)}, 2), 4, 4, "ada", "", view.Denied},
		"too many of both":        {slices.Repeat([]protocol.Job{job(1)}, 6), 5, 5, "ada", "", view.Unavailable},
		"a store that is stopped": {slices.Repeat([]protocol.Job{job(1)}, 1), 0, 0, "ada", "an operator decides", view.Unavailable},
		"no account":              {slices.Repeat([]protocol.Job{job(1)}, 1), 0, 0, "eve", "", view.Denied},
		"no script":               {[]protocol.Job{job(1), empty}, 0, 0, "ada", "", view.BadRequest},
		"no site":                 {[]protocol.Job{job(99)}, 0, 0, "ada", "", view.NoSite},
	} {
		d := desk()
		d.Accounts, d.Stopped = users{}, tt.stopped
		got, refused := d.RefuseSubmission(tt.user, nil, tt.jobs, tt.open, tt.ofUser)
		if got.Code != tt.want || refused != (tt.want != "") || refused != (got.Reason != "") {
			t.Errorf("%s: %+v", name, got)
		}
	}
	d := desk()
	d.Accounts = users{}
	if got, _ := d.RefuseSubmission("ada", nil, []protocol.Job{job(1), empty}, 0, 0); got.Reason != "job 2 of 2: no script" {
		t.Errorf("%+v", got)
	}
}

// TestRefuseQuestion: a question needs jobs, and the choices between cost and time a policy that weighs them.
func TestRefuseQuestion(t *testing.T) {
	t.Parallel()
	simple := desk()
	simple.Policy = &policy.Description{Name: "tc"}
	for name, tt := range map[string]struct {
		desk  *admission.Desk
		jobs  []protocol.Job
		front bool
		want  view.RefusalCode
	}{
		"no jobs":                           {desk(), nil, false, view.BadRequest},
		"a job":                             {desk(), []protocol.Job{job(1)}, false, ""},
		"the choices":                       {desk(), []protocol.Job{job(1)}, true, ""},
		"the choices of a policy with none": {simple, []protocol.Job{job(1)}, true, view.BadRequest},
		"a job, and that policy":            {simple, []protocol.Job{job(1)}, false, ""},
		"a job that no site can run":        {desk(), []protocol.Job{job(99)}, false, view.NoSite},
	} {
		got, refused := tt.desk.RefuseQuestion("ada", nil, tt.jobs, tt.front)
		if got.Code != tt.want || refused != (tt.want != "") {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestKnown: a partner that has left is no site to send jobs to, and its limits are those of its card.
func TestKnown(t *testing.T) {
	t.Parallel()
	b, c, d := partners.New(rules.Partner{Site: "b"}), partners.New(rules.Partner{Site: "c"}), partners.New(rules.Partner{Site: "d"})
	b.Card, c.Departed = &protocol.Card{Capacity: protocol.Capacity{CPUs: 4}, MaxJobs: 2, MaxCPUs: 3}, true
	got := admission.Known([]*partners.Partner{b, c, d})
	if len(got) != 2 || got[0].Name != "b" || got[0].MaxJobs != 2 || got[0].MaxCPUs != 3 || got[0].Capacity.CPUs != 4 ||
		got[1].Name != "d" || got[1].Capacity != nil || got[1].MaxJobs != 0 {
		t.Errorf("%+v", got)
	}
}

// TestSubmitted: the IDs of a submission follow each other, and the answer says where its jobs may go.
func TestSubmitted(t *testing.T) {
	t.Parallel()
	got := desk(partner("b", 16)).Submitted([]protocol.Job{job(9), job(1)}, 7, 2)
	if !slices.Equal(got.Jobs, []protocol.JobID{7, 8}) || !slices.Equal(got.MayLeaveTo, []protocol.SiteName{"b"}) {
		t.Errorf("%+v", got)
	}
}

// TestSubmittedWithInput: a job that reads a file of this site leaves to no other.
func TestSubmittedWithInput(t *testing.T) {
	t.Parallel()
	one := job(1)
	one.Payload.Input = "/home/ada/in"
	if got := desk(partner("b", 16)).Submitted([]protocol.Job{one}, 7, 1); len(got.MayLeaveTo) > 0 {
		t.Errorf("may leave to %v", got.MayLeaveTo)
	}
}

// TestRefuse: only what is certain is refused, with what each site says.
func TestRefuse(t *testing.T) {
	t.Parallel()
	named := func(cpus int, sites ...protocol.SiteName) protocol.Job {
		one := job(cpus)
		one.Spec.Sites = sites
		return one
	}
	shaped := job(32)
	shaped.Component.Shapes = []protocol.Shape{{CPUs: 64, WallTime: protocol.Hour}, {CPUs: 4, WallTime: protocol.Hour}}
	long := job(1)
	long.Payload.Stderr = "/" + strings.Repeat("x", protocol.MaxPath-4) + "%j"
	wrong := job(0)
	barred := partner("e", 64)
	barred.Barred = "another protocol"
	for name, tt := range map[string]struct {
		desk   *admission.Desk
		app    *protocol.Application
		jobs   []protocol.Job
		want   view.RefusalCode
		reason string
		sites  int
	}{
		"it fits here":                 {desk(), nil, []protocol.Job{job(8)}, "", "", 0},
		"it fits nowhere":              {desk(partner("c", 4)), nil, []protocol.Job{job(9)}, view.NoSite, "no site can run this job", 2},
		"it fits at a partner":         {desk(partner("b", 16)), nil, []protocol.Job{job(9)}, "", "", 0},
		"it might fit":                 {desk(unknown()), nil, []protocol.Job{job(9)}, "", "", 0},
		"the partner is barred":        {desk(barred), nil, []protocol.Job{job(9)}, view.NoSite, "no site can run this job", 2},
		"a site that nobody knows":     {desk(partner("b", 16)), nil, []protocol.Job{named(1, "b", "x")}, view.BadRequest, `site "x" is neither`, 0},
		"sites that are known":         {desk(partner("b", 16)), nil, []protocol.Job{named(1, "b", "a")}, "", "", 0},
		"too large for the named site": {desk(partner("b", 16)), nil, []protocol.Job{named(9, "a")}, view.NoSite, "no site", 2},
		"it fits in its last shape":    {desk(), application(), []protocol.Job{shaped}, "", "", 0},
		"a name that becomes too long": {desk(), nil, []protocol.Job{long}, view.BadRequest, "the name of the job's stderr", 0},
		"no CPUs":                      {desk(), nil, []protocol.Job{wrong}, view.BadRequest, "", 0},
		"two are wrong, one badly":     {desk(), nil, []protocol.Job{job(9), named(1, "x"), job(1)}, view.BadRequest, "job 1 of 3, mesh: no site can run this job; job 2 of 3, mesh: site", 0},
		"very many are wrong":          {desk(), nil, slices.Repeat([]protocol.Job{job(9)}, 11), view.NoSite, "job 1 of 11, mesh: no site can run this job; job 2", 1},
	} {
		got, refused := tt.desk.Refuse(tt.app, tt.jobs)
		if refused != (tt.want != "") || got.Code != tt.want || !strings.HasPrefix(got.Reason, tt.reason) || len(got.Sites) != tt.sites {
			t.Errorf("%s: %t %+v", name, refused, got)
		}
	}
	got, _ := desk().Refuse(nil, slices.Repeat([]protocol.Job{job(9)}, 11))
	if !strings.HasSuffix(got.Reason, "job 8 of 11, mesh: no site can run this job; and 3 more") {
		t.Errorf("%s", got.Reason)
	}
}

// TestRefuseObjectives: what cannot be granted is said with what cannot be run.
func TestRefuseObjectives(t *testing.T) {
	t.Parallel()
	d := desk()
	d.Objectives.Policy = &policy.Description{Name: "tc"}
	got, refused := d.Refuse(application(), []protocol.Job{job(9)})
	if !refused || got.Code != view.BadRequest || !strings.HasPrefix(got.Reason, "the policy tc of this site looks at no objectives") ||
		!strings.HasSuffix(got.Reason, "; no site can run this job") {
		t.Errorf("%+v", got)
	}
	if got, refused = d.Refuse(application(), []protocol.Job{job(1)}); !refused || strings.HasSuffix(got.Reason, "; ") {
		t.Errorf("%+v", got)
	}
}

// TestRefuseGroups: components that start together need room at one instant.
func TestRefuseGroups(t *testing.T) {
	t.Parallel()
	member := func(cpus, number int) protocol.Job {
		one := job(cpus)
		one.Component = protocol.Component{Name: "m", Together: number, Alpha: 1}
		return one
	}
	cannot := partner("b", 16)
	cannot.Reserves = false
	few, narrow := partner("b", 16), partner("b", 16)
	few.MaxJobs, narrow.MaxCPUs = 1, 4
	keeps := desk(partner("b", 16))
	keeps.Policy = &policy.Description{Name: "iss", Can: []policy.Capability{policy.Applications, policy.LocalOnly}}
	cycle := desk()
	cycle.MaxCycle = 1
	for name, tt := range map[string]struct {
		desk    *admission.Desk
		jobs    []protocol.Job
		refused bool
	}{
		"both fit here":                            {desk(), []protocol.Job{member(4, 1), member(4, 1)}, false},
		"both do not fit here":                     {desk(), []protocol.Job{member(5, 1), member(4, 1)}, true},
		"two groups, one after the other":          {desk(), []protocol.Job{member(4, 1), member(7, 2), member(4, 1), member(1, 2)}, false},
		"the second group does not fit":            {desk(), []protocol.Job{member(1, 1), member(5, 2), member(1, 1), member(4, 2)}, true},
		"one here, one there":                      {desk(partner("b", 16)), []protocol.Job{member(8, 1), member(16, 1)}, false},
		"the other one reserves nothing":           {desk(cannot), []protocol.Job{member(8, 1), member(4, 1)}, true},
		"the other one may reserve":                {desk(unknown()), []protocol.Job{member(8, 1), member(4, 1)}, false},
		"the other one takes one job":              {desk(few), []protocol.Job{member(8, 1), member(8, 1), member(4, 1)}, true},
		"the other one takes the one that it gets": {desk(few), []protocol.Job{member(8, 1), member(4, 1)}, false},
		"the other one gives few CPUs":             {desk(narrow), []protocol.Job{member(8, 1), member(5, 1)}, true},
		"nothing leaves this site":                 {keeps, []protocol.Job{member(8, 1), member(4, 1)}, true},
		"the site takes one job in a period":       {cycle, []protocol.Job{member(1, 1), member(1, 1)}, true},
		"two of ten fit, and none starts with 0s":  {desk(), []protocol.Job{job(8), job(8)}, false},
	} {
		app := application()
		app.Beta = 1
		for i := range tt.jobs {
			tt.jobs[i].Component.Alpha = 1
		}
		got, refused := tt.desk.Refuse(app, tt.jobs)
		if refused != tt.refused || refused && (got.Code != view.NoSite || !strings.Contains(got.Reason, "have never enough") || len(got.Sites) == 0) {
			t.Errorf("%s: %t %+v", name, refused, got)
		}
	}
}

// TestMayLeaveTo: a partner that is not known yet may get a job, and none where all is kept.
func TestMayLeaveTo(t *testing.T) {
	t.Parallel()
	d := desk(partner("b", 16), partner("c", 4), unknown())
	got := d.MayLeaveTo([]protocol.Spec{job(8).Spec, job(9).Spec}, nil)
	if got.Site != "a" || !slices.Equal(got.MayLeaveTo, []protocol.SiteName{"b", "d"}) {
		t.Errorf("%+v", got)
	}
	d.Partners[0].Shared, d.Partners[0].SharedThere = []string{"/home"}, []string{"/home"}
	home, away := &protocol.Payload{WorkDir: "/home/ann"}, &protocol.Payload{WorkDir: "/data"}
	for _, tt := range []struct {
		payloads []*protocol.Payload
		want     int
	}{{[]*protocol.Payload{home}, 1}, {[]*protocol.Payload{home, away}, 0}} {
		if got = d.MayLeaveTo([]protocol.Spec{job(8).Spec}, tt.payloads); len(got.InPlace) != tt.want || tt.want > 0 && got.InPlace[0] != "b" {
			t.Errorf("%+v", got)
		}
	}
	d.Policy = &policy.Description{Can: []policy.Capability{policy.LocalOnly}}
	if got = d.MayLeaveTo([]protocol.Spec{job(8).Spec}, nil); got.Site != "a" || got.MayLeaveTo != nil {
		t.Errorf("all is kept: %+v", got)
	}
}

// TestUnknown: a job waits for a site that is not known only if none that is can run it.
func TestUnknown(t *testing.T) {
	t.Parallel()
	plain := &row.Job{Spec: job(9).Spec}
	shaped := &row.Job{Spec: job(9).Spec, Component: &protocol.Component{Shapes: []protocol.Shape{{CPUs: 9}, {CPUs: 4}}}}
	for name, tt := range map[string]struct {
		desk *admission.Desk
		job  *row.Job
		want bool
	}{
		"no site can":             {desk(), plain, false},
		"one that is known can":   {desk(unknown(), partner("b", 16)), plain, false},
		"one that is not might":   {desk(unknown(), partner("c", 4)), plain, true},
		"in another shape it can": {desk(unknown()), shaped, false},
	} {
		if got := tt.desk.Unknown(tt.job); got != tt.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	simple := desk(unknown())
	simple.Policy = &policy.Description{}
	if !simple.Unknown(shaped) {
		t.Error("a policy that chooses no shape has the job run in another one")
	}
}

// TestRowsOfASubmission: what is stored of a new job, and what it runs.
func TestRowsOfASubmission(t *testing.T) {
	t.Parallel()
	one := job(4)
	one.Payload.Stdout, one.Payload.Stderr, one.Payload.Env = "/%j.%A.%%j", "/%j.%A.%%j", []string{"A=1"}
	spec := desk().Spec(&one, "ada", 7, noon)
	if spec.Job != 7 || spec.User != "ada" || spec.Submitted != noon || spec.MHz != 1000 || spec.PowerClass != protocol.PowerClassOf("a", "ada", "mesh") {
		t.Errorf("%+v", spec)
	}
	j, payload := desk().Job(&one, spec, 0)
	if j.Phase != row.JobInGridQueue || j.State != protocol.Pending || j.Stdout != "/7.7.%j" || j.Stderr != "/7.7.%j" || j.WorkDir != "/home/ada" ||
		j.Application != 0 || j.Component != nil || !slices.Equal(payload.Env, one.Payload.Env) || one.Payload.Stdout != "/%j.%A.%%j" {
		t.Errorf("%+v", j)
	}
	if err := j.Check(); err != nil {
		t.Error(err)
	}
	one.Component.Name, one.Spec.MHz = "mesh", 500
	j, payload = desk().Job(&one, desk().Spec(&one, "ada", 8, noon), 5)
	if j.Application != 5 || j.Component == nil || j.Spec.MHz != 500 || payload.Stdout != "/8.8.%j" ||
		!slices.Equal(payload.Env, []string{"A=1", "SWITCHYARD_APPLICATION=5"}) || len(one.Payload.Env) != 1 {
		t.Errorf("%+v, %q", j, payload.Env)
	}
}

// TestRefuseManyDependencies: jobs that are submitted together wait for no more jobs than can be looked up at once.
func TestRefuseManyDependencies(t *testing.T) {
	t.Parallel()
	d := desk()
	d.Accounts, d.MaxJobs, d.MaxOfUser = users{}, 100, 100
	waits := func(terms int) protocol.Job {
		one := job(1)
		one.Conditions.Dependency = &protocol.Dependency{
			Terms: slices.Repeat([]protocol.DependencyTerm{{Kind: protocol.AfterAny, Job: protocol.NewJobID(1, 7)}}, terms),
		}
		return one
	}
	jobs := slices.Repeat([]protocol.Job{waits(protocol.MaxDependencies)}, protocol.MaxDependenciesTogether/protocol.MaxDependencies)
	if got, refused := d.RefuseSubmission("ada", nil, jobs, 0, 0); refused {
		t.Errorf("%d jobs that wait for %d each: %+v", len(jobs), protocol.MaxDependencies, got)
	}
	got, refused := d.RefuseSubmission("ada", nil, append(jobs, waits(1)), 0, 0)
	if !refused || got.Code != view.BadRequest || !strings.Contains(got.Reason, "of the 11 jobs together name 10001 jobs; at most 10000") {
		t.Errorf("one more: %v %+v", refused, got)
	}
}
