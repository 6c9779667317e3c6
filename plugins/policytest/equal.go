package policytest

import (
	"context"
	"errors"
	"reflect"

	"github.com/switchyard-hpc/switchyard/plugins/conformance"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
)

// samples are snapshots that leave a policy something to choose, with the objectives and limits
// of users if it supports them.
func (s subject) samples() []policy.Snapshot {
	all := []policy.Snapshot{drawn(1, 5, 30), drawn(2, 3, 12), drawn(3, 12, 40), snapshotOf(6, 12)}
	if says := s.Describe(); says.DecidesApplications() {
		all = append(all, withApplications(drawn(1, 5, 30), 1), withApplications(snapshotOf(6, 12), 2))
	}
	return all
}

func equalWhenRepeated(ctx context.Context, s subject) error {
	for _, in := range s.samples() {
		first, _, err := decide(ctx, s, clone(in))
		for range 5 {
			if err == nil {
				err = again(ctx, s, in, first)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// earlierRoundsLeaveNoTrace: a policy keeps nothing but the hint.
func earlierRoundsLeaveNoTrace(ctx context.Context, s subject) error {
	in := drawn(4, 6, 30)
	first, _, err := decide(ctx, s, clone(in))
	if err != nil {
		return err
	}
	for _, other := range s.samples() {
		if _, _, err = decide(ctx, s, other); err != nil {
			return err
		}
		if err = again(ctx, s, in, first); err != nil {
			return err
		}
	}
	return nil
}

func newInstanceDecidesAlike(ctx context.Context, s subject) error {
	for _, in := range s.samples() {
		first, _, err := decide(ctx, s, clone(in))
		if err != nil {
			return err
		}
		if err = s.another(ctx, func(p policy.Policy) error { return again(ctx, p, in, first) }); err != nil {
			return err
		}
	}
	return nil
}

// tiesAreStable repeats a round of nothing but ties, in which the order of a Go map
// would show.
func tiesAreStable(ctx context.Context, s subject) error {
	for _, in := range []policy.Snapshot{snapshotOf(12, 24), accepting(snapshotOf(4, 12), 3, 3, 3, 3), growing(moving(snapshotOf(6, 12)))} {
		first, _, err := decide(ctx, s, clone(in))
		for range 50 {
			if err == nil {
				err = again(ctx, s, in, first)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func equalAtOnce(ctx context.Context, s subject) error {
	inputs := s.samples()
	firsts := make([][]policy.Decision, len(inputs))
	for i, in := range inputs {
		var err error
		if firsts[i], _, err = decide(ctx, s, clone(in)); err != nil {
			return err
		}
	}
	return conformance.Together(8, func(i int) error {
		for range 10 {
			if err := again(ctx, s, inputs[i%len(inputs)], firsts[i%len(inputs)]); err != nil {
				return err
			}
		}
		return nil
	})
}

func snapshotIsLeft(ctx context.Context, s subject) error {
	for _, in := range s.samples() {
		in.Hint, in.Outcomes = []byte("a hint"), outcomes(&in, 1, 8)
		before := clone(in)
		if _, _, err := s.Decide(ctx, in); err != nil {
			return err
		}
		if !reflect.DeepEqual(in, before) {
			return errors.New("the policy has changed the snapshot that it was given")
		}
	}
	return nil
}
