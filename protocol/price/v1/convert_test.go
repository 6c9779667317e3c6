package pricev1_test

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
	pricev1 "github.com/switchyard-hpc/switchyard/protocol/price/v1"
	"github.com/switchyard-hpc/switchyard/protocol/protocoltest"
)

// travel is what is left of a message on the other side.
func travel[M proto.Message](t interface{ Fatal(args ...any) }, m, into M) M {
	data, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if err = proto.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
	return into
}

// always is a query that every slot answers.
var always = price.Query{Area: "DE-LU", From: math.MinInt64, Until: math.MaxInt64}

// drawSeries draws slots with gaps, of mixed lengths.
func drawSeries(t *rapid.T) (s price.Series) {
	const quarter = int64(price.Resolution)
	at := rapid.Int64Range(-1000, 2_000_000).Draw(t, "start") * quarter
	for range rapid.IntRange(0, 5).Draw(t, "slots") {
		length := rapid.Int64Range(1, 96).Draw(t, "length") * quarter
		s.Slots = append(s.Slots, price.Slot{
			Start: protocol.Instant(at), Length: protocol.Duration(length),
			Price: protocol.Micro(rapid.Int64().Draw(t, "price")),
		})
		at += length + rapid.Int64Range(0, 4).Draw(t, "gap")*quarter
	}
	return s
}

func TestRoundTrips(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := drawSeries(t)
		got, err := pricev1.DecodeSeries(travel(t, pricev1.EncodeSeries(want), &pricev1.PricesResponse{}), always)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("got %+v, %v\nwant %+v", got, err, want)
		}
		query := price.Query{
			Area: rapid.StringN(1, 10, 64).Draw(t, "area"),
			From: protocol.Instant(rapid.Int64().Draw(t, "from")), Until: protocol.Instant(rapid.Int64().Draw(t, "until")),
		}
		if got, err := pricev1.DecodeQuery(travel(t, pricev1.EncodeQuery(query), &pricev1.PricesRequest{})); err != nil || got != query {
			t.Fatalf("got %+v, %v\nwant %+v", got, err, query)
		}
	})
	want := price.Description{Areas: []string{"DE-LU", "FR"}, Currency: "EUR"}
	got, err := pricev1.DecodeDescription(travel(t, pricev1.EncodeDescription(want), &pricev1.DescribeResponse{}))
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v\nwant %+v", got, err, want)
	}
}

func TestDecodeSeriesRefuses(t *testing.T) {
	t.Parallel()
	const quarter = int64(price.Resolution)
	query := price.Query{Area: "FR", From: 0, Until: protocol.Instant(4 * quarter)}
	series := func(numbers ...int64) *pricev1.PricesResponse {
		m := &pricev1.PricesResponse{}
		for i := 0; i < len(numbers); i += 2 {
			m.Start, m.Length, m.Price = append(m.Start, numbers[i]), append(m.Length, numbers[i+1]), append(m.Price, 1)
		}
		return m
	}
	if _, err := pricev1.DecodeSeries(series(-quarter, 2*quarter, 3*quarter, 2*quarter), query); err != nil {
		t.Fatal(err)
	}
	cases := map[string]*pricev1.PricesResponse{
		"start: has 1048577":                    {Start: make([]int64, pricev1.MaxSlots+1)},
		"length: has 0 entries, not 1":          {Start: []int64{0}, Price: []int64{0}},
		"price: has 1 entries, not 0":           {Price: []int64{0}},
		": slot 0 lasts 0s":                     series(0, 0),
		": slot 0 lasts -15m0s":                 series(0, -quarter),
		": slot 0 lasts 1ms":                    series(0, 1),
		": slot 0 lasts 24h15m0s":               series(0, 97*quarter),
		": slot 0 begins at 1970-01-01 00:00:0": series(1, quarter),
		": slot 1 begins at 1970-01-01 00:15:0": series(0, 2*quarter, quarter, quarter),
		": slot 1 begins at 1970-01-01 00:00:0": series(quarter, quarter, 0, quarter),
		": slot 0 at 1970-01-01 01:00:00 +0000": series(4*quarter, quarter),
		": slot 0 at 1969-12-31 23:45:00 +0000": series(-quarter, quarter),
	}
	for want, m := range cases {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			_, err := pricev1.DecodeSeries(m, query)
			protocoltest.Refused(t, err, want)
		})
	}
}

func TestDecodeDescriptionRefuses(t *testing.T) {
	t.Parallel()
	cases := map[string]*pricev1.DescribeResponse{
		"description.areas: has 4097":           {Areas: make([]string, pricev1.MaxAreas+1), Currency: "EUR"},
		`description.areas[0]: "" has 0 bytes`:  {Areas: []string{""}, Currency: "EUR"},
		"description.areas[0]: use 1 to 64":     {Areas: []string{strings.Repeat("x", 65)}, Currency: "EUR"},
		`description: "b" and "a" are not sort`: {Areas: []string{"b", "a"}, Currency: "EUR"},
		"description: no area":                  {Currency: "EUR"},
		"description: no currency":              {Areas: []string{"a"}},
		"description.currency: has 17":          {Areas: []string{"a"}, Currency: strings.Repeat("x", 17)},
	}
	for want, m := range cases {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			_, err := pricev1.DecodeDescription(m)
			protocoltest.Refused(t, err, want)
		})
	}
	_, err := pricev1.DecodeQuery(&pricev1.PricesRequest{})
	protocoltest.Refused(t, err, `query.area: "" has 0 bytes`)
}

func FuzzDecode(f *testing.F) {
	for i := range 4 {
		data, err := proto.Marshal(pricev1.EncodeSeries(rapid.Custom(drawSeries).Example(i)))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	data, err := proto.Marshal(pricev1.EncodeDescription(price.Description{Areas: []string{"DE-LU", "FR"}, Currency: "EUR"}))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		series, query, description := &pricev1.PricesResponse{}, &pricev1.PricesRequest{}, &pricev1.DescribeResponse{}
		if proto.Unmarshal(data, series) == nil {
			decode := func(m *pricev1.PricesResponse) (price.Series, error) { return pricev1.DecodeSeries(m, always) }
			again(t, series, &pricev1.PricesResponse{}, decode, pricev1.EncodeSeries)
		}
		if proto.Unmarshal(data, query) == nil {
			again(t, query, &pricev1.PricesRequest{}, pricev1.DecodeQuery, pricev1.EncodeQuery)
		}
		if proto.Unmarshal(data, description) == nil {
			again(t, description, &pricev1.DescribeResponse{}, pricev1.DecodeDescription, pricev1.EncodeDescription)
		}
	})
}

// again decodes a message and, if it is right, what it encodes to.
func again[M proto.Message, N any](t *testing.T, m, empty M, decode func(M) (N, error), encode func(N) M) {
	t.Helper()
	noun, err := decode(m)
	if err != nil {
		return
	}
	if got, err := decode(travel(t, encode(noun), empty)); err != nil || !reflect.DeepEqual(got, noun) {
		t.Fatalf("got %+v, %v\nwant %+v", got, err, noun)
	}
}
