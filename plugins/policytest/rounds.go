package policytest

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// randomRounds is how many random snapshots are decided.
const randomRounds = 300

// declinersGetNothing makes the best sites decline: free of charge, idle, at once,
// but not for this job.
func declinersGetNothing(ctx context.Context, s subject) error {
	in := snapshotOf(4, 12)
	for j := range in.Jobs {
		decline(&in, in.At(j, 0))
		decline(&in, in.At(j, 1+j%3))
	}
	in.Sites[0].RUS, in.Sites[0].Free = 0, in.Sites[0].CPUs
	_, _, err := decide(ctx, s, in)
	return err
}

// waitsAreQuoted has sites that quote very different waits.
func waitsAreQuoted(ctx context.Context, s subject) error {
	in := snapshotOf(3, 9)
	for at := range in.AWT {
		in.AWT[at] = protocol.Duration(at*at+1) * protocol.Minute
	}
	_, _, err := decide(ctx, s, in)
	return err
}

// reasonsAreReadable has names and numbers as long as they get.
func reasonsAreReadable(ctx context.Context, s subject) error {
	in := extreme(99)
	for i := range in.Sites {
		in.Sites[i].Name = protocol.SiteName(fmt.Sprintf("a-site-with-a-name-of-32-bytes-%d", i))
		in.Sites[i].MaxJobs = len(in.Jobs)
		in.Sites[i].Currency = fmt.Sprintf("16-byte-money-%02d", i)
	}
	for at := range in.AWT {
		in.AWT[at] = protocol.Never - 1 - protocol.Duration(at)
	}
	_, _, err := decide(ctx, s, in)
	return err
}

// hintComesBack gives the policy in each round what it returned in the last one, as
// the peer does, and checks that a round with a hint can be repeated too.
func hintComesBack(ctx context.Context, s subject) error {
	var hint []byte
	for round := range uint64(8) {
		in := drawn(round, 5, 20)
		in.Hint = hint
		first, next, err := decide(ctx, s, clone(in))
		if err != nil {
			return err
		}
		if err = again(ctx, s, in, first); err != nil {
			return fmt.Errorf("with a hint of %d bytes: %w", len(hint), err)
		}
		hint = next
	}
	in := drawn(9, 5, 20)
	_, _, err := decide(ctx, s, in) // a hint may get lost
	return err
}

// foreignHints: a hint may be another version's, or damaged.
func foreignHints(ctx context.Context, s subject) error {
	in := drawn(5, 5, 20)
	_, own, err := decide(ctx, s, clone(in))
	if err != nil {
		return err
	}
	random := rand.NewChaCha8([32]byte{1})
	noise := make([]byte, policy.MaxHint)
	_, _ = random.Read(noise)
	cut := own[:len(own)/2]
	for _, hint := range [][]byte{{}, {0}, []byte("{}"), cut, append(slices.Clone(own), 1), bytes.Repeat([]byte{0xff}, 100), noise} {
		in.Hint = hint
		if _, _, err = decide(ctx, s, clone(in)); err != nil {
			return fmt.Errorf("with a foreign hint of %d bytes (%.20q): %w", len(hint), hint, err)
		}
	}
	return nil
}

// outcomesDoNoHarm gives outcomes in round after round, as a peer does; decisions stay lawful and
// repeatable.
func outcomesDoNoHarm(ctx context.Context, s subject) error {
	var hint []byte
	for round, n := range []int{1, 5, policy.MaxOutcomes, 0, policy.MaxOutcomes} {
		in := drawn(uint64(round), 5, 20)
		in.Hint, in.Outcomes = hint, outcomes(&in, uint64(round), n)
		first, next, err := decide(ctx, s, clone(in))
		if err == nil {
			err = again(ctx, s, in, first)
		}
		if err != nil {
			return fmt.Errorf("with %d outcomes: %w", n, err)
		}
		hint = next
	}
	return nil
}

func extremes(ctx context.Context, s subject) error {
	for seed := range uint64(randomRounds) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, _, err := decide(ctx, s, extreme(seed)); err != nil {
			return fmt.Errorf("extreme snapshot %d: %w", seed, err)
		}
	}
	return nil
}

// jobsReordered: the order of the queue may matter, but not to the rules.
func jobsReordered(ctx context.Context, s subject) error {
	in := drawn(6, 5, 30)
	backwards := inOrder(len(in.Jobs))
	slices.Reverse(backwards)
	_, _, err := decide(ctx, s, reordered(in, inOrder(len(in.Sites)), backwards))
	return err
}

// sitesReordered has the sites change their names.
func sitesReordered(ctx context.Context, s subject) error {
	in := drawn(6, 5, 30)
	backwards := inOrder(len(in.Sites))
	slices.Reverse(backwards)
	_, _, err := decide(ctx, s, reordered(in, backwards, inOrder(len(in.Jobs))))
	return err
}

func randomSnapshots(ctx context.Context, s subject) error {
	random := rand.New(rand.NewPCG(8, 8))
	for seed := range uint64(randomRounds) {
		if err := ctx.Err(); err != nil {
			return err
		}
		in := drawn(seed, 1+random.IntN(8), random.IntN(40))
		if _, _, err := decide(ctx, s, in); err != nil {
			return fmt.Errorf("random snapshot %d: %w", seed, err)
		}
	}
	return nil
}
