package accounting_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/peer/accounting"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// party is a site with a key of its own.
type party struct {
	public  string
	private ed25519.PrivateKey
}

func newParty(name string) party {
	private := ed25519.NewKeyFromSeed([]byte(strings.Repeat(name[:1], ed25519.SeedSize)))
	return party{string(private[ed25519.SeedSize:]), private}
}

func (p party) sign(message []byte) []byte { return ed25519.Sign(p.private, message) }

func check(public string, message, signature []byte) bool {
	return ed25519.Verify([]byte(public), message, signature)
}

const november = protocol.Instant(1_793_491_200_000) // 2026-11-01 00:00:00Z

var month = accounting.MonthOf(november)

// books are the archives of north and south after the same jobs: job i of either ran at the other one.
func books(n int, skew protocol.Duration) (north, south []view.Job) {
	for i := range n {
		origin, site := protocol.SiteName("north"), protocol.SiteName("south")
		if i%2 == 1 {
			origin, site = site, origin
		}
		job := view.Job{
			ID: protocol.NewJobID(protocol.SiteNumber(1+i%2), uint64(1+i)), Origin: origin, Site: site, Epoch: 1, CPUs: 1 + i, State: protocol.Completed,
			Started: november.Add(protocol.Day), Ended: november.Add(2*protocol.Day + protocol.Duration(i)), Ran: protocol.Hour,
			Usage: protocol.Usage{Energy: 1000}, Bill: &view.Bill{Cost: protocol.Unit, Currency: "CHF"},
		}
		guest := job
		guest.Guest, guest.Ended = true, job.Ended.Add(skew)
		if origin == "north" {
			north, south = append(north, job), append(south, guest)
		} else {
			north, south = append(north, guest), append(south, job)
		}
	}
	return north, south
}

func signedBy(t interface{ Fatal(...any) }, s accounting.Statement, by party) accounting.Signed {
	signed, err := s.Sign(by.sign)
	if err != nil {
		t.Fatal(err)
	}
	return signed
}

// TestHonestSitesAgree: whatever jobs ran, and however far apart the clocks are within an hour, nothing is disputed,
// also where a job ended close to a bound of the month.
func TestHonestSitesAgree(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		skew := protocol.Duration(rapid.Int64Range(-int64(protocol.Hour)+1, int64(protocol.Hour)-1).Draw(rt, "skew"))
		north, south := books(rapid.IntRange(0, 12).Draw(rt, "jobs"), skew)
		_, until := month.Bounds()
		for i := range north {
			if rapid.Bool().Draw(rt, "not measured") {
				north[i].Ran, south[i].Ran = 0, 0
			}
			if rapid.Bool().Draw(rt, "at a bound") {
				at := november.Add(protocol.Duration(rapid.Int64Range(-5000, 5000).Draw(rt, "before or after")))
				if rapid.Bool().Draw(rt, "of the end") {
					at = at.Add(until.Sub(november))
				}
				north[i].Ended, south[i].Ended = at, at.Add(skew)
			}
		}
		statement := accounting.NewStatement("south", "north", month, until.Add(protocol.Day), south)
		signed := signedBy(rt, statement, newParty("south"))
		if err := signed.Verify([]string{newParty("south").public}, []string{newParty("north").public}, check, check); err != nil {
			rt.Fatal(err)
		}
		if disputes := statement.Compare(north); len(disputes) > 0 {
			rt.Fatalf("%+v", disputes)
		}
	})
}

// TestLiesAreShown: what a partner states otherwise than it was is disputed, with both sides, and nothing else is.
func TestLiesAreShown(t *testing.T) {
	t.Parallel()
	invented := accounting.Line{Job: protocol.NewJobID(1, 99), Epoch: 1, Site: "south", CPUs: 64, Ended: november.Add(protocol.Day), Ran: protocol.Hour, Cost: 9 * protocol.Unit, Currency: "CHF"}
	for name, c := range map[string]struct {
		lie  func(*accounting.Statement)
		want accounting.Dispute
	}{
		"a higher bill": {
			func(s *accounting.Statement) { s.Lines[0].Cost *= 3 },
			accounting.Dispute{Job: protocol.NewJobID(1, 1), Field: "cost", Theirs: "3.00 CHF", Ours: "1.00 CHF"},
		},
		"a dearer currency": {
			func(s *accounting.Statement) { s.Lines[0].Currency = "EUR" },
			accounting.Dispute{Job: protocol.NewJobID(1, 1), Field: "cost", Theirs: "1.00 EUR", Ours: "1.00 CHF"},
		},
		"more CPUs": {
			func(s *accounting.Statement) { s.Lines[1].CPUs++ },
			accounting.Dispute{Job: protocol.NewJobID(1, 3), Field: "cpus", Theirs: "4", Ours: "3"},
		},
		"a longer run": {
			func(s *accounting.Statement) { s.Lines[1].Ran++ },
			accounting.Dispute{Job: protocol.NewJobID(1, 3), Field: "ran_ms", Theirs: "3600001", Ours: "3600000"},
		},
		"more energy": {
			func(s *accounting.Statement) { s.Lines[1].Energy = 1001 },
			accounting.Dispute{Job: protocol.NewJobID(1, 3), Field: "energy_mj", Theirs: "1001", Ours: "1000"},
		},
		"another epoch": {
			func(s *accounting.Statement) { s.Lines[1].Epoch = 2 },
			accounting.Dispute{Job: protocol.NewJobID(1, 3), Field: "epoch", Theirs: "2", Ours: "1"},
		},
		"another end": {
			func(s *accounting.Statement) { s.Lines[1].Ended = november.Add(20 * protocol.Day) },
			accounting.Dispute{Job: protocol.NewJobID(1, 3), Field: "ended", Theirs: "2026-11-21 00:00:00Z", Ours: "2026-11-03 00:00:00Z"},
		},
		"an invented job": {
			func(s *accounting.Statement) { s.Lines = slices.Insert(s.Lines, 2, invented) },
			accounting.Dispute{Job: invented.Job, Field: "job", Theirs: "epoch 1 ran at south for 1:00:00 on 64 CPUs, 9.00 CHF", Ours: "not in the archive"},
		},
		"our job as theirs": { // that it ran at south, not here for it
			func(s *accounting.Statement) { s.Lines[2].Site = "south" },
			accounting.Dispute{Job: protocol.NewJobID(2, 2), Field: "job", Theirs: "epoch 1 ran at south for 1:00:00 on 2 CPUs, 1.00 CHF", Ours: "epoch 1 of a job of south ran at north"},
		},
		"a job kept quiet": {
			func(s *accounting.Statement) { s.Lines = slices.Delete(s.Lines, 2, 3) },
			accounting.Dispute{Job: protocol.NewJobID(2, 2), Field: "job", Theirs: "not in the statement", Ours: "epoch 1 ran at north for 1:00:00 on 2 CPUs, 1.00 CHF"},
		},
	} {
		north, south := books(4, protocol.Second)
		_, until := month.Bounds()
		statement := accounting.NewStatement("south", "north", month, until, south)
		if len(statement.Lines) != 4 || statement.Compare(north) != nil {
			t.Fatalf("%s: before: %+v", name, statement)
		}
		c.lie(&statement)
		signed := signedBy(t, statement, newParty("south")) // the liar signs
		if err := signed.Verify([]string{newParty("south").public}, []string{newParty("north").public}, check, check); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := statement.Compare(north); !slices.Equal(got, []accounting.Dispute{c.want}) {
			t.Errorf("%s:\ngot  %+v\nwant %+v", name, got, c.want)
		}
	}
}

// TestJobThatEndedAfterARun: a job that was cancelled in the grid queue after a run has the epoch of that run in the archive of
// its origin, and the statement is about the run, in whichever order they come.
func TestJobThatEndedAfterARun(t *testing.T) {
	t.Parallel()
	for _, first := range []bool{false, true} {
		north, south := books(1, protocol.Second)
		north[0].Earlier = true
		cancelled := north[0]
		cancelled.Earlier, cancelled.State, cancelled.Started, cancelled.Ran, cancelled.Bill = false, protocol.Cancelled, 0, 0, nil
		if north = append(north, cancelled); first {
			north[0], north[1] = north[1], north[0]
		}
		statement := accounting.NewStatement("south", "north", month, november.Add(40*protocol.Day), south)
		if got := statement.Compare(north); len(statement.Lines) != 1 || got != nil {
			t.Errorf("%d lines: %+v", len(statement.Lines), got)
		}
	}
}

// TestRunsOfAJobAreLines: each run of a job that was requeued is stated and compared by its epoch.
func TestRunsOfAJobAreLines(t *testing.T) {
	t.Parallel()
	id := protocol.NewJobID(1, 1)
	for name, c := range map[string]struct {
		lie  func(*accounting.Statement)
		want []accounting.Dispute
	}{
		"none": {func(*accounting.Statement) {}, nil},
		"a higher bill for the earlier run": {
			func(s *accounting.Statement) { s.Lines[0].Cost *= 3 },
			[]accounting.Dispute{{Job: id, Epoch: 1, Field: "cost", Theirs: "3.00 CHF", Ours: "1.00 CHF"}},
		},
		"the earlier run kept quiet": {
			func(s *accounting.Statement) { s.Lines = s.Lines[1:] },
			[]accounting.Dispute{{Job: id, Epoch: 1, Field: "job", Theirs: "not in the statement", Ours: "epoch 1 ran at south for 1:00:00 on 1 CPUs, 1.00 CHF"}},
		},
		"an invented run": {
			func(s *accounting.Statement) {
				s.Lines = append(s.Lines, s.Lines[1])
				s.Lines[2].Epoch = 5
			},
			[]accounting.Dispute{{Job: id, Epoch: 5, Field: "job", Theirs: "epoch 5 ran at south for 1:00:00 on 1 CPUs, 1.00 CHF", Ours: "not in the archive"}},
		},
	} {
		north, south := books(1, protocol.Second)
		for _, archive := range []*[]view.Job{&north, &south} {
			last := (*archive)[0]
			(*archive)[0].Earlier, last.Epoch, last.Ended = true, 3, last.Ended.Add(protocol.Day)
			*archive = append(*archive, last)
		}
		statement := accounting.NewStatement("south", "north", month, november.Add(40*protocol.Day), south)
		if len(statement.Lines) != 2 || statement.Totals()[0].Jobs != 2 || statement.Totals()[0].Cost != 2*protocol.Unit {
			t.Fatalf("%+v", statement)
		}
		c.lie(&statement)
		signed := signedBy(t, statement, newParty("south"))
		if err := signed.Verify([]string{newParty("south").public}, []string{newParty("north").public}, check, check); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := statement.Compare(north); !slices.Equal(got, c.want) {
			t.Errorf("%s:\ngot  %+v\nwant %+v", name, got, c.want)
		}
	}
}

// TestEarlyStatement: one that was made before the end of the month disputes no less, since the jobs are missing.
func TestEarlyStatement(t *testing.T) {
	t.Parallel()
	north, _ := books(2, 0)
	statement := accounting.NewStatement("south", "north", month, november.Add(protocol.Second), nil)
	if disputes := statement.Compare(north); len(disputes) != 2 || disputes[0].Theirs != "not in the statement" {
		t.Errorf("%+v", disputes)
	}
}

// TestBilledTwice: a job that ended close to the end of a month, and is stated for it and for the next one, is shown by both
// statements together, and only by them.
func TestBilledTwice(t *testing.T) {
	t.Parallel()
	north, south := books(2, 0)
	_, until := month.Bounds()
	north[0].Ended, south[0].Ended = until.Add(10*protocol.Minute), until.Add(-10*protocol.Minute)
	first := accounting.NewStatement("south", "north", month, until, south)
	south[0].Ended = north[0].Ended
	second := accounting.NewStatement("south", "north", accounting.MonthOf(until), until.Add(40*protocol.Day), south)
	if disputes := slices.Concat(first.Compare(north), second.Compare(north)); len(disputes) > 0 || len(second.Lines) != 1 {
		t.Errorf("alone: %+v of %+v", disputes, second.Lines)
	}
	want := []accounting.Dispute{{Job: north[0].ID, Field: "month", Theirs: "2026-12", Ours: "in the statement for 2026-11 already"}}
	if got, err := second.Again(&first); err != nil || !slices.Equal(got, want) {
		t.Errorf("together: %+v, %v", got, err)
	}
	if _, err := second.Again(&second); err == nil {
		t.Error("it is compared with itself")
	}
}

// TestReplayedMonth: the statement of a month does not serve for another one, whoever signs it.
func TestReplayedMonth(t *testing.T) {
	t.Parallel()
	north, south := books(2, 0)
	_, until := month.Bounds()
	statement := accounting.NewStatement("south", "north", month, until.Add(40*protocol.Day), south)
	statement.Month = "2026-12"
	by := newParty("south")
	replayed := signedBy(t, statement, by)
	if err := replayed.Verify([]string{by.public}, []string{by.public}, check, check); err == nil || !strings.Contains(err.Error(), "which is not in 2026-12") {
		t.Errorf("with the lines of November: %v", err)
	}
	for i := range statement.Lines {
		statement.Lines[i].Ended = statement.Lines[i].Ended.Add(30 * protocol.Day)
	}
	replayed = signedBy(t, statement, by)
	if err := replayed.Verify([]string{by.public}, []string{by.public}, check, check); err != nil {
		t.Fatal(err)
	}
	disputes := statement.Compare(north)
	if len(disputes) != 2 || disputes[0].Field != "ended" || disputes[1].Field != "ended" {
		t.Errorf("with lines of December: %+v", disputes)
	}
}

// TestSignaturesCoverAll: one that is changed on the way, or by another key, is refused, countersigned or not.
func TestSignaturesCoverAll(t *testing.T) {
	t.Parallel()
	_, south := books(2, 0)
	_, until := month.Bounds()
	by, with := newParty("south"), newParty("north")
	statement := accounting.NewStatement("south", "north", month, until, south)
	signed := signedBy(t, statement, by)
	if err := signed.Countersign(until.Add(1), []accounting.Dispute{{Job: 1, Field: "cost", Theirs: "1", Ours: "2"}}, with.sign); err != nil {
		t.Fatal(err)
	}
	data, err := signed.Encode()
	if err != nil {
		t.Fatal(err)
	}
	verify := func(data []byte) error {
		read, readErr := accounting.Read(bytes.NewReader(data))
		if readErr != nil {
			return readErr
		}
		return read.Verify([]string{with.public, by.public}, []string{by.public, with.public}, check, check)
	}
	if err = verify(data); err != nil {
		t.Fatal(err)
	}
	for old, now := range map[string]string{
		`"cost_micro": 1000000`: `"cost_micro": 1000001`,
		`"cpus": 1`:             `"cpus": 2`,
		`"month": "2026-11"`:    `"month": "2026-10"`,
		`"with": "north"`:       `"with": "west"`,
		`"theirs": "1"`:         `"theirs": "0"`,
		`"field": "cost"`:       `"field": "cpus"`,
		`"by": "south"`:         `"by": "south", "paid": true`,
		`"disputes": [`:         `"disputes": [{"job":1000000000001,"field":"","theirs":"","ours":""},`,

		// What a program that reads the file by other rules would see, beside what is signed.
		`"cost_micro": 1000000,`: `"cost_micro": 9000000, "Cost_Micro": 1000000,`,
		`"ran_ms": 3600000,`:     `"ran_ms": 7200000, "ran_ms": 3600000,`,
		`"currency": "CHF"`:      `"CURRENCY": "CHF"`,
		`"field": "cost",`:       `"Field": "cost",`,
		`"energy_mj": 1000,`:     `"energy_mj": 1000, "energy_mj": null,`,
		`"made_ms": `:            `"made_ms": null, "made_ms": `,
		`"job": 1000000000001`:   `"job": "1000000000001"`,
	} {
		if !bytes.Contains(data, []byte(old)) {
			t.Fatalf("there is no %s in\n%s", old, data)
		}
		if err = verify(bytes.Replace(data, []byte(old), []byte(now), 1)); err == nil {
			t.Errorf("%s in place of %s is taken", now, old)
		}
	}
	var compact bytes.Buffer
	if err = errors.Join(json.Compact(&compact, data), verify(compact.Bytes())); err != nil {
		t.Errorf("without white space: %v", err)
	}
	if err = verify(append(data, data...)); err == nil {
		t.Error("two in a file are taken")
	}
	if err = signed.Verify([]string{with.public}, []string{with.public}, check, check); !errors.Is(err, accounting.ErrForged) {
		t.Errorf("by another key: %v", err)
	}
	if err = signed.Verify([]string{by.public}, []string{by.public}, check, check); !errors.Is(err, accounting.ErrForged) {
		t.Errorf("countersigned by another key: %v", err)
	}
	other := signedBy(t, accounting.NewStatement("south", "north", month, until, nil), by)
	other.Counter = signed.Counter
	if err = other.Verify([]string{by.public}, []string{with.public}, check, check); !errors.Is(err, accounting.ErrForged) {
		t.Errorf("with the countersignature of another statement: %v", err)
	}
}

func TestTotals(t *testing.T) {
	t.Parallel()
	_, south := books(3, 0)
	south[2].Bill = nil
	_, until := month.Bounds()
	statement := accounting.NewStatement("south", "north", month, until, south)
	want := []accounting.Total{
		{Site: "north", Jobs: 1, CPUTime: 2 * protocol.Hour, Energy: 1000, Cost: protocol.Unit, Currency: "CHF"},
		{Site: "south", Jobs: 1, CPUTime: 3 * protocol.Hour, Energy: 1000},
		{Site: "south", Jobs: 1, CPUTime: protocol.Hour, Energy: 1000, Cost: protocol.Unit, Currency: "CHF"},
	}
	if got := statement.Totals(); !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
}

// FuzzStatement looks for statements that break the reader, or that are verified with contents that cannot be.
func FuzzStatement(f *testing.F) {
	_, south := books(2, 0)
	_, until := month.Bounds()
	signed := signedBy(f, accounting.NewStatement("south", "north", month, until, south), newParty("south"))
	data, _ := signed.Encode()
	f.Add(data)
	f.Add([]byte(`{"statement":{"format":1,"lines":null}}`))
	north, _ := books(2, 0)
	f.Fuzz(func(t *testing.T, data []byte) {
		read, err := accounting.Read(bytes.NewReader(data))
		if err != nil {
			return
		}
		all := func(string, []byte, []byte) bool { return true }
		if read.Verify([]string{""}, []string{""}, all, all) != nil {
			return
		}
		read.Statement.Compare(north)
		for _, total := range read.Statement.Totals() {
			if total.CPUTime < 0 || total.Energy < 0 {
				t.Errorf("%+v", total)
			}
		}
	})
}
