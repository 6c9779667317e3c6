package policytest_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/plugins/conformance"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/policy/iss"
	"github.com/switchyard-hpc/switchyard/plugins/policy/local"
	"github.com/switchyard-hpc/switchyard/plugins/policy/mcmf"
	"github.com/switchyard-hpc/switchyard/plugins/policy/random"
	"github.com/switchyard-hpc/switchyard/plugins/policy/stable"
	"github.com/switchyard-hpc/switchyard/plugins/policy/tc"
	"github.com/switchyard-hpc/switchyard/plugins/policytest"
	"github.com/switchyard-hpc/switchyard/protocol"
	policyv1 "github.com/switchyard-hpc/switchyard/protocol/policy/v1"
)

func opens(p policy.Policy) func(context.Context) (policy.Policy, error) {
	return func(context.Context) (policy.Policy, error) { return p, nil }
}

func right() policy.Policy { return tc.New(tc.Config{Epsilon: tc.DefaultEpsilon}) }

func TestBuiltIns(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]policy.Policy{
		"tc": right(), "tc without tolerance": tc.New(tc.Config{}), "tc that takes all for equal": tc.New(tc.Config{Epsilon: protocol.Never}),
		"local": local.New(), "hinting": hinting{}, "tc over the wire": wired{right()},
		"stable": stable.New(), "random": random.New(random.Config{Seed: 1}),
		"iss": cost(iss.Default()), "iss with few steps": cost(iss.Config{Nodes: 1}), "iss as printed": cost(iss.Config{Nodes: 100_000, Double: true}),
		"iss over the wire": wired{cost(iss.Default())},
		"mcmf":              flow(mcmf.Default(mcmf.Full)), "inst": flow(mcmf.Default(mcmf.Inst)), "twoprice": flow(mcmf.Default(mcmf.TwoPrice)),
		"mcmf by response alone": flow(mcmf.Config{Variant: mcmf.Full, Weight: protocol.PPM, Scale: 1}),
		"mcmf by price alone":    flow(mcmf.Config{Variant: mcmf.Full, Scale: mcmf.MaxScale}),
		"mcmf over the wire": wired{flow(mcmf.Config{
			Variant: mcmf.Full, Weight: mcmf.DefaultWeight, Scale: mcmf.MaxScale, Marginal: protocol.MaxMarginalJobs,
		})},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			policytest.Test(t, policytest.Target{Open: opens(p)})
		})
	}
}

func flow(cfg mcmf.Config) policy.Policy {
	p, err := mcmf.New(cfg)
	if err != nil {
		panic(err)
	}
	return p
}

func cost(cfg iss.Config) policy.Policy {
	p, err := iss.New(cfg)
	if err != nil {
		panic(err)
	}
	return p
}

// hinting is a right policy that uses its hint: it passes on how often it was asked,
// and does not mind a foreign one.
type hinting struct{ local.Policy }

func (h hinting) Decide(ctx context.Context, in policy.Snapshot) ([]policy.Decision, []byte, error) {
	rounds, err := strconv.Atoi(string(in.Hint))
	if err != nil {
		rounds = 0
	}
	decisions, _, err := h.Policy.Decide(ctx, in)
	return decisions, []byte(strconv.Itoa(rounds + 1)), err
}

// wired is a policy at the other end of the wire: whatever the suite asks is within
// the limits of a plugin's messages.
type wired struct{ policy.Policy }

func (w wired) Describe() policy.Description { return policy.Describe(w.Policy) }

func (w wired) Decide(ctx context.Context, in policy.Snapshot) ([]policy.Decision, []byte, error) {
	there, err := policyv1.DecodeSnapshot(policyv1.EncodeSnapshot(&in))
	if err != nil {
		return nil, nil, err
	}
	decisions, hint, err := w.Policy.Decide(ctx, there)
	if err != nil {
		return nil, nil, err
	}
	return policyv1.DecodeDecisions(policyv1.EncodeDecisions(decisions, hint))
}

type (
	decisions = []policy.Decision
	decide    = func(policy.Snapshot) (decisions, []byte, error)
)

// wrong is a right policy but for one thing.
type wrong struct {
	policy.Policy
	says   func(policy.Description) policy.Description
	decide func(in policy.Snapshot, right decide) (decisions, []byte, error)
}

func (w wrong) Describe() policy.Description {
	says := policy.Describe(w.Policy)
	if w.says == nil {
		return says
	}
	return w.says(says)
}

func (w wrong) Decide(ctx context.Context, in policy.Snapshot) (decisions, []byte, error) {
	if w.decide == nil {
		return w.Policy.Decide(ctx, in)
	}
	return w.decide(in, func(in policy.Snapshot) (decisions, []byte, error) { return w.Policy.Decide(ctx, in) })
}

// answering changes what a right policy decides.
func answering(change func(in policy.Snapshot, right decisions) decisions) policy.Policy {
	return wrong{Policy: right(), decide: func(in policy.Snapshot, decide decide) (decisions, []byte, error) {
		d, hint, err := decide(in)
		return change(in, d), hint, err
	}}
}

// each changes every decision.
func each(change func(in policy.Snapshot, d *policy.Decision)) policy.Policy {
	return answering(func(in policy.Snapshot, right decisions) decisions {
		for i := range right {
			change(in, &right[i])
		}
		return right
	})
}

// whole changes what a right policy that knows of applications decides.
func whole(decide func(in policy.Snapshot, right decide) (decisions, []byte, error)) policy.Policy {
	return wrong{Policy: cost(iss.Default()), decide: decide}
}

// refusing fails when a snapshot is of a kind.
func refusing(is func(in policy.Snapshot) bool) policy.Policy {
	return wrong{Policy: right(), decide: func(in policy.Snapshot, decide decide) (decisions, []byte, error) {
		if is(in) {
			return nil, nil, errors.New("not that")
		}
		return decide(in)
	}}
}

// withHint returns a hint.
func withHint(hint []byte) policy.Policy {
	return wrong{Policy: right(), decide: func(in policy.Snapshot, decide decide) (decisions, []byte, error) {
		d, _, err := decide(in)
		return d, hint, err
	}}
}

// wrongs are policies by the case that must catch them.
func wrongs() map[string]func() policy.Policy {
	var rounds, inside, instances atomic.Int64
	everyOther := func() bool { return rounds.Add(1)%2 == 1 }
	return map[string]func() policy.Policy{
		"info is sound": func() policy.Policy {
			return wrong{Policy: right(), says: func(policy.Description) policy.Description { return policy.Description{Name: "nothing served"} }}
		},
		"info stays the same": func() policy.Policy {
			return wrong{Policy: right(), says: func(d policy.Description) policy.Description {
				if everyOther() {
					d.Can = nil
				}
				return d
			}}
		},
		"equal snapshots get equal decisions": func() policy.Policy {
			return answering(func(_ policy.Snapshot, right decisions) decisions {
				if everyOther() {
					return nil
				}
				return right
			})
		},
		"earlier rounds leave no trace": func() policy.Policy { return &remembers{Policy: right()} },
		"a new instance decides alike": func() policy.Policy {
			if instances.Add(1)%2 == 1 {
				return right()
			}
			return answering(func(policy.Snapshot, decisions) decisions { return nil })
		},
		"ties are not broken at random": func() policy.Policy { return byMap() },
		"several goroutines get equal decisions": func() policy.Policy {
			return wrong{Policy: right(), decide: func(in policy.Snapshot, decide decide) (decisions, []byte, error) {
				defer inside.Add(-1)
				meet := inside.Add(1) > 1
				time.Sleep(time.Millisecond) // so that calls do meet
				if meet {
					return nil, nil, errors.New("one at a time, please")
				}
				return decide(in)
			}}
		},
		"the snapshot is left as it was": func() policy.Policy {
			return answering(func(in policy.Snapshot, right decisions) decisions {
				in.Sites[0].MaxJobs--
				return right
			})
		},
		"no jobs":                func() policy.Policy { return refusing(func(in policy.Snapshot) bool { return len(in.Jobs) == 0 }) },
		"no sites":               func() policy.Policy { return panicking(func(in policy.Snapshot) bool { return in.Sites[0].CPUs < 0 }) },
		"neither jobs nor sites": func() policy.Policy { return panicking(func(in policy.Snapshot) bool { return in.Sites[0].CPUs < 0 }) },
		"one site":               func() policy.Policy { return panicking(func(in policy.Snapshot) bool { return in.Sites[1].CPUs < 0 }) },
		"a peer that is not among the sites": func() policy.Policy {
			return panicking(func(in policy.Snapshot) bool { return in.Sites[in.Self].CPUs < 0 })
		},
		"every quote is declined":                 func() policy.Policy { return everywhere(1) },
		"a site that declined gets no job":        func() policy.Policy { return everywhere(1) },
		"a site that takes no job gets none":      func() policy.Policy { return everywhere(1) },
		"sites get no more jobs than they accept": func() policy.Policy { return everywhere(1) },
		"a job is placed at most once":            func() policy.Policy { return everywhere(2) },
		"no site states prices": func() policy.Policy {
			return refusing(func(in policy.Snapshot) bool { return in.Sites[0].Currency == "" })
		},
		"prices in several currencies, and none": func() policy.Policy {
			return refusing(func(in policy.Snapshot) bool { return in.Sites[0].Currency != in.Sites[len(in.Sites)-1].Currency })
		},
		"prices are negative": func() policy.Policy {
			return refusing(func(in policy.Snapshot) bool { return in.Cost[0] < 0 })
		},
		"jobs have data that must travel": func() policy.Policy {
			return each(func(in policy.Snapshot, d *policy.Decision) {
				d.Wait -= protocol.Duration(in.Jobs[d.Job].Data) // of what a link could carry in the meantime
			})
		},
		"sites tell how waits grow": func() policy.Policy {
			return each(func(in policy.Snapshot, d *policy.Decision) {
				for _, longer := range in.Sites[d.Site].MarginalWaits {
					d.Wait -= longer
				}
			})
		},
		"waits are not less than quoted": func() policy.Policy { return each(func(_ policy.Snapshot, d *policy.Decision) { d.Wait /= 2 }) },
		"reasons are short and readable": func() policy.Policy {
			return each(func(in policy.Snapshot, d *policy.Decision) {
				d.Reason = strings.Repeat(string(in.Sites[d.Site].Name), 20)
			})
		},
		"the hint is bounded and may come back": func() policy.Policy { return withHint(make([]byte, policy.MaxHint+1)) },
		"a foreign hint does no harm":           func() policy.Policy { return refusing(func(in policy.Snapshot) bool { return len(in.Hint) > 0 }) },
		"outcomes of earlier decisions do no harm": func() policy.Policy {
			return refusing(func(in policy.Snapshot) bool { return len(in.Outcomes) > 5 })
		},
		"the largest values do no harm": func() policy.Policy {
			return each(func(_ policy.Snapshot, d *policy.Decision) { d.Wait += d.Wait })
		},
		"jobs in another order": func() policy.Policy {
			return refusing(func(in policy.Snapshot) bool {
				return len(in.Jobs) > 1 && in.Jobs[0].ID > in.Jobs[1].ID
			})
		},
		"sites in another order": func() policy.Policy {
			return refusing(func(in policy.Snapshot) bool { return len(in.Sites) == 5 && len(in.Jobs) == 30 })
		},
		"a round of 2,000 jobs and 20 sites": func() policy.Policy {
			return refusing(func(in policy.Snapshot) bool { return len(in.Jobs)*len(in.Sites) > 30_000 })
		},
		"applications of all kinds keep their limits": func() policy.Policy {
			return whole(func(in policy.Snapshot, decide decide) (decisions, []byte, error) {
				in.Applications = slices.Clone(in.Applications)
				for a := range in.Applications {
					in.Applications[a].MaxCost = protocol.Unlimited
				}
				return decide(in)
			})
		},
		"the largest objectives and limits are accepted": func() policy.Policy {
			return whole(func(in policy.Snapshot, decide decide) (decisions, []byte, error) {
				d, hint, err := decide(in)
				for i := range d {
					d[i].Wait += d[i].Wait
				}
				return d, hint, err
			})
		},
		"random snapshots": func() policy.Policy {
			return refusing(func(in policy.Snapshot) bool { return len(in.Jobs) == 17 && len(in.Sites) == 7 })
		},
	}
}

// TestWrongPoliciesAreCaught: by the case that is about what is wrong with them.
func TestWrongPoliciesAreCaught(t *testing.T) {
	t.Parallel()
	all := wrongs()
	for _, c := range policytest.Cases(policytest.Target{Open: opens(right())}) {
		if all[c.Name] == nil {
			t.Errorf("no wrong policy is made for the case %q", c.Name)
		}
	}
	for name, open := range all {
		target := policytest.Target{Open: func(context.Context) (policy.Policy, error) { return open(), nil }}
		cases := slices.DeleteFunc(policytest.Cases(target), func(c conformance.Case) bool { return c.Name != name })
		results := conformance.Run(t.Context(), cases, nil)
		if len(results) != 1 || results[0].Err == nil {
			t.Errorf("%q does not catch its wrong policy: %+v", name, results)
			continue
		}
		t.Logf("%s: %.100v", name, results[0].Err)
	}
}

// TestNewColumnsAreLeftAsTheyWere: what lies behind a pointer counts as well.
func TestNewColumnsAreLeftAsTheyWere(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(in policy.Snapshot){
		"waits that grow": func(in policy.Snapshot) {
			for _, s := range in.Sites {
				for k := range s.MarginalWaits {
					s.MarginalWaits[k]++
				}
			}
		},
		"outcomes": func(in policy.Snapshot) {
			if len(in.Outcomes) > 0 {
				in.Outcomes[0].Wait++
			}
		},
		"data":  func(in policy.Snapshot) { in.Jobs[0].Data++ },
		"links": func(in policy.Snapshot) { in.Sites[0].Bandwidth++ },
		"wishes": func(in policy.Snapshot) {
			for a := range in.Applications {
				in.Applications[a].Beta++
			}
		},
		"rates": func(in policy.Snapshot) {
			for _, a := range in.Applications {
				for k := range a.WaitingCost {
					a.WaitingCost[k].PerHour++
				}
			}
		},
		"the parts of prices": func(in policy.Snapshot) {
			for at := range in.EnergyCost {
				in.EnergyCost[at]++
			}
		},
	} {
		p := whole(func(in policy.Snapshot, decide decide) (decisions, []byte, error) {
			d, hint, err := decide(in)
			if len(in.Jobs) > 0 && len(in.Sites) > 0 {
				change(in)
			}
			return d, hint, err
		})
		cases := slices.DeleteFunc(policytest.Cases(policytest.Target{Open: opens(p)}), func(c conformance.Case) bool {
			return c.Name != "the snapshot is left as it was"
		})
		if results := conformance.Run(t.Context(), cases, nil); len(results) != 1 || results[0].Err == nil {
			t.Errorf("a policy that changes %s is not caught: %+v", name, results)
		}
	}
}

// TestReasons: what else may be wrong with a reason.
func TestReasons(t *testing.T) {
	t.Parallel()
	for _, reason := range []string{"", "\xff\xfe", strings.Repeat("a", policyv1.MaxReason+1)} {
		p := each(func(_ policy.Snapshot, d *policy.Decision) { d.Reason = reason })
		results := conformance.Run(t.Context(), policytest.Cases(policytest.Target{Open: opens(p)}), nil)
		if !slices.ContainsFunc(results, func(r conformance.Result) bool {
			return r.Err != nil && strings.Contains(r.Err.Error(), "reason")
		}) {
			t.Errorf("the reason %q is not caught", reason)
		}
	}
}

// TestOpenAndClose: what cannot be opened fails; what can be closed is, and its
// error counts.
func TestOpenAndClose(t *testing.T) {
	t.Parallel()
	trouble := errors.New("no such plugin")
	for _, target := range []policytest.Target{
		{Open: func(context.Context) (policy.Policy, error) { return nil, trouble }},
		{Open: opens(closing{right(), trouble})},
	} {
		for _, r := range conformance.Run(t.Context(), policytest.Cases(target), nil) {
			if !errors.Is(r.Err, trouble) {
				t.Errorf("%s: %v", r.Name, r.Err)
			}
		}
	}
}

type closing struct {
	policy.Policy
	err error
}

func (c closing) Close() error { return c.err }

// panicking looks where there may be nothing.
func panicking(look func(in policy.Snapshot) bool) policy.Policy { return refusing(look) }

// everywhere sends each job to so many sites, whatever they said.
func everywhere(copies int) policy.Policy {
	return answering(func(in policy.Snapshot, _ decisions) (all decisions) {
		for j := range in.Jobs {
			for s := range min(copies, len(in.Sites)) {
				all = append(all, policy.Decision{Job: j, Site: s, Wait: in.AWT[in.At(j, s)], Reason: "why not"})
			}
		}
		return all
	})
}

// byMap visits jobs in the order of a map.
func byMap() policy.Policy {
	return answering(func(_ policy.Snapshot, right decisions) (mixed decisions) {
		byJob := map[int]policy.Decision{}
		for _, d := range right {
			byJob[d.Job] = d
		}
		for _, d := range byJob {
			mixed = append(mixed, d)
		}
		return mixed
	})
}

// remembers sends nothing after a round with other sites.
type remembers struct {
	policy.Policy
	sites int
}

func (r *remembers) Decide(ctx context.Context, in policy.Snapshot) (decisions, []byte, error) {
	other := r.sites != 0 && r.sites != len(in.Sites)
	r.sites = len(in.Sites)
	if other {
		return nil, nil, nil
	}
	return r.Policy.Decide(ctx, in)
}
