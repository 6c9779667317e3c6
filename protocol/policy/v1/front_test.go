package policyv1_test

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
	policyv1 "github.com/switchyard-hpc/switchyard/protocol/policy/v1"
	"github.com/switchyard-hpc/switchyard/protocol/protocoltest"
)

func drawFront(t *rapid.T) policy.ParetoFront {
	f := policy.ParetoFront{
		Currency: rapid.SampledFrom([]string{"", "CHF"}).Draw(t, "currency"), More: rapid.Bool().Draw(t, "more"),
		Gap: drawCount(t), Reason: rapid.StringN(0, 20, 100).Draw(t, "why"),
	}
	for range rapid.IntRange(0, 3).Draw(t, "points") {
		point := policy.FrontPoint{Time: drawSpan(t), Cost: protocol.Micro(rapid.Int64().Draw(t, "cost")), Chosen: rapid.Bool().Draw(t, "chosen")}
		for range rapid.IntRange(0, 3).Draw(t, "choices") {
			point.Choices = append(point.Choices, policy.FrontChoice{
				Job: drawCount(t), Site: drawCount(t), CPUs: drawCount(t), Wait: drawSpan(t), Run: drawSpan(t),
				Cost: protocol.Micro(rapid.Int64().Draw(t, "cost")),
			})
		}
		f.Points = append(f.Points, point)
	}
	return f
}

func TestFrontsRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := drawFront(t)
		got, err := policyv1.DecodeFront(travel(t, policyv1.EncodeFront(&want), &policyv1.ParetoFrontResponse{}))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("got  %+v, %v\nwant %+v", got, err, want)
		}
	})
}

func TestDecodeFrontRefuses(t *testing.T) {
	t.Parallel()
	choice := func(c *policyv1.FrontChoice) *policyv1.ParetoFrontResponse {
		return &policyv1.ParetoFrontResponse{Points: []*policyv1.FrontPoint{{Choices: []*policyv1.FrontChoice{{}, c}}}}
	}
	for want, m := range map[string]*policyv1.ParetoFrontResponse{
		"points: has 257":                                  {Points: make([]*policyv1.FrontPoint, policy.MaxFrontPoints+1)},
		"currency: has 17":                                 {Currency: strings.Repeat("x", 17)},
		"gap: -1 is outside":                               {Gap: -1},
		"reason: has 513 entries or bytes":                 {Reason: strings.Repeat("x", policyv1.MaxReason+1)},
		"points[0].time: -2 is n":                          {Points: []*policyv1.FrontPoint{{Time: -2}}},
		"points[0].choices[1].cpus: 2147483648 is outside": choice(&policyv1.FrontChoice{Cpus: math.MaxInt32 + 1}),
		"points[0].choices[1].wait: -2 is negative":        choice(&policyv1.FrontChoice{Wait: -2}),
		"points[0].choices[1].run: -2 is negative":         choice(&policyv1.FrontChoice{Run: -2}),
	} {
		_, err := policyv1.DecodeFront(m)
		protocoltest.Refused(t, err, "front."+want)
	}
}
