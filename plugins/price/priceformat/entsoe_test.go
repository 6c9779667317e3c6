package priceformat_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/plugins/price/priceformat"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// excerpt is the hand-made document.
func excerpt(tb testing.TB) string {
	tb.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "entsoe-a44.xml"))
	if err != nil {
		tb.Fatal(err)
	}
	return string(text)
}

// A day of 24 hours, then one of 23 in quarters of an hour of which few are given.
func TestReadENTSOE(t *testing.T) {
	t.Parallel()
	set := read(t, priceformat.ENTSOE, excerpt(t), priceformat.Options{Zone: zone(t, "Europe/Oslo"), Rename: map[string]string{"10YFI-1--------U": "FI"}})
	slots := set.Find("FI").Series.Slots
	if set.Currency != "EUR" || len(slots) != 24+92 {
		t.Fatalf("got %d prices in %s, want %d in EUR", len(slots), set.Currency, 24+92)
	}
	for i, slot := range slots {
		want, length := protocol.Micro(-1_720_000), 15*protocol.Minute
		switch {
		case i < 24:
			want, length = slot.Price, protocol.Hour
		case i < 26:
			want = 41_500_000
		case i == 24+91:
			want = 60 * unit
		}
		if slot.Price != want || slot.Length != length || i > 0 && slot.Start != slots[i-1].End() {
			t.Errorf("slot %d is %+v, want the price %d for %v", i, slot, want, length)
		}
	}
	if slots[0].Price != 16_500_000 || slots[23].Price != 19*unit {
		t.Errorf("the first day is %v", slots[:24])
	}
}

func TestReadENTSOERefuses(t *testing.T) {
	t.Parallel()
	whole := excerpt(t)
	// change replaces a part once, from the last time series on if it is the only one there.
	change := func(old, replacement string) string {
		if !strings.Contains(whole, old) {
			t.Fatalf("the excerpt has no %q", old)
		}
		return strings.Replace(whole, old, replacement, 1)
	}
	none := priceformat.Options{}
	refuses(t, priceformat.ENTSOE, map[string]refusal{
		"nothing":          {"", none, []string{"prices:1: not XML: the document is empty"}},
		"not XML":          {"start,price\n", none, []string{"not XML: the document is empty"}},
		"cut off":          {whole[:1000], none, []string{"prices:19: not XML: unexpected EOF"}},
		"no prices":        {change("TimeSeries>", "Series>"), none, []string{"prices:"}},
		"another document": {"<?xml version=\"1.0\"?>\n<GL_MarketDocument/>", none, []string{`prices:2: the document is a "GL_MarketDocument"`}},
		"a refusal": {
			"<Acknowledgement_MarketDocument>\n<Reason><code>999</code>\n<text>No matching data found</text></Reason></Acknowledgement_MarketDocument>", none,
			[]string{`prices:3: the platform refused: "No matching data found"`},
		},
		"another type":       {change("<type>A44", "<type>A65"), none, []string{`prices:6: the document is of type "A65"; day-ahead prices are A44`}},
		"per kWh":            {change("MWH", "KWH"), none, []string{`prices:24: the prices are per "KWH"; only MWH is read`}},
		"no unit":            {change("price_Measure_Unit.name>MWH</price_Measure_Unit.name>", "x/>"), none, []string{`prices:16: the prices are per ""`}},
		"no currency":        {change("<currency_Unit.name>EUR</currency_Unit.name>", ""), none, []string{"prices:16: the time series has no currency_Unit.name"}},
		"two currencies":     {change("EUR", "SEK"), none, []string{"prices:44: the prices are in EUR, but before, or by the key currency, in SEK"}},
		"not the currency":   {whole, priceformat.Options{Currency: "NOK"}, []string{"prices:23: the prices are in EUR, but before, or by the key currency, in NOK"}},
		"two areas":          {change("10YFI-1--------U</out", "10YSE-1--------K</out"), none, []string{`prices:21: the time series is for "10YFI-1--------U" and "10YSE-1--------K"`}},
		"a curve unknown":    {change("A03", "A02"), none, []string{`prices:25: the curve type "A02" is unknown`}},
		"a resolution":       {change("PT15M", "P1D"), none, []string{`prices:31: the resolution "P1D" is unknown; PT15M`}},
		"no interval":        {change("timeInterval>\n        <start>2026-03-28", "x>\n        <start>2026-03-28"), none, []string{"prices:"}},
		"no such time":       {change("<start>2026-03-28T23:00Z", "<start>2026-03-28T23:00"), none, []string{`prices:28: the start of the period, "2026-03-28T23:00", is no time`}},
		"ends before it":     {change("<end>2026-03-29T22:00Z</end>\n      </t", "<end>2026-03-27T22:00Z</end>\n      </t"), none, []string{"prices:31: the period lasts"}},
		"a position beyond":  {change("<position>92<", "<position>93<"), none, []string{`prices:34: the position "93" is not one of the 92 of the period`}},
		"a position again":   {change("<position>92<", "<position>3<"), none, []string{"prices:34: the position 3 comes again, or too late"}},
		"a position before":  {change("<position>3</position><price.amount>-", "<position>1</position><price.amount>-"), none, []string{"prices:33: the position 1 comes again"}},
		"no position":        {change("<position>92</position>", ""), none, []string{`prices:34: the position "" is not one`}},
		"no price":           {change(">60<", "><"), none, []string{`prices:34: "" is no price`}},
		"the first left out": {change("<position>1<", "<position>2<"), none, []string{"prices:26: the period has room for 92 prices and gives 91"}},
		"a gap in A01": {
			change("<Point><position>20</position><price.amount>32.00</price.amount></Point>", ""), none,
			[]string{"prices:47: the period has room for 24 prices and gives 23; set gaps = true"},
		},
		"a day missing": {
			change("<start>2026-03-27T23:00Z</start>\n        <end>2026-03-28T23:00Z", "<start>2026-03-26T23:00Z</start>\n        <end>2026-03-27T23:00Z"), none,
			[]string{"prices:32: 10YFI-1--------U has no price from 2026-03-27 23:00 +00:00 until 2026-03-28 23:00 +00:00"},
		},
		"a slip of an hour": {whole, priceformat.Options{Zone: zone(t, "Europe/Helsinki")}, []string{
			"prices:28: the start of the period, 2026-03-28T23:00Z, is not midnight in Europe/Helsinki but 01:00; correct the key zone",
		}},
		"too deep": {strings.Repeat("<a>", 100), none, []string{"prices:1: not XML: its elements lie more than 32 deep"}},
	})
}

// Two auctions have prices for the same hours: one must be named.
func TestENTSOESequence(t *testing.T) {
	t.Parallel()
	const mark = "<classificationSequence_AttributeInstanceComponent.position>%</classificationSequence_AttributeInstanceComponent.position>"
	before, second, _ := strings.Cut(excerpt(t), "</TimeSeries>")
	head, series, _ := strings.Cut(before, "<TimeSeries>")
	one := func(sequence, expensive string) string {
		return "<TimeSeries>" + strings.ReplaceAll(mark, "%", sequence) + strings.ReplaceAll(series, ">60<", ">"+expensive+"<") + "</TimeSeries>"
	}
	text := head + one("1", "60") + one("2", "70") + second
	refuses(t, priceformat.ENTSOE, map[string]refusal{"both": {text, priceformat.Options{}, []string{"has two prices for", "set sequence to the classificationSequence"}}})
	for sequence, expensive := range map[int]protocol.Micro{1: 60, 2: 70} {
		slots := read(t, priceformat.ENTSOE, text, priceformat.Options{Sequence: sequence}).Curves[0].Series.Slots
		if got := slots[len(slots)-1].Price; len(slots) != 24+92 || got != expensive*unit {
			t.Errorf("sequence %d: %d prices, the last is %d", sequence, len(slots), got)
		}
	}
}

// With gaps, positions that are missing are left out of a curve that does not fill up.
func TestENTSOEGaps(t *testing.T) {
	t.Parallel()
	text := strings.Replace(excerpt(t), "A03", "A01", 1)
	if got := len(read(t, priceformat.ENTSOE, text, priceformat.Options{Gaps: true}).Curves[0].Series.Slots); got != 24+3 {
		t.Errorf("got %d prices, want %d", got, 24+3)
	}
}
