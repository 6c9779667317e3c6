package pricev1

import (
	"fmt"

	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
	"github.com/switchyard-hpc/switchyard/protocol/wire"
)

// Limits of what travels.
const (
	MaxAreas = 4096
	MaxSlots = 1 << 20 // of a quarter of an hour: 29 years
)

// EncodeDescription converts what a feed offers.
func EncodeDescription(d price.Description) *DescribeResponse {
	return &DescribeResponse{Areas: d.Areas, Currency: d.Currency}
}

// DecodeDescription checks and converts what a feed offers. The error names the
// field.
func DecodeDescription(m *DescribeResponse) (price.Description, error) {
	d := price.Description{Areas: m.GetAreas(), Currency: m.GetCurrency()}
	if err := wire.First(
		wire.AtMost("areas", len(d.Areas), MaxAreas),
		wire.AtMost("currency", len(d.Currency), protocol.MaxCurrency),
		wire.Each("areas", d.Areas, checkArea),
		d.Check(),
	); err != nil {
		return price.Description{}, wire.In("description", err)
	}
	return d, nil
}

// EncodeQuery converts a query.
func EncodeQuery(q price.Query) *PricesRequest {
	return &PricesRequest{Area: q.Area, From: int64(q.From), Until: int64(q.Until)}
}

// DecodeQuery checks and converts a query. One for a time that ends before it
// begins asks for nothing.
func DecodeQuery(m *PricesRequest) (price.Query, error) {
	if err := checkArea(m.GetArea()); err != nil {
		return price.Query{}, wire.In("query", wire.In("area", err))
	}
	return price.Query{
		Area: m.GetArea(), From: protocol.Instant(m.GetFrom()), Until: protocol.Instant(m.GetUntil()),
	}, nil
}

// EncodeSeries converts prices.
func EncodeSeries(s price.Series) *PricesResponse {
	n := len(s.Slots)
	m := &PricesResponse{Start: make([]int64, n), Length: make([]int64, n), Price: make([]int64, n)}
	for i, slot := range s.Slots {
		m.Start[i], m.Length[i], m.Price[i] = int64(slot.Start), int64(slot.Length), int64(slot.Price)
	}
	return m
}

// DecodeSeries checks and converts the prices that answer a query. The error names
// the column or the slot.
func DecodeSeries(m *PricesResponse, query price.Query) (price.Series, error) {
	n := len(m.GetStart())
	if err := wire.First(
		wire.AtMost("start", n, MaxSlots),
		wire.Length("length", len(m.GetLength()), n),
		wire.Length("price", len(m.GetPrice()), n),
	); err != nil || n == 0 {
		return price.Series{}, err
	}
	s := price.Series{Slots: make([]price.Slot, n)}
	for i := range s.Slots {
		s.Slots[i] = price.Slot{
			Start:  protocol.Instant(m.GetStart()[i]),
			Length: protocol.Duration(m.GetLength()[i]),
			Price:  protocol.Micro(m.GetPrice()[i]),
		}
	}
	if err := s.Check(query); err != nil {
		return price.Series{}, err
	}
	return s, nil
}

func checkArea(area string) error {
	if area == "" || len(area) > protocol.MaxName {
		return fmt.Errorf("%.80q has %d bytes; use 1 to %d", area, len(area), protocol.MaxName)
	}
	return nil
}
