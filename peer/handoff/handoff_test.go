package handoff_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/broker"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/handoff"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/protocol"
)

const noon protocol.Instant = 1_800_000_000_000

var (
	id  = protocol.NewJobID(1, 7)
	tag = protocol.Tag{Job: id, Epoch: 3}
)

func job(phase row.JobPhase, change ...func(*row.Job)) *row.Job {
	j := &row.Job{Spec: protocol.Spec{Request: protocol.Request{Job: id}}, Phase: phase, Epoch: 3, Site: "b"}
	for _, f := range change {
		f(j)
	}
	return j
}

func guest(phase row.GuestPhase, change ...func(*row.Guest)) *row.Guest {
	g := &row.Guest{Spec: protocol.Spec{Request: protocol.Request{Job: id}}, Origin: "a", Phase: phase, Epoch: 3}
	for _, f := range change {
		f(g)
	}
	return g
}

func reserves(j *row.Job)         { j.ReserveFrom = noon }
func reserved(j *row.Job)         { j.ReserveFrom, j.ReservedAt = noon, noon+1 }
func cancelling(j *row.Job)       { j.Cancelling = true }
func guestReserves(g *row.Guest)  { g.ReserveFrom = noon }
func guestReserved(g *row.Guest)  { g.ReserveFrom, g.ReservedAt = noon, noon+1 }
func returnUnacked(g *row.Guest)  { g.ReturnUnacked = true }
func ownershipGuess(g *row.Guest) { g.OwnershipGuessed = true }

var (
	toB = func(m protocol.Message) []event.Outgoing { return []event.Outgoing{{To: "b", Body: m}} }

	ending = job(row.JobEnding, func(j *row.Job) {
		j.Fenced = []row.FencedPlacement{{Site: "c", Epoch: 1}, {Site: "d", Epoch: 2, Lost: true}}
	})
)

// TestDue: each phase repeats one message, or none.
func TestDue(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		job      *row.Job
		attempts int
		check    bool
		want     handoff.Step
		messages []event.Outgoing
	}{
		"in the grid queue":              {job(row.JobInGridQueue), 0, false, handoff.Nothing, nil},
		"in the local queue":             {job(row.JobCommittedLocal), 0, false, handoff.Nothing, nil},
		"its output comes":               {job(row.JobStagingOut), 0, false, handoff.Nothing, nil},
		"offered":                        {job(row.JobOffered), 2, false, handoff.SendOffer, nil},
		"offered too often":              {job(row.JobOffered), 3, false, handoff.EndAttempts, nil},
		"offered, and reserved":          {job(row.JobOffered, reserved), 3, false, handoff.DecideGroup, nil},
		"reserving here":                 {job(row.JobReserving, reserves), 2, false, handoff.ReserveLocally, nil},
		"reserving here too often":       {job(row.JobReserving, reserves), 3, false, handoff.EndAttempts, nil},
		"reserved here":                  {job(row.JobReserving, reserved), 0, false, handoff.DecideGroup, nil},
		"granted, however often":         {job(row.JobGranted), 99, false, handoff.SendMessages, toB(protocol.Grant{Tag: tag})},
		"handed off":                     {job(row.JobHandedOff), 0, false, handoff.Nothing, nil},
		"handed off to a new store":      {job(row.JobHandedOff), 0, true, handoff.SendMessages, toB(protocol.Grant{Tag: tag})},
		"recalled":                       {job(row.JobRecalling), 0, false, handoff.SendMessages, toB(protocol.Recall{Tag: tag})},
		"cancelled":                      {job(row.JobRecalling, cancelling), 0, false, handoff.SendMessages, toB(protocol.Recall{Tag: tag, Cancel: true})},
		"its group did not start":        {job(row.JobRecalling, func(j *row.Job) { j.Parted = true }), 0, false, handoff.SendMessages, toB(protocol.Recall{Tag: tag, Cancel: true})},
		"ending, with sites to be heard": {ending, 0, false, handoff.SendMessages, []event.Outgoing{{To: "c", Body: protocol.Recall{Tag: protocol.Tag{Job: id, Epoch: 1}, Cancel: true}}}},
	} {
		step, messages := handoff.Due(tt.job, tt.attempts, tt.check)
		if step != tt.want || !reflect.DeepEqual(messages, tt.messages) {
			t.Errorf("%s: step %d, messages %v", name, step, messages)
		}
	}
}

// TestOfferOf: a tolerance goes with a reservation only.
func TestOfferOf(t *testing.T) {
	t.Parallel()
	payload := &protocol.Payload{Script: []byte("x")}
	plain, member := handoff.OfferOf(job(row.JobOffered), payload, protocol.Minute), handoff.OfferOf(job(row.JobOffered, reserves), payload, protocol.Minute)
	if plain.Tolerance != 0 || plain.Start != 0 || plain.Tag() != tag || plain.Payload != payload {
		t.Errorf("%+v", plain)
	}
	if member.Tolerance != protocol.Minute || member.Start != noon {
		t.Errorf("%+v", member)
	}
}

// TestOnPrepared: what the origin does about a partner that has what the job needs.
func TestOnPrepared(t *testing.T) {
	t.Parallel()
	abort, recall := protocol.Abort{Tag: tag}, protocol.Recall{Tag: tag, Cancel: true}
	for name, tt := range map[string]struct {
		job    *row.Job
		start  protocol.Instant
		fenced bool
		want   handoff.Step
		send   protocol.Message
	}{
		"the job is not the partner's":      {nil, 0, false, handoff.Nothing, abort},
		"it was taken from the partner":     {nil, 0, true, handoff.Nothing, recall},
		"it is queued again":                {job(row.JobInGridQueue), 0, false, handoff.Nothing, abort},
		"it is in the local queue":          {job(row.JobCommittedLocal), 0, false, handoff.Nothing, abort},
		"this site reserves for it":         {job(row.JobReserving, reserves), 0, false, handoff.Nothing, abort},
		"it was offered":                    {job(row.JobOffered), 0, false, handoff.Grant, nil},
		"it was granted":                    {job(row.JobGranted), 0, false, handoff.SendAgain, nil},
		"it is recalled":                    {job(row.JobRecalling), 0, false, handoff.SendAgain, nil},
		"it was handed off":                 {job(row.JobHandedOff), 0, false, handoff.Nothing, nil},
		"its output comes":                  {job(row.JobStagingOut), 0, false, handoff.Nothing, nil},
		"a member, on time":                 {job(row.JobOffered, reserves), noon, false, handoff.NoteReservation, nil},
		"a member, at the last instant":     {job(row.JobOffered, reserves), noon.Add(handoff.MaxReserveAhead), false, handoff.NoteReservation, nil},
		"a member, too early":               {job(row.JobOffered, reserves), noon - 1, false, handoff.ExcludeAndAbort, nil},
		"a member, without an instant":      {job(row.JobOffered, reserves), 0, false, handoff.ExcludeAndAbort, nil},
		"a member, far too late":            {job(row.JobOffered, reserves), noon.Add(handoff.MaxReserveAhead + 1), false, handoff.ExcludeAndAbort, nil},
		"a member, once more":               {job(row.JobOffered, reserved), noon + 1, false, handoff.Nothing, nil},
		"a member, whose reservation moved": {job(row.JobOffered, reserved), noon + 2, false, handoff.AbortGroup, nil},
	} {
		got := handoff.OnPrepared(tt.job, protocol.Prepared{Tag: tag, Start: tt.start}, tt.fenced, noon)
		explains := got.Do == handoff.ExcludeAndAbort || got.Do == handoff.AbortGroup
		if got.Do != tt.want || !reflect.DeepEqual(got.Send, tt.send) || explains != strings.HasPrefix(got.Reason, "b ") {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestGrantOnlyAfterPrepared: the invariant of the package. The first Grant of an epoch leaves only in the
// phase granted, which only the answer to Prepared enters, from the phase offered of the same site.
func TestGrantOnlyAfterPrepared(t *testing.T) {
	t.Parallel()
	for _, phase := range []row.JobPhase{
		row.JobInGridQueue, row.JobReserving, row.JobCommittedLocal, row.JobOffered, row.JobGranted, row.JobHandedOff, row.JobRecalling,
		row.JobStagingOut, row.JobEnding,
	} {
		if got := handoff.OnPrepared(job(phase), protocol.Prepared{Tag: tag}, false, noon); (got.Do == handoff.Grant) != (phase == row.JobOffered) {
			t.Errorf("phase %s: Prepared is answered with step %d", phase, got.Do)
		}
		_, messages := handoff.Due(job(phase), 0, false)
		for _, m := range messages {
			if _, grant := m.Body.(protocol.Grant); grant && (phase != row.JobGranted || m.To != "b") {
				t.Errorf("phase %s: a grant goes to %s", phase, m.To)
			}
		}
	}
}

// TestOnUnknown: only the store that prepared the job proves by not knowing it that it did not start.
func TestOnUnknown(t *testing.T) {
	t.Parallel()
	holder := func(j *row.Job) { j.Holder = 5 }
	restored := func(j *row.Job) { j.Holder, j.Restored = 5, true }
	for name, tt := range map[string]struct {
		job  *row.Job
		m    protocol.UnknownJob
		want handoff.Step
	}{
		"no such job":              {nil, protocol.UnknownJob{}, handoff.Nothing},
		"not granted":              {job(row.JobOffered, holder), protocol.UnknownJob{}, handoff.Nothing},
		"the store goes on":        {job(row.JobHandedOff, holder), protocol.UnknownJob{}, handoff.Requeue},
		"another store":            {job(row.JobHandedOff, func(j *row.Job) { j.Holder = 4 }), protocol.UnknownJob{}, handoff.MayHaveRun},
		"which store is not known": {job(row.JobHandedOff), protocol.UnknownJob{}, handoff.MayHaveRun},
		"the row was restored":     {job(row.JobGranted, restored), protocol.UnknownJob{}, handoff.MayHaveRun},
		"it cannot tell":           {job(row.JobRecalling, holder), protocol.UnknownJob{InDoubt: true}, handoff.MayHaveRun},
	} {
		if got := handoff.OnUnknown(tt.job, tt.m, 5); got.Do != tt.want || (got.Reason == "") != (tt.want == handoff.Nothing) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestInDoubt: a job that may have run is requeued only if its user allows that, and ends only if it is
// cancelled.
func TestInDoubt(t *testing.T) {
	t.Parallel()
	requeue := func(j *row.Job) { j.Spec.Requeue = true }
	for name, tt := range map[string]struct {
		job             *row.Job
		lost, endsGroup bool
		want            handoff.Step
		reason          string
	}{
		"a plain job":                      {job(row.JobHandedOff), true, false, handoff.AskOperator, "why"},
		"cancelled":                        {job(row.JobRecalling, cancelling), true, false, handoff.CloseUnknown, "why"},
		"cancelled, and may be requeued":   {job(row.JobRecalling, cancelling, requeue), true, false, handoff.CloseUnknown, "why"},
		"it may be requeued":               {job(row.JobHandedOff, requeue), false, false, handoff.FenceAndRequeue, "why"},
		"it may, and its records are lost": {job(row.JobHandedOff, requeue), true, false, handoff.FenceAndRequeue, "its site has lost its records"},
		"it may, and its group would end":  {job(row.JobHandedOff, requeue), true, true, handoff.AskOperator, "why"},
	} {
		if got := handoff.InDoubt(tt.job, "why", tt.lost, tt.endsGroup); got.Do != tt.want || got.Reason != tt.reason {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestFencedOf: a site is told to end an epoch only if that is certainly over.
func TestFencedOf(t *testing.T) {
	t.Parallel()
	restored := func(j *row.Job) { j.Restored = true }
	for name, tt := range map[string]struct {
		job    *row.Job
		epoch  protocol.Epoch
		issued bool
		want   protocol.Epoch // 0: nothing is said
	}{
		"a later epoch":         {job(row.JobInGridQueue), 2, true, 3},
		"the same epoch":        {job(row.JobInGridQueue), 3, true, 4},
		"an epoch to come":      {job(row.JobInGridQueue), 4, true, 0},
		"a restored row":        {job(row.JobInGridQueue, restored), 2, true, 0},
		"it has ended":          {nil, 3, true, 4},
		"another store's":       {nil, 3, false, 0},
		"a row, and not issued": {job(row.JobInGridQueue), 2, false, 3},
	} {
		about, want := protocol.Tag{Job: id, Epoch: tt.epoch}, protocol.Message(nil)
		if tt.want != 0 {
			want = protocol.Fenced{Tag: about, Current: tt.want}
		}
		if got := handoff.FencedOf(tt.job, about, tt.issued); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestReturnReason: a site's own reason is kept where it says why the job did not start.
func TestReturnReason(t *testing.T) {
	t.Parallel()
	says := func(reason string) *row.Job { return job(row.JobHandedOff, func(j *row.Job) { j.Reason = reason }) }
	for _, tt := range []struct {
		job  *row.Job
		want string
	}{
		{nil, "its site gave it back"},
		{says("Priority"), "its site gave it back"},
		{says(handoff.RefusedByScheduler + "no"), "b: the local scheduler refused it: no"},
		{says(handoff.NotInPlace + "no"), "b: it cannot run in its own directory: no"},
		{says(broker.MissedStart + "late"), "b: " + broker.MissedStart + "late"},
	} {
		if got := handoff.ReturnReason(tt.job, "b"); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}

// TestOffered: which offers may be prepared, by who the job is and by what is kept of it.
func TestOffered(t *testing.T) {
	t.Parallel()
	accept, expired := protocol.Accept{Tag: tag}, protocol.PrepareExpired{Tag: tag}
	for name, tt := range map[string]struct {
		change func(*handoff.Offered)
		want   handoff.Reply
		send   protocol.Message
	}{
		"a new job":                      {func(*handoff.Offered) {}, handoff.Take, nil},
		"no payload":                     {func(o *handoff.Offered) { o.Offer.Payload = nil }, handoff.Refuse, nil},
		"no card":                        {func(o *handoff.Offered) { o.Card = nil }, handoff.Refuse, nil},
		"another site's ID":              {func(o *handoff.Offered) { o.Card = &protocol.Card{Number: 9} }, handoff.Refuse, nil},
		"this site's number":             {func(o *handoff.Offered) { o.Number = 1 }, handoff.Refuse, nil},
		"an ID of this site":             {func(o *handoff.Offered) { o.OwnJob = true }, handoff.Refuse, nil},
		"the local scheduler has it":     {func(o *handoff.Offered) { o.InQueue = true }, handoff.Refuse, nil},
		"another origin":                 {func(o *handoff.Offered) { o.Guest = guest(row.GuestPrepared); o.Guest.Origin = "c" }, handoff.Refuse, nil},
		"an earlier epoch":               {func(o *handoff.Offered) { o.Guest = guest(row.GuestClosed); o.Offer.Epoch = 2 }, handoff.Refuse, nil},
		"again, prepared":                {func(o *handoff.Offered) { o.Guest = guest(row.GuestPrepared) }, handoff.Send, protocol.Prepared{Tag: tag}},
		"again, not reserved yet":        {func(o *handoff.Offered) { o.Guest = guest(row.GuestPrepared, guestReserves) }, handoff.Send, nil},
		"again, reserved":                {func(o *handoff.Offered) { o.Guest = guest(row.GuestPrepared, guestReserved) }, handoff.Send, protocol.Prepared{Tag: tag, Start: noon + 1}},
		"again, accepted":                {func(o *handoff.Offered) { o.Guest = guest(row.GuestAccepted) }, handoff.Send, accept},
		"again, expired":                 {func(o *handoff.Offered) { o.Guest = guest(row.GuestAborted) }, handoff.Send, expired},
		"again, closed":                  {func(o *handoff.Offered) { o.Guest = guest(row.GuestClosed) }, handoff.Send, nil},
		"a later epoch, prepared before": {func(o *handoff.Offered) { o.Guest = guest(row.GuestPrepared); o.Offer.Epoch = 4 }, handoff.Replace, nil},
		"a later epoch, accepted before": {func(o *handoff.Offered) { o.Guest = guest(row.GuestAccepted); o.Offer.Epoch = 4 }, handoff.FenceAndRefuse, nil},
		"a later epoch, aborted before":  {func(o *handoff.Offered) { o.Guest = guest(row.GuestAborted); o.Offer.Epoch = 4 }, handoff.Take, nil},
		"a later epoch, ended here":      {func(o *handoff.Offered) { o.Guest = guest(row.GuestClosed); o.Offer.Epoch = 4 }, handoff.Refuse, nil},
		"ended here, and may run twice": {func(o *handoff.Offered) {
			o.Guest = guest(row.GuestClosed)
			o.Offer.Epoch, o.Offer.Spec.Requeue = 4, true
		}, handoff.Take, nil},
		"ended here, requeued by force":      {func(o *handoff.Offered) { o.Guest = guest(row.GuestClosed); o.Offer.Epoch, o.Offer.Forced = 4, true }, handoff.Take, nil},
		"ended here, and never granted, may": {func(o *handoff.Offered) { o.Guest = guest(row.GuestClosed, ownershipGuess); o.Offer.Epoch = 4 }, handoff.Take, nil},
	} {
		o := handoff.Offered{
			Offer: protocol.Offer{Spec: protocol.Spec{Request: protocol.Request{Job: id}}, Epoch: 3, Payload: &protocol.Payload{}}, From: "a",
			Card: &protocol.Card{Number: 1}, Number: 2,
		}
		tt.change(&o)
		got := o.Judge()
		refused := got.Do == handoff.Refuse || got.Do == handoff.FenceAndRefuse
		if got.Do != tt.want || !reflect.DeepEqual(got.Send, tt.send) || refused != (got.Reason != "") {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestTargetMessages: grant, recall and abort, in each phase of the guest.
func TestTargetMessages(t *testing.T) {
	t.Parallel()
	later := protocol.Tag{Job: id, Epoch: 4}
	accept, expired, recalled, unknown := protocol.Accept{Tag: tag}, protocol.PrepareExpired{Tag: tag}, protocol.Recalled{Tag: tag}, protocol.UnknownJob{Tag: tag}
	type reply = handoff.Answer[handoff.Reply]
	for name, tt := range map[string]struct {
		guest         *row.Guest
		from          protocol.SiteName
		tag           protocol.Tag
		grant, recall reply
		abort         handoff.Reply
	}{
		"none":           {nil, "a", tag, reply{Do: handoff.NotHere}, reply{Do: handoff.NotHere}, handoff.Ignore},
		"another origin": {guest(row.GuestPrepared), "c", tag, reply{Do: handoff.NotHere}, reply{Do: handoff.NotHere}, handoff.Ignore},
		"a later epoch":  {guest(row.GuestPrepared), "a", later, reply{Do: handoff.NotHere}, reply{Do: handoff.NotHere}, handoff.Ignore},
		"an earlier epoch": {
			guest(row.GuestPrepared, func(g *row.Guest) { g.Epoch = 4 }), "a", tag,
			reply{Do: handoff.Send, Send: expired},
			reply{Do: handoff.Send, Send: recalled},
			handoff.Ignore,
		},
		"prepared": {
			guest(row.GuestPrepared), "a", tag,
			reply{Do: handoff.Start, Send: accept},
			reply{Do: handoff.Expire, Send: recalled},
			handoff.Forget,
		},
		"reserved": {
			guest(row.GuestPrepared, guestReserved), "a", tag,
			reply{Do: handoff.Start, Send: accept},
			reply{Do: handoff.Expire, Send: recalled},
			handoff.Expire,
		},
		"accepted": {
			guest(row.GuestAccepted), "a", tag,
			reply{Do: handoff.Send, Send: accept},
			reply{Do: handoff.Withdraw},
			handoff.Ignore,
		},
		"aborted": {
			guest(row.GuestAborted), "a", tag,
			reply{Do: handoff.Send, Send: expired},
			reply{Do: handoff.Send, Send: recalled},
			handoff.Ignore,
		},
		"closed": {
			guest(row.GuestClosed), "a", tag,
			reply{Do: handoff.Send, Send: unknown},
			reply{Do: handoff.Send, Send: unknown},
			handoff.Ignore,
		},
	} {
		grant, recall := handoff.OnGrant(tt.guest, tt.from, tt.tag), handoff.OnRecall(tt.guest, tt.from, tt.tag)
		abort := handoff.OnAbort(tt.guest, tt.from, tt.tag)
		if !reflect.DeepEqual(grant, tt.grant) || !reflect.DeepEqual(recall, tt.recall) || abort != tt.abort {
			t.Errorf("%s: grant %+v, recall %+v, abort %d", name, grant, recall, abort)
		}
	}
}

// TestGuestDue: what the row of a guest asks for, and when a reservation expires.
func TestGuestDue(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		guest    *row.Guest
		attempts int
		want     handoff.Reply
		send     protocol.Message
	}{
		"prepared":           {guest(row.GuestPrepared), 11, handoff.Send, protocol.DecisionQuery{Tag: tag}},
		"prepared for long":  {guest(row.GuestPrepared), 12, handoff.Expire, nil},
		"to be reserved":     {guest(row.GuestPrepared, guestReserves), 0, handoff.ReserveGuest, nil},
		"reserved":           {guest(row.GuestPrepared, guestReserved), 0, handoff.Send, protocol.DecisionQuery{Tag: tag}},
		"accepted":           {guest(row.GuestAccepted), 0, handoff.Ignore, nil},
		"returned":           {guest(row.GuestAborted, returnUnacked), 99, handoff.Send, protocol.Recalled{Tag: tag}},
		"returned and heard": {guest(row.GuestAborted), 0, handoff.Ignore, nil},
		"closed":             {guest(row.GuestClosed), 0, handoff.Ignore, nil},
	} {
		if got := handoff.GuestDue(tt.guest, tt.attempts); got.Do != tt.want || !reflect.DeepEqual(got.Send, tt.send) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestStartOfAGroup: what is said of the instants from which CPUs are reserved.
func TestStartOfAGroup(t *testing.T) {
	t.Parallel()
	late, alone := job(row.JobOffered, reserved), job(row.JobOffered)
	if got := handoff.ReservedText(late); !strings.HasSuffix(got, " on, 0:00:01 later than it was asked for") {
		t.Errorf("%q", got)
	}
	if got := handoff.StartText(late); got != "all sites of its group hold room from "+late.ReservedAt.Text()+" on" {
		t.Errorf("%q", got)
	}
	late.ReserveFrom = late.ReservedAt
	if got := handoff.ReservedText(late); got != "from "+late.ReservedAt.Text()+" on" {
		t.Errorf("%q", got)
	}
	if got := handoff.StartText(alone); got != "" {
		t.Errorf("%q", got)
	}
}

// TestActsOn: a partner in doubt is not believed about jobs, and a store that may be older takes nothing that
// ends what it does not remember.
func TestActsOn(t *testing.T) {
	t.Parallel()
	tag := protocol.Tag{Job: 9, Epoch: 1}
	for name, tt := range map[string]struct {
		m                protocol.Message
		distrusted, mute bool
		acts, unknown    bool
	}{
		"a mark":                    {protocol.Watermark{}, true, true, true, false},
		"a partner in doubt":        {protocol.Offer{}, true, false, false, false},
		"a partner":                 {protocol.ResultAck{Tag: tag}, false, false, true, false},
		"a quote, while it is mute": {protocol.QuoteReply{}, false, true, true, false},
		"a question":                {protocol.QuoteRequest{}, false, true, true, false},
		"a query of an outcome":     {protocol.OutcomeQuery{}, false, true, true, false},
		"a query of elements":       {protocol.ElementsQuery{}, false, true, true, false},
		"ends of elements":          {protocol.ElementsOutcome{}, false, true, false, false},
		"an offer":                  {protocol.Offer{}, false, true, true, false},
		"a refusal":                 {protocol.Refused{Tag: tag}, false, true, true, false},
		"a report":                  {protocol.Status{Tag: tag}, false, true, false, true},
		"a result":                  {protocol.Result{Tag: tag}, false, true, false, true},
		"an end":                    {protocol.ResultAck{Tag: tag}, false, true, false, false},
		"a report of one in doubt":  {protocol.Status{Tag: tag}, true, true, false, false},
	} {
		acts, unknown := handoff.ActsOn(tt.m, tt.distrusted, tt.mute)
		if acts != tt.acts || (unknown != nil) != tt.unknown || unknown != nil && *unknown != tag {
			t.Errorf("%s: %t, %v", name, acts, unknown)
		}
	}
}
