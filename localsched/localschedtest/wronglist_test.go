package localschedtest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func wrongPlanners(account string) map[string]map[string]func() *wrong {
	var calls atomic.Int64
	return map[string]map[string]func() *wrong{
		"the description is sound and stays the same": {
			"changes its mind": func() *wrong {
				return &wrong{describe: func(d localsched.Description) localsched.Description {
					d.Capabilities = []string{fmt.Sprint("power-", calls.Add(1))}
					return d
				}}
			},
			"has no name": func() *wrong {
				return &wrong{describe: func(d localsched.Description) localsched.Description { d.Name = ""; return d }}
			},
			"does not sort": func() *wrong {
				return &wrong{describe: func(d localsched.Description) localsched.Description {
					d.Capabilities = []string{"reserve", "power"}
					return d
				}}
			},
		},
		"the load is sane": {
			"runs more than it has": func() *wrong {
				return &wrong{load: func(l protocol.Load) protocol.Load { l.Busy = l.CPUs + 1; return l }}
			},
			"withholds more than is idle": func() *wrong {
				return &wrong{load: func(l protocol.Load) protocol.Load { l.PowerIdledCPUs = l.CPUs - l.Busy + 1; return l }}
			},
			"draws less than nothing": func() *wrong {
				return &wrong{load: func(l protocol.Load) protocol.Load { l.Draw = -1; return l }}
			},
		},
		"the load counts what runs and what waits": {
			"does not see the queue": func() *wrong {
				return &wrong{load: func(l protocol.Load) protocol.Load { l.QueuedJobs, l.QueuedWork = 0, 0; return l }}
			},
		},
		"quotes are one for each job, in order": {
			"quotes backwards": func() *wrong {
				return quoting(func(q []protocol.Quote) []protocol.Quote { slices.Reverse(q); return q })
			},
			"leaves out what it declines": func() *wrong {
				return quoting(func(q []protocol.Quote) []protocol.Quote {
					return slices.DeleteFunc(q, func(q protocol.Quote) bool { return q.Declined != "" })
				})
			},
			"has its quantiles in disorder": func() *wrong {
				return quoting(func(q []protocol.Quote) []protocol.Quote { q[0].AWTLow = q[0].AWT + 1; return q })
			},
		},
		"what never fits is declined": {
			"has a note beside the reason": func() *wrong {
				return quoting(func(q []protocol.Quote) []protocol.Quote {
					for i := range q {
						q[i].Note = "waits for off-peak"
					}
					return q
				})
			},
			"declines nothing": func() *wrong {
				return quoting(func(q []protocol.Quote) []protocol.Quote {
					for i := range q {
						q[i].Declined, q[i].ERT = "", 1
					}
					return q
				})
			},
		},
		"no jobs get no quotes": {
			"answers unasked": func() *wrong {
				return quoting(func(q []protocol.Quote) []protocol.Quote { return append(q, protocol.Quote{ERT: 1}) })
			},
		},
		"quotes change nothing": {
			"lets the promised in": func() *wrong {
				return asking(func(s right, query *localsched.Query) {
					for _, p := range query.Ahead {
						_, _ = s.Submit(context.Background(), localsched.Submission{
							Tag: p.Tag, Spec: protocol.Spec{Request: p.Request}, Account: account,
							Payload: &protocol.Payload{Script: []byte("#!/bin/sh\n"), WorkDir: "/"},
						})
					}
				})
			},
		},
		"jobs ahead count": {
			"does not look ahead": func() *wrong { return asking(func(_ right, query *localsched.Query) { query.Ahead = nil }) },
		},
		"a promised job that has come counts once": {
			"does not know it": func() *wrong {
				return asking(func(_ right, query *localsched.Query) {
					for i := range query.Ahead {
						query.Ahead[i].Tag = twin(query.Ahead[i].Tag)
					}
				})
			},
		},
		"ten thousand quotes in one call": {
			"stops at 4,096": func() *wrong {
				return quoting(func(q []protocol.Quote) []protocol.Quote { return q[:min(len(q), 4096)] })
			},
		},
		"accounts of jobs are used or declined": {
			"takes them and says that it uses none": func() *wrong {
				return &wrong{describe: func(d localsched.Description) localsched.Description { d.Capabilities = nil; return d }}
			},
			"takes them and forgets them": func() *wrong {
				return &wrong{submit: func(s right, ctx context.Context, job localsched.Submission) (localsched.LocalID, error) {
					job.Spec.Association = protocol.Association{}
					return s.Submit(ctx, job)
				}}
			},
		},
		"delays of other jobs are reported": {
			"always, by a minute": func() *wrong {
				return delaying(func(_ *localsched.Query, q *protocol.Quote) { q.Delay = protocol.Minute })
			},
			"unasked": func() *wrong {
				return delaying(func(query *localsched.Query, q *protocol.Quote) {
					if query.ProtectSite == nil {
						q.Delay = 1
					}
				})
			},
			"whosever job it is": func() *wrong {
				return delaying(func(query *localsched.Query, q *protocol.Quote) {
					if query.ProtectSite != nil && q.AWT > 0 {
						q.Delay = protocol.Minute
					}
				})
			},
			"though it comes after the job that waits": func() *wrong {
				return delaying(func(query *localsched.Query, q *protocol.Quote) {
					if query.ProtectSite != nil && *query.ProtectSite == conformanceSite && q.AWT > protocol.Minute {
						q.Delay = 1
					}
				})
			},
			"of nobody, though it comes before": func() *wrong {
				return delaying(func(query *localsched.Query, q *protocol.Quote) {
					if query.ProtectSite != nil && *query.ProtectSite == conformanceSite && q.AWT > protocol.Minute {
						q.AWT, q.AWTLow = protocol.Second, 0
					}
				})
			},
		},
	}
}

func wrongRunners() map[string]map[string]func() *wrong {
	var calls atomic.Int64
	idle := func(job *localsched.Submission) { job.Payload.Script = []byte("#!/bin/sh\n") }
	return map[string]map[string]func() *wrong{
		"a job runs to its end": {"runs another script": func() *wrong { return submitting(idle) }},
		"submit says the same when repeated": {
			"gives a new name each time": func() *wrong {
				return naming(func(id localsched.LocalID) localsched.LocalID {
					return localsched.LocalID(fmt.Sprint(id, calls.Add(1)))
				})
			},
			"runs it again": runsAgain,
		},
		"one job submitted by many at once runs once": {"runs it again": runsAgain},
		"many jobs submitted at once run once each": {
			"calls them all the same": func() *wrong {
				return naming(func(localsched.LocalID) localsched.LocalID { return "job" })
			},
			"loses some": func() *wrong {
				return &wrong{submit: func(s right, ctx context.Context, job localsched.Submission) (localsched.LocalID, error) {
					if calls.Add(1)%8 == 0 {
						return localsched.LocalID(job.Tag.String()), nil
					}
					return s.Submit(ctx, job)
				}}
			},
		},
		"submit refuses what never fits": {
			"does not say that it refuses": func() *wrong {
				return &wrong{submit: func(s right, ctx context.Context, job localsched.Submission) (localsched.LocalID, error) {
					id, err := s.Submit(ctx, job)
					if err != nil {
						err = errors.New(err.Error())
					}
					return id, err
				}}
			},
			"takes it": func() *wrong { return submitting(func(job *localsched.Submission) { job.Spec.CPUs = 1 }) },
		},
		"a submission that was given up leaves no surprise": {
			"carries it out afterwards": func() *wrong {
				return &wrong{submit: func(s right, ctx context.Context, job localsched.Submission) (localsched.LocalID, error) {
					if deadline, _ := ctx.Deadline(); time.Until(deadline) > time.Second {
						return s.Submit(ctx, job)
					}
					time.AfterFunc(100*time.Millisecond, func() { _, _ = s.Submit(context.WithoutCancel(ctx), job) })
					return "", context.DeadlineExceeded
				}}
			},
			"never knows": func() *wrong {
				return &wrong{find: func(right, context.Context, protocol.Tag) (localsched.Presence, localsched.LocalID, error) {
					return localsched.PresenceUnknown, "", nil
				}}
			},
		},
		"two epochs of a job are two jobs": {
			"knows jobs by their ids alone": func() *wrong {
				return &wrong{
					submit: func(s right, ctx context.Context, job localsched.Submission) (localsched.LocalID, error) {
						job.Tag.Epoch = 1
						return s.Submit(ctx, job)
					},
					find: func(s right, ctx context.Context, tag protocol.Tag) (localsched.Presence, localsched.LocalID, error) {
						tag.Epoch = 1
						return s.FindByTag(ctx, tag)
					},
				}
			},
		},
		"a job is found by its tag until it is forgotten": {
			"forgets the tag": func() *wrong {
				return &wrong{find: func(right, context.Context, protocol.Tag) (localsched.Presence, localsched.LocalID, error) {
					return localsched.Absent, "", nil
				}}
			},
			"finds anything": func() *wrong {
				return &wrong{find: func(right, context.Context, protocol.Tag) (localsched.Presence, localsched.LocalID, error) {
					return localsched.Present, "job", nil
				}}
			},
			"finds it under another name": func() *wrong {
				return &wrong{find: func(s right, ctx context.Context, tag protocol.Tag) (localsched.Presence, localsched.LocalID, error) {
					p, id, err := s.FindByTag(ctx, tag)
					return p, id + "'", err
				}}
			},
		},
		"a withdrawn job never runs": {
			"says so, and runs it": func() *wrong {
				return &wrong{withdraw: func(right, context.Context, protocol.Tag) (localsched.Withdrawal, error) {
					return localsched.Withdrawn, nil
				}}
			},
			"says another thing when asked again": func() *wrong {
				return &wrong{withdraw: func(s right, ctx context.Context, tag protocol.Tag) (localsched.Withdrawal, error) {
					if calls.Add(1) > 1 {
						return 0, localsched.ErrUnknownJob
					}
					return s.Withdraw(ctx, tag)
				}}
			},
			"cannot forget it": func() *wrong {
				return &wrong{forget: func(right, context.Context, protocol.Tag) error { return errors.New("it never ran") }}
			},
		},
		"a job that runs is not withdrawn": {
			"says that it is": func() *wrong { return withdrawing(localsched.Started, localsched.Withdrawn) },
			"ends it": func() *wrong {
				return &wrong{withdraw: func(s right, ctx context.Context, tag protocol.Tag) (localsched.Withdrawal, error) {
					got, err := s.Withdraw(ctx, tag)
					if got == localsched.Started {
						err = s.Kill(ctx, tag)
					}
					return got, err
				}}
			},
		},
		"a job that never came cannot be withdrawn, or never comes": {
			"says so, and takes it": func() *wrong {
				return &wrong{withdraw: func(s right, ctx context.Context, tag protocol.Tag) (localsched.Withdrawal, error) {
					if p, _, err := s.FindByTag(ctx, tag); err != nil || p == localsched.Absent {
						return localsched.Withdrawn, err
					}
					return s.Withdraw(ctx, tag)
				}}
			},
			"says that it has started": func() *wrong { return withdrawing(localsched.Withdrawn, localsched.Started) },
		},
		"withdraw against start: each job runs or is withdrawn": {
			"withdraws what has started": withdrawingAtTheStart,
			"always comes too late":      func() *wrong { return withdrawing(localsched.Withdrawn, localsched.Started) },
		},
		"a killed job is cancelled": {
			"kills nobody": func() *wrong { return &wrong{kill: func(right, context.Context, protocol.Tag) error { return nil }} },
			"kills once": func() *wrong {
				return &wrong{kill: func(s right, ctx context.Context, tag protocol.Tag) error {
					if calls.Add(1) > 1 {
						return errors.New("it is dying already")
					}
					return s.Kill(ctx, tag)
				}}
			},
			"calls it failed": func() *wrong {
				return changing(func(c *localsched.Change) {
					if c.State == protocol.Cancelled {
						c.State, c.Outcome.State = protocol.Failed, protocol.Failed
					}
				})
			},
		},
		"killing a job that has ended is no error": {
			"says that it is": func() *wrong {
				return &wrong{kill: func(right, context.Context, protocol.Tag) error { return errors.New("it is dead already") }}
			},
		},
		"killing a job that never came says that it is unknown": {
			"says nothing": func() *wrong { return &wrong{kill: func(right, context.Context, protocol.Tag) error { return nil }} },
		},
		"exit codes and signals are reported": {
			"tells all as 1": func() *wrong {
				return changing(func(c *localsched.Change) { c.Outcome.ExitCode = min(1, c.Outcome.ExitCode) })
			},
			"tells signals as a shell does": func() *wrong {
				return changing(func(c *localsched.Change) {
					if c.Outcome.Signal > 0 {
						c.Outcome.ExitCode, c.Outcome.Signal = 128+c.Outcome.Signal, 0
					}
				})
			},
		},
		"a job is ended at its time limit": {
			"does not": func() *wrong { return submitting(func(job *localsched.Submission) { job.Spec.WallTime *= 1000 }) },
		},
	}
}

func wrongTellers() map[string]map[string]func() *wrong {
	var last atomic.Value
	return map[string]map[string]func() *wrong{
		"changes come in order, each once": {
			"tells all twice": func() *wrong {
				return telling(func(changes []localsched.Change) []localsched.Change { return append(changes, changes...) })
			},
			"leaves out that jobs run": func() *wrong {
				return leavingOut(func(c localsched.Change) bool { return c.State == protocol.Running })
			},
			"leaves out that jobs wait": func() *wrong {
				return leavingOut(func(c localsched.Change) bool { return c.State == protocol.Pending })
			},
			"tells again what was": func() *wrong {
				return telling(func(changes []localsched.Change) []localsched.Change {
					for _, c := range changes {
						if c.State == protocol.Completed {
							changes = append(changes, localsched.Change{Tag: c.Tag, State: protocol.Running, Started: c.Started})
						}
					}
					return changes
				})
			},
			"begins at the beginning each time": func() *wrong {
				return &wrong{watch: func(s right, ctx context.Context, _ localsched.Cursor) (localsched.Watched, error) {
					return s.Watch(ctx, "")
				}}
			},
			"gives no outcome": func() *wrong {
				return changing(func(c *localsched.Change) { c.Outcome = protocol.Outcome{} })
			},
			"does not say when jobs started": func() *wrong { return changing(func(c *localsched.Change) { c.Started = 0 }) },
			"tells seconds":                  func() *wrong { return changing(func(c *localsched.Change) { c.Started /= 1000 }) },
		},
		"watching from the beginning tells all again": {
			"goes on where it was": func() *wrong {
				return &wrong{watch: func(s right, ctx context.Context, after localsched.Cursor) (localsched.Watched, error) {
					if known, ok := last.Load().(localsched.Cursor); ok && after == "" {
						after = known
					}
					watched, err := s.Watch(ctx, after)
					last.Store(watched.Cursor)
					return watched, err
				}}
			},
		},
		"watch waits for news": {
			"spins": func() *wrong {
				return &wrong{watch: func(s right, ctx context.Context, after localsched.Cursor) (localsched.Watched, error) {
					brief, cancel := context.WithTimeout(ctx, time.Millisecond)
					defer cancel()
					watched, err := s.Watch(brief, after)
					if errors.Is(err, context.DeadlineExceeded) {
						return localsched.Watched{Cursor: after}, nil
					}
					return watched, err
				}}
			},
		},
		"watch wakes when something happens": {
			"sleeps on": func() *wrong {
				return &wrong{watch: func(s right, ctx context.Context, after localsched.Cursor) (localsched.Watched, error) {
					brief, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
					defer cancel()
					watched, err := s.Watch(brief, after)
					if err != nil {
						<-ctx.Done()
					}
					return watched, err
				}}
			},
		},
		"a guest's output is fetched by pieces": {
			"begins at the beginning each time": func() *wrong {
				return &wrong{fetch: func(s right, ctx context.Context, tag protocol.Tag, stream protocol.Stream, offset int64, size int) ([]byte, error) {
					return s.Fetch(ctx, tag, stream, min(offset, 100), size)
				}}
			},
			"gives more than asked for": func() *wrong {
				return &wrong{fetch: func(s right, ctx context.Context, tag protocol.Tag, stream protocol.Stream, offset int64, _ int) ([]byte, error) {
					return s.Fetch(ctx, tag, stream, offset, 1<<20)
				}}
			},
			"mixes the streams up": func() *wrong {
				return &wrong{fetch: func(s right, ctx context.Context, tag protocol.Tag, stream protocol.Stream, offset int64, size int) ([]byte, error) {
					return s.Fetch(ctx, tag, protocol.Stdout+protocol.Stderr-stream, offset, size)
				}}
			},
			"names no files": func() *wrong { return changing(func(c *localsched.Change) { c.Outcome.Files = nil }) },
			"adds wrongly": func() *wrong {
				return changing(func(c *localsched.Change) {
					if len(c.Outcome.Files) > 0 {
						c.Outcome.Files = slices.Clone(c.Outcome.Files)
						c.Outcome.Files[0].SHA256[0]++
					}
				})
			},
		},
		"a local job's output is at its path": {
			"puts it elsewhere": func() *wrong {
				return submitting(func(job *localsched.Submission) { job.Payload.Stdout = "/dev/null" })
			},
		},
		"environment and arguments arrive": {
			"splits arguments": func() *wrong {
				return submitting(func(job *localsched.Submission) {
					job.Payload.Args = strings.Fields(strings.Join(job.Payload.Args, " "))
				})
			},
			"leaves out the environment": func() *wrong { return submitting(func(job *localsched.Submission) { job.Payload.Env = nil }) },
		},
		"output of an unknown job is unknown": {
			"is empty": func() *wrong {
				return &wrong{fetch: func(right, context.Context, protocol.Tag, protocol.Stream, int64, int) ([]byte, error) {
					return nil, nil
				}}
			},
		},
		"forget drops a job": {
			"keeps it": func() *wrong { return &wrong{forget: func(right, context.Context, protocol.Tag) error { return nil }} },
		},
	}
}

// restarting are schedulers that go wrong when they are opened again, by the case
// that must catch them.
func restarting() map[string]func() *wrong {
	return map[string]func() *wrong{
		"jobs that wait or run survive a restart": runsAgain,
		"jobs that ended meanwhile are reported after a restart": func() *wrong {
			return leavingOut(func(c localsched.Change) bool { return c.State.Terminal() })
		},
		"held room is kept over a restart": func() *wrong { return reservingLater(1) },
	}
}
