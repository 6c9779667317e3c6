package policyv1_test

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
	policyv1 "github.com/switchyard-hpc/switchyard/protocol/policy/v1"
	"github.com/switchyard-hpc/switchyard/protocol/protocoltest"
)

func drawDecisions(t *rapid.T) (decisions []policy.Decision) {
	for range rapid.IntRange(0, 4).Draw(t, "decisions") {
		decisions = append(decisions, policy.Decision{
			Job: drawCount(t), Site: drawSite(t), Wait: drawSpan(t), Reason: rapid.StringN(0, 20, 100).Draw(t, "reason"),
		})
	}
	return decisions
}

// drawSite draws an index, or nowhere.
func drawSite(t *rapid.T) int {
	return rapid.OneOf(rapid.Just(policy.NoSite), rapid.IntRange(0, math.MaxInt32)).Draw(t, "site")
}

// A job that stays keeps its place among the decisions, and its reason.
func TestJobsStayForAReason(t *testing.T) {
	t.Parallel()
	want := []policy.Decision{
		{Job: 1, Site: 1, Wait: 2, Reason: "cheapest"}, {Job: 0, Site: policy.NoSite, Reason: "max_cost"}, {Job: 2, Reason: "home"},
	}
	m := policyv1.EncodeDecisions(want, nil)
	if got := m.GetSite(); !slices.Equal(got, []uint32{1, math.MaxUint32, 0}) {
		t.Errorf("the sites travel as %v", got)
	}
	if got, _, err := policyv1.DecodeDecisions(m); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestDecisionsRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want, wantHint := drawDecisions(t), drawHint(t)
		m := travel(t, policyv1.EncodeDecisions(want, wantHint), &policyv1.DecideResponse{})
		got, hint, err := policyv1.DecodeDecisions(m)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(hint, wantHint) {
			t.Fatalf("got  %+v, %v\nwant %+v, %v", got, hint, want, wantHint)
		}
	})
}

// A reason is for people: it must never fail a round.
func TestAnyReasonTravels(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		pieces := []string{"wait", "ß", "→", "🖥", "\xff", "\x80\x80", strings.Repeat("x", 300)}
		reason := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 40).Draw(t, "pieces"), "")
		m := travel(t, policyv1.EncodeDecisions([]policy.Decision{{Reason: reason}}, nil), &policyv1.DecideResponse{})
		got, _, err := policyv1.DecodeDecisions(m)
		if err != nil {
			t.Fatal(err)
		}
		text := got[0].Reason
		if utf8.ValidString(reason) {
			if !strings.HasPrefix(reason, text) || len(text) < min(len(reason), policyv1.MaxReason-utf8.UTFMax+1) {
				t.Fatalf("%q became %q", reason, text)
			}
		}
	})
}

func TestReasonsAreCutBetweenCharacters(t *testing.T) {
	t.Parallel()
	whole := strings.Repeat("x", policyv1.MaxReason-1)
	m := policyv1.EncodeDecisions([]policy.Decision{{Reason: whole + "→ b"}, {Reason: whole + "y"}}, nil)
	if got := m.GetReason(); got[0] != whole || got[1] != whole+"y" {
		t.Errorf("got %d and %d bytes, want %d and one more", len(got[0]), len(got[1]), len(whole))
	}
}

// Indices that are none must not wrap around to a job or site that exists.
func TestIndicesDoNotWrap(t *testing.T) {
	t.Parallel()
	in := policy.Snapshot{
		Sites: []policy.Site{{Name: "a", MaxJobs: 9}}, Jobs: []policy.Job{{ID: 1}}, AWT: []protocol.Duration{0},
	}
	for _, d := range []policy.Decision{
		{Job: -1},
		{Job: 1 << 32},
		{Job: math.MaxUint32},
		{Site: -2},
		{Site: math.MaxUint32},
		{Site: math.MaxUint32 - 1},
		{Site: 1 << 32},
		{Job: math.MinInt64},
		{Site: math.MaxInt64},
	} {
		decisions, _, err := policyv1.DecodeDecisions(policyv1.EncodeDecisions([]policy.Decision{d}, nil))
		if err == nil {
			err = in.Check(decisions)
		}
		protocoltest.Refused(t, err, ": of 1 jobs and 1 sites")
	}
}

func TestDecodeDecisionsRefuses(t *testing.T) {
	t.Parallel()
	cases := map[string]*policyv1.DecideResponse{
		"job: has 1048577":           {Job: make([]uint32, policyv1.MaxJobs+1)},
		"site: has 0 entries, not 1": {Job: []uint32{0}},
		"wait: has 2 entries, not 1": {Job: []uint32{0}, Site: []uint32{0}, Wait: []int64{0, 0}, Reason: []string{""}},
		"reason: has 0 entries":      {Job: []uint32{0}, Site: []uint32{0}, Wait: []int64{0}},
		"site: has 1 entries, not 0": {Site: []uint32{0}},
		"wait[0]: -2 is negative":    {Job: []uint32{0}, Site: []uint32{0}, Wait: []int64{-2}, Reason: []string{""}},
		"reason[0]: has 513 bytes": {
			Job: []uint32{0}, Site: []uint32{0}, Wait: []int64{0}, Reason: []string{strings.Repeat("x", policyv1.MaxReason+1)},
		},
		"hint: has 65537": {Hint: make([]byte, policy.MaxHint+1)},
	}
	for want, m := range cases {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			_, _, err := policyv1.DecodeDecisions(m)
			protocoltest.Refused(t, err, "decisions."+want)
		})
	}
}

func FuzzDecodeDecisions(f *testing.F) {
	for i := range 4 {
		data, err := proto.Marshal(policyv1.EncodeDecisions(rapid.Custom(drawDecisions).Example(i), []byte("hint")))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m := &policyv1.DecideResponse{}
		if proto.Unmarshal(data, m) != nil {
			return
		}
		decisions, hint, err := policyv1.DecodeDecisions(m)
		if err != nil {
			return
		}
		again, hint2, err := policyv1.DecodeDecisions(travel(t, policyv1.EncodeDecisions(decisions, hint), &policyv1.DecideResponse{}))
		if err != nil || !reflect.DeepEqual(again, decisions) || !reflect.DeepEqual(hint2, hint) {
			t.Fatalf("got %+v, %v, %v\nwant %+v, %v", again, hint2, err, decisions, hint)
		}
	})
}
