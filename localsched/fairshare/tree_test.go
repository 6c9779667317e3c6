package fairshare_test

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/localsched/fairshare"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// documented are the shares and the use of the example of Slurm's classic fair share, in percent of the
// machine: A (40) over B (30, user 1) and C (10, users 2 and 3), D (60) over E (25, user 4) and F (35,
// user 5).
func documented() *fairshare.Tree {
	t := fairshare.NewTree(fairshare.Shares{Accounts: []fairshare.Account{
		{Name: "B", Parent: "A", Shares: 30, Users: map[string]int{"1": 1}},
		{Name: "C", Parent: "A", Shares: 10, Users: map[string]int{"2": 1, "3": 1}},
		{Name: "A", Shares: 40},
		{Name: "D", Shares: 60},
		{Name: "E", Parent: "D", Shares: 25, Users: map[string]int{"4": 1}},
		{Name: "F", Parent: "D", Shares: 35, Users: map[string]int{"5": 1}},
	}})
	for key, use := range map[fairshare.Key]int64{{Account: "B", User: "1"}: 20, {Account: "C", User: "2"}: 25, {Account: "E", User: "4"}: 25} {
		t.Add(key, use*1_000_000)
	}
	return t
}

func near(t *testing.T, what string, got int64, want, within float64) {
	t.Helper()
	if math.Abs(float64(got)/fairshare.One-want) > within {
		t.Errorf("%s is %.9f, want %.9f", what, float64(got)/fairshare.One, want)
	}
}

// TestFactorByHand compares with values worked out by hand from the formulas S and F = 2^(-U/S) that Slurm
// documents. Of all use, 70, user 1 has 20/70 = 0.285714 and users 2 and 4 have 25/70 = 0.357143.
func TestFactorByHand(t *testing.T) {
	t.Parallel()
	tree := documented()
	for _, tt := range []struct {
		account, user       string
		share, used, factor float64
	}{
		{"B", "1", 0.30, 0.285714286, 0.516778}, // 2^-0.952381
		{"C", "2", 0.05, 0.357142857, 0.007076}, // 2^-7.142857
		{"C", "3", 0.05, 0, 1},
		{"E", "4", 0.25, 0.357142857, 0.371499}, // 2^-1.428571
		{"F", "5", 0.35, 0, 1},
	} {
		s := tree.Of(fairshare.Key{Account: tt.account, User: tt.user})
		near(t, "S of "+tt.user, s.Share, tt.share, 1e-8)
		near(t, "U of "+tt.user, s.Part, tt.used, 1e-8)
		near(t, "F of "+tt.user, s.Factor, tt.factor, 1e-6)
	}
	tree.Know(fairshare.Key{Account: "G", User: "new"}) // an account that is not configured has 1 share
	near(t, "S of 1 beside G", tree.Of(fairshare.Key{Account: "B", User: "1"}).Share, 0.40/1.01*0.75, 1e-8)
	near(t, "S of G", tree.Of(fairshare.Key{Account: "G", User: "new"}).Share, 1.0/101, 1e-8)
}

// TestFactorAlone are cases in which the factor is known without a calculation.
func TestFactorAlone(t *testing.T) {
	t.Parallel()
	key := func(user string) fairshare.Key { return fairshare.Key{User: user} }
	tree := fairshare.NewTree(fairshare.Shares{})
	tree.Know(key("a"))
	if got := tree.Factor(key("a")); got != fairshare.One {
		t.Errorf("F is %d where nobody has used anything, want One", got)
	}
	tree.Add(key("a"), 5)
	near(t, "F of one who has used all of its share", tree.Factor(key("a")), 0.5, 1e-9)
	tree.Add(key("b"), 5)
	near(t, "F of one of two equal users", tree.Factor(key("a")), 0.5, 1e-9)
	tree.Add(key("b"), -5)
	near(t, "F of one who has used twice its share", tree.Factor(key("a")), math.Exp2(-1/0.5), 1e-9)
	tree.Add(key("b"), -5) // never below 0
	near(t, "F of one who has used nothing beside it", tree.Factor(key("b")), 1, 1e-9)
	tree.Add(key("b"), 15)
	near(t, "F of one with a half more than its share", tree.Factor(key("b")), math.Exp2(-1.5), 1e-9)

	damped := fairshare.NewTree(fairshare.Shares{Damping: 3})
	damped.Add(key("a"), 5)
	near(t, "F with damping 3", damped.Factor(key("a")), math.Exp2(-1.0/3), 1e-9)

	none := fairshare.NewTree(fairshare.Shares{Accounts: []fairshare.Account{{Name: "x", Users: map[string]int{"a": 0, "b": 1}}, {Name: "y", Shares: 1}}})
	if got := none.Factor(fairshare.Key{Account: "x", User: "b"}); got != 0 {
		t.Errorf("F without shares is %d, want 0", got)
	}
}

// TestPriorityByHand: Slurm's sum, worked out by hand.
func TestPriorityByHand(t *testing.T) {
	t.Parallel()
	w := fairshare.Weights{Age: 1000, FairShare: 10_000, Size: 400, QOS: 2000, MaxAge: 7 * protocol.Day, QOSFactors: map[string]int64{"high": 100, "normal": 25}}
	for _, tt := range []struct {
		name string
		fair int64
		job  fairshare.Candidate
		want int64
	}{
		{"new", fairshare.One, fairshare.Candidate{CPUs: 0}, 10_000},
		{"aged by half", fairshare.One / 2, fairshare.Candidate{Waited: 84 * hour}, 500 + 5000},
		{"aged more than it counts", 0, fairshare.Candidate{Waited: 30 * protocol.Day}, 1000},
		{"half of the machine", 0, fairshare.Candidate{CPUs: 64}, 200},
		{"larger than the machine", 0, fairshare.Candidate{CPUs: 999}, 400},
		{"a QOS", 0, fairshare.Candidate{QOS: "normal"}, 500},
		{"the best QOS", 0, fairshare.Candidate{QOS: "high"}, 2000},
		{"an unknown QOS", 0, fairshare.Candidate{QOS: "x"}, 1},
		{"nice", fairshare.One / 4, fairshare.Candidate{Nice: 100}, 2400},
		{"not nice", fairshare.One / 4, fairshare.Candidate{Nice: -100}, 2600},
		{"all", fairshare.One / 4, fairshare.Candidate{Waited: 42 * hour, CPUs: 32, QOS: "normal", Nice: 7}, 250 + 2500 + 100 + 500 - 7},
		{"nothing left", 0, fairshare.Candidate{Nice: 100}, 1},
	} {
		if got := w.Priority(w.Of(tt.fair, &tt.job, 128), tt.job.Nice); got != tt.want {
			t.Errorf("%s: priority %d, want %d", tt.name, got, tt.want)
		}
	}
	largest := fairshare.Weights{Age: fairshare.MaxWeight, FairShare: fairshare.MaxWeight, Size: fairshare.MaxWeight, QOS: fairshare.MaxWeight, MaxAge: 1, QOSFactors: map[string]int64{"q": 1}}
	if got := largest.Priority(largest.Of(fairshare.One, &fairshare.Candidate{Waited: 1, CPUs: 1, QOS: "q"}, 1), 0); got != 4*fairshare.MaxWeight {
		t.Errorf("the largest priority is %d", got)
	}
}

// TestMoreUseNeverHigher: who has used more never stands higher than before, and others never lower.
func TestMoreUseNeverHigher(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		tree, keys := drawnTree(t)
		more := rapid.SampledFrom(keys).Draw(t, "who uses more")
		before := map[fairshare.Key]int64{}
		for _, key := range keys {
			before[key] = tree.Factor(key)
		}
		tree.Add(more, rapid.Int64Range(0, 1<<40).Draw(t, "how much more"))
		if now := tree.Factor(more); now > before[more] {
			t.Fatalf("F of %v was %d and is %d after more use", more, before[more], now)
		}
		for _, key := range keys {
			if key != more && tree.Factor(key)+1 < before[key] {
				t.Fatalf("F of %v was %d and is %d after use of %v", key, before[key], tree.Factor(key), more)
			}
		}
	})
}

func drawnTree(t *rapid.T) (*fairshare.Tree, []fairshare.Key) {
	shares := fairshare.Shares{Damping: rapid.IntRange(0, 3).Draw(t, "damping")}
	for i, name := range []string{"a", "b", "c"} {
		a := fairshare.Account{Name: name, Shares: rapid.IntRange(1, 50).Draw(t, "shares"), Users: map[string]int{}}
		if i > 0 && rapid.Bool().Draw(t, "below a") {
			a.Parent = "a"
		}
		for _, user := range []string{"u", "v"} {
			a.Users[user] = rapid.IntRange(1, 9).Draw(t, "user's shares")
		}
		shares.Accounts = append(shares.Accounts, a)
	}
	if err := shares.Check(); err != nil {
		t.Fatal(err)
	}
	tree := fairshare.NewTree(shares)
	keys := tree.Keys()
	for _, key := range keys {
		tree.Add(key, rapid.Int64Range(0, 1<<40).Draw(t, "use"))
	}
	return tree, keys
}

// TestSharesAreReached: when the job of the highest priority runs next, again and again, each user has
// its share of the machine in the end, whatever the sizes of jobs are.
func TestSharesAreReached(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		tree, keys := drawnTree(t)
		for _, key := range keys {
			tree.Add(key, -tree.Of(key).Use)
		}
		size := map[fairshare.Key]int64{}
		for _, key := range keys {
			size[key] = rapid.Int64Range(100, 1000).Draw(t, "size of jobs")
		}
		used, all := map[fairshare.Key]int64{}, int64(0)
		for range 3000 {
			best := keys[0]
			for _, key := range keys {
				if tree.Factor(key) > tree.Factor(best) {
					best = key
				}
			}
			tree.Add(best, size[best])
			used[best], all = used[best]+size[best], all+size[best]
		}
		for _, key := range keys {
			share, got := float64(tree.Of(key).Share)/fairshare.One, float64(used[key])/float64(all)
			if math.Abs(got-share) > 0.05 {
				t.Fatalf("%v has %.3f of all use, its share is %.3f", key, got, share)
			}
		}
	})
}

// TestCheck: all that is wrong is said at once.
func TestCheck(t *testing.T) {
	t.Parallel()
	err := fairshare.Shares{Damping: -1, Accounts: []fairshare.Account{
		{Name: "a", Parent: "b", Shares: -1}, {Name: "b", Parent: "a"}, {Name: "c", Parent: "x", Users: map[string]int{"u": fairshare.MaxShares + 1}}, {Name: "c"},
	}}.Check()
	for _, want := range []string{"damping is -1", `"a": -1 shares`, `"a" is above itself`, `"b" is above itself`, `parent "x"`, `user "u"`, `"c" is named more than once`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: want %s", err, want)
		}
	}
	werr := fairshare.Weights{Age: -1, Size: fairshare.MaxWeight + 1, QOSFactors: map[string]int64{"q": -1}}.Check()
	for _, want := range []string{"weight age is -1", "weight size", `QOS "q" is -1`, "maximum age"} {
		if werr == nil || !strings.Contains(werr.Error(), want) {
			t.Errorf("%v: want %s", werr, want)
		}
	}
}
