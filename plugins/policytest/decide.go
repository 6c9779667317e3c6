package policytest

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"unicode/utf8"

	"github.com/switchyard-hpc/switchyard/plugins/policy"
)

// maxReason bounds a reason, in bytes, as the wire does.
const maxReason = 512

// decide lets the policy decide, and checks the answer against all that holds for
// every snapshot.
func decide(ctx context.Context, p policy.Policy, in policy.Snapshot) ([]policy.Decision, []byte, error) {
	decisions, hint, err := p.Decide(ctx, in)
	if err != nil {
		return nil, nil, fmt.Errorf("a round of %d jobs and %d sites: %w", len(in.Jobs), len(in.Sites), err)
	}
	if err = lawful(&in, decisions, hint); err != nil {
		return nil, nil, fmt.Errorf("a round of %d jobs and %d sites: %w", len(in.Jobs), len(in.Sites), err)
	}
	return decisions, hint, nil
}

// lawful says what is wrong with an answer, if anything.
func lawful(in *policy.Snapshot, decisions []policy.Decision, hint []byte) error {
	if err := in.Check(decisions); err != nil {
		return err
	}
	for _, d := range decisions {
		id := in.Jobs[d.Job].ID
		if d.Site != policy.NoSite {
			if quoted := in.AWT[in.At(d.Job, d.Site)]; d.Wait < quoted {
				return fmt.Errorf("job %v is to wait %v, less than the %v that %s quoted", id, d.Wait, quoted, in.Sites[d.Site].Name)
			}
		}
		switch {
		case d.Reason == "":
			return fmt.Errorf("no reason is given for job %v", id)
		case len(d.Reason) > maxReason:
			return fmt.Errorf("the reason for job %v has %d bytes; at most %d are kept", id, len(d.Reason), maxReason)
		case !utf8.ValidString(d.Reason):
			return fmt.Errorf("the reason for job %v is not UTF-8: %.40q", id, d.Reason)
		}
	}
	if len(hint) > policy.MaxHint {
		return fmt.Errorf("the hint has %d bytes; at most %d are kept", len(hint), policy.MaxHint)
	}
	return nil
}

// on is the rule that the answer to one snapshot is lawful.
func on(in policy.Snapshot) func(context.Context, subject) error {
	return func(ctx context.Context, s subject) error {
		_, _, err := decide(ctx, s, clone(in))
		return err
	}
}

// same compares two answers to one snapshot.
func same(first, second []policy.Decision) error {
	if slices.Equal(first, second) {
		return nil
	}
	for i := range min(len(first), len(second)) {
		if first[i] != second[i] {
			return fmt.Errorf("decision %d is %+v at first, then %+v", i, first[i], second[i])
		}
	}
	return fmt.Errorf("%d decisions at first, then %d", len(first), len(second))
}

// again decides the snapshot, and compares with an earlier answer.
func again(ctx context.Context, p policy.Policy, in policy.Snapshot, first []policy.Decision) error {
	second, _, err := decide(ctx, p, clone(in))
	if err != nil {
		return err
	}
	return same(first, second)
}

func infoIsSound(_ context.Context, s subject) error {
	says := s.Describe()
	return says.Check()
}

// infoStays looks again after a round, and in a new instance.
func infoStays(ctx context.Context, s subject) error {
	first := s.Describe()
	if _, _, err := decide(ctx, s, snapshotOf(3, 6)); err != nil {
		return err
	}
	compare := func(p policy.Policy) error {
		if info := policy.Describe(p); !reflect.DeepEqual(info, first) {
			return fmt.Errorf("the info is %+v at first, then %+v", first, info)
		}
		return nil
	}
	if err := compare(s); err != nil {
		return err
	}
	return s.another(ctx, compare)
}
