// Package policytest is what every policy must do, as a suite of cases: for those
// built in, and for plugins.
//
//	func TestConformance(t *testing.T) {
//		policytest.Test(t, policytest.Target{Open: func(context.Context) (policy.Policy, error) {
//			return mine.New(mine.Config{}), nil
//		}})
//	}
package policytest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/switchyard-hpc/switchyard/plugins/conformance"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Target is the policy under test.
type Target struct {
	// Open makes another policy with the same configuration: for a plugin, in a
	// new process. One that is an [io.Closer] is closed at the end of a case.
	Open func(ctx context.Context) (policy.Policy, error)
}

// Test runs the suite as subtests.
func Test(t *testing.T, target Target) {
	t.Helper()
	conformance.Test(t, Cases(target))
}

// Cases are the suite. Each opens the policy for itself.
func Cases(target Target) []conformance.Case {
	var cases []conformance.Case
	for _, r := range rules() {
		cases = append(cases, conformance.Case{Name: r.name, Run: func(ctx context.Context) error {
			return target.with(ctx, func(p policy.Policy) error { return r.holds(ctx, subject{p, target}) })
		}})
	}
	return cases
}

// rule is what a case checks.
type rule struct {
	name  string
	holds func(ctx context.Context, s subject) error
}

// subject is an open policy, and how to open another one.
type subject struct {
	policy.Policy
	target Target
}

// Describe implements [policy.Describer].
func (s subject) Describe() policy.Description { return policy.Describe(s.Policy) }

// another opens the policy a second time, for as long as use takes.
func (s subject) another(ctx context.Context, use func(policy.Policy) error) error {
	return s.target.with(ctx, use)
}

func (t Target) with(ctx context.Context, use func(policy.Policy) error) (err error) {
	p, err := t.Open(ctx)
	if err != nil {
		return fmt.Errorf("open the policy: %w", err)
	}
	if closer, ok := p.(io.Closer); ok {
		defer func() { err = errors.Join(err, closer.Close()) }()
	}
	return use(p)
}

func rules() []rule {
	return []rule{
		{"info is sound", infoIsSound},
		{"info stays the same", infoStays},
		{"equal snapshots get equal decisions", equalWhenRepeated},
		{"earlier rounds leave no trace", earlierRoundsLeaveNoTrace},
		{"a new instance decides alike", newInstanceDecidesAlike},
		{"ties are not broken at random", tiesAreStable},
		{"several goroutines get equal decisions", equalAtOnce},
		{"the snapshot is left as it was", snapshotIsLeft},
		{"no jobs", on(snapshotOf(3, 0))},
		{"no sites", on(withoutSelf(snapshotOf(0, 4)))},
		{"neither jobs nor sites", on(withoutSelf(snapshotOf(0, 0)))},
		{"one site", on(snapshotOf(1, 6))},
		{"a peer that is not among the sites", on(withoutSelf(snapshotOf(3, 6)))},
		{"every quote is declined", on(allDeclined(snapshotOf(3, 6)))},
		{"a site that declined gets no job", declinersGetNothing},
		{"a site that takes no job gets none", on(accepting(snapshotOf(3, 6), 0, 0, 0))},
		{"sites get no more jobs than they accept", on(accepting(snapshotOf(4, 60), 3, 0, 1, 10))},
		{"a job is placed at most once", on(accepting(snapshotOf(8, 40), 40, 40, 40, 40, 40, 40, 40, 40))},
		{"no site states prices", on(priced(snapshotOf(3, 6), []string{""}, func(int) protocol.Micro { return 0 }))},
		{"prices in several currencies, and none", on(priced(snapshotOf(5, 10), []string{"SEK", "EUR", ""}, costly))},
		{"prices are negative", on(priced(snapshotOf(3, 6), []string{"EUR"}, func(at int) protocol.Micro { return -1 - costly(at) }))},
		{"jobs have data that must travel", on(moving(snapshotOf(5, 10)))},
		{"sites tell how waits grow", on(growing(accepting(snapshotOf(4, 100), 90, 70, 2, 0)))},
		{"waits are not less than quoted", waitsAreQuoted},
		{"reasons are short and readable", reasonsAreReadable},
		{"the hint is bounded and may come back", hintComesBack},
		{"a foreign hint does no harm", foreignHints},
		{"the largest values do no harm", extremes},
		{"outcomes of earlier decisions do no harm", outcomesDoNoHarm},
		{"jobs in another order", jobsReordered},
		{"sites in another order", sitesReordered},
		{"a round of 2,000 jobs and 20 sites", on(drawn(7, 20, 2000))},
		{"random snapshots", randomSnapshots},
		{"applications of all kinds keep their limits", applications},
		{"the largest objectives and limits are accepted", extremeApplications},
	}
}
