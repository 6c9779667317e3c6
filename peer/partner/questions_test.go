package partner_test

import (
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/partner"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func TestQuestions(t *testing.T) {
	t.Parallel()
	var q partner.Questions
	one := func(round protocol.RoundID) partner.Question {
		return partner.Question{Request: protocol.QuoteRequest{Round: round}, Until: protocol.Instant(round) * 10}
	}
	if q.Full() {
		t.Fatal("full from the start")
	}
	q.Begin()
	if q.Full() {
		t.Fatal("one takes both places")
	}
	q.Begin()
	if !q.Full() {
		t.Fatal("two leave a place")
	}
	if before := q.PutOff(one(3)); before != nil {
		t.Errorf("%+v has waited", before)
	}
	if before := q.PutOff(one(4)); before == nil || before.Request.Round != 3 || before.Until != 30 {
		t.Errorf("%+v has waited, want 3", before)
	}
	if next := q.Answered(); next == nil || next.Request.Round != 4 || next.Until != 40 {
		t.Errorf("%+v gets the place, want 4", next)
	}
	if q.Full() {
		t.Error("full with one that is answered")
	}
}
