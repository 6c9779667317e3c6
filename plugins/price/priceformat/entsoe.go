package priceformat

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/switchyard-hpc/switchyard/internal/problems"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// The names of what is read from a Publication_MarketDocument (IEC 62325-451-3).
const (
	xmlDocument      = "Publication_MarketDocument"
	xmlRefusal       = "Acknowledgement_MarketDocument"
	xmlSeries        = "TimeSeries"
	xmlPeriod        = "Period"
	xmlPoint         = "Point"
	xmlInDomain      = "in_Domain.mRID"
	xmlOutDomain     = "out_Domain.mRID"
	xmlCurrency      = "currency_Unit.name"
	xmlEnergy        = "price_Measure_Unit.name"
	xmlSequence      = "classificationSequence_AttributeInstanceComponent.position"
	xmlPriceDocument = "A44" // a document of prices
	xmlEachBlock     = "A01" // a curve that has every position
	xmlChangedBlocks = "A03" // a curve that leaves out what repeats the position before
	xmlPerMWh        = "MWH"
)

// The platform answers for a year and an area at most.
const (
	maxPeriod   = 400 * protocol.Day // length of a period
	maxXMLSlots = 1 << 20            // in a document
)

// xmlSlot is a slot as the document has it: in whatever order.
type xmlSlot struct {
	line int
	area string
	slot price.Slot
}

// entsoe reads a document of day-ahead prices.
func (r *reading) entsoe(text []byte) {
	document, line, err := parseXML(text)
	if err != nil {
		r.problem(line, "not XML: %v", err)
		return
	}
	if document.name == xmlRefusal {
		why, at := document.value("Reason", "text")
		r.problem(at, "the platform refused: %s", problems.Quote(why))
		return
	}
	if document.name != xmlDocument {
		r.problem(document.line, "the document is a %s; day-ahead prices are a %s of type %s", problems.Quote(document.name), xmlDocument, xmlPriceDocument)
		return
	}
	if kind, at := document.value("type"); kind != xmlPriceDocument {
		r.problem(at, "the document is of type %s; day-ahead prices are %s", problems.Quote(kind), xmlPriceDocument)
		return
	}
	r.perMWh = true
	var all []xmlSlot
	for _, series := range document.all(xmlSeries) {
		if all = append(all, r.xmlSeries(series)...); len(all) > maxXMLSlots {
			r.problem(series.line, "the document has more than %d prices", maxXMLSlots)
			return
		}
	}
	slices.SortStableFunc(all, func(a, b xmlSlot) int { return cmp.Compare(a.slot.Start, b.slot.Start) })
	r.xmlAdd(all)
}

// xmlAdd adds what was read, in the order of time.
func (r *reading) xmlAdd(all []xmlSlot) {
	for _, one := range all {
		t := r.track(one.area)
		if n := len(t.slots); n > 0 && one.slot.Start < t.slots[n-1].End() {
			r.problem(one.line, "%s has two prices for %s, the other one in line %d; if they are of two auctions, set sequence to the %s to use",
				one.area, r.time(one.slot.Start), t.line, xmlSequence)
			continue
		}
		r.add(one.line, one.area, one.slot)
	}
}

// xmlSeries reads a TimeSeries, if it is of the auction that is asked for.
func (r *reading) xmlSeries(series *element) (slots []xmlSlot) {
	sequence, _ := series.value(xmlSequence)
	if r.Sequence != 0 && sequence != "" && sequence != strconv.Itoa(r.Sequence) {
		return nil
	}
	found := len(r.problems)
	domain, line := series.value(xmlInDomain)
	if out, at := series.value(xmlOutDomain); out != domain {
		r.problem(at, "the time series is for %s and %s; prices are for one area", problems.Quote(domain), problems.Quote(out))
	}
	area, ok := r.area(line, domain)
	if !ok {
		return nil
	}
	currency, line := series.value(xmlCurrency)
	if currency == "" {
		r.problem(line, "the time series has no %s", xmlCurrency)
	} else {
		r.currency(line, currency)
	}
	if energy, at := series.value(xmlEnergy); energy != xmlPerMWh {
		r.problem(at, "the prices are per %s; only %s is read", problems.Quote(energy), xmlPerMWh)
	}
	curve, line := series.value("curveType")
	if curve != "" && curve != xmlEachBlock && curve != xmlChangedBlocks {
		r.problem(line, "the curve type %s is unknown; %s and %s are read", problems.Quote(curve), xmlEachBlock, xmlChangedBlocks)
	}
	if len(r.problems) > found {
		return nil
	}
	for _, period := range series.all(xmlPeriod) {
		slots = append(slots, r.xmlPeriod(period, area, curve == xmlChangedBlocks)...)
		if len(slots) > maxXMLSlots {
			break
		}
	}
	return slots
}

// xmlPeriod reads a Period; in one that fills up, a position that is left out repeats
// the one before.
func (r *reading) xmlPeriod(period *element, area string, fills bool) (slots []xmlSlot) {
	begin, count, length, ok := r.xmlFrame(period)
	if !ok {
		return nil
	}
	last := xmlSlot{}
	fill := func(until int) {
		for position := last.position(begin, length) + 1; fills && len(slots) > 0 && position < until; position++ {
			last.slot.Start = last.slot.End()
			slots = append(slots, last)
		}
	}
	for _, point := range period.all(xmlPoint) {
		text, line := point.value("position")
		position, err := strconv.Atoi(text)
		if err != nil || position < 1 || position > count {
			r.problem(line, "the position %s is not one of the %d of the period", problems.Quote(text), count)
			return nil
		}
		if len(slots) > 0 && position <= last.position(begin, length) {
			r.problem(line, "the position %d comes again, or too late; they count upwards", position)
			return nil
		}
		text, line = point.value("price.amount")
		amount, ok := r.price(line, text, '.')
		if !ok {
			continue
		}
		fill(position)
		last = xmlSlot{line, area, price.Slot{
			Start: begin.Add(protocol.Duration(position-1) * length), Length: length, Price: amount,
		}}
		slots = append(slots, last)
	}
	fill(count + 1)
	if len(slots) < count && !r.Gaps {
		r.problem(period.line, "the period has room for %d prices and gives %d; set gaps = true if that is in order", count, len(slots))
	}
	return slots
}

// position is the place of a slot in its period, from 1.
func (s xmlSlot) position(begin protocol.Instant, length protocol.Duration) int {
	return int(s.slot.Start.Sub(begin)/length) + 1
}

// xmlFrame reads when a period begins and how many slots of which length it has.
func (r *reading) xmlFrame(period *element) (begin protocol.Instant, count int, length protocol.Duration, ok bool) {
	text, line := period.value("resolution")
	if length, ok = xmlResolution(text); !ok {
		r.problem(line, "the resolution %s is unknown; PT15M, PT30M and PT60M are read", problems.Quote(text))
		return 0, 0, 0, false
	}
	begin, beginOK := r.xmlBound(period, "start")
	end, endOK := r.xmlBound(period, "end")
	if !beginOK || !endOK {
		return 0, 0, 0, false
	}
	span := end.Sub(begin)
	if span <= 0 || span > maxPeriod || span%length != 0 {
		r.problem(line, "the period lasts %v, which %s does not divide, or which is more than %d days", span, text, maxPeriod/protocol.Day)
		return 0, 0, 0, false
	}
	return begin, int(span / length), length, true
}

// xmlBound reads the start or the end of a period, which are days of the zone, if one
// is named.
func (r *reading) xmlBound(period *element, name string) (at protocol.Instant, ok bool) {
	text, line := period.value("timeInterval", name)
	read, ok := parseTime(text)
	if !ok {
		r.problem(line, "the %s of the period, %s, is no time; it is written as 2026-01-31T23:00Z", name, problems.Quote(text))
		return 0, false
	}
	if r.Zone != nil {
		if clock := read.In(r.Zone); clock.Hour() != 0 || clock.Minute() != 0 {
			r.problem(line, "the %s of the period, %s, is not midnight in %s but %s; correct the key zone, or leave it out",
				name, text, r.Zone, clock.Format("15:04"))
			return 0, false
		}
	}
	return protocol.InstantOf(read), true
}

func xmlResolution(text string) (length protocol.Duration, ok bool) {
	switch text {
	case "PT15M":
		return 15 * protocol.Minute, true
	case "PT30M":
		return 30 * protocol.Minute, true
	case "PT60M", "PT1H":
		return protocol.Hour, true
	}
	return 0, false
}
