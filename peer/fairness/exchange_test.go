package fairness_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/localsched/fairshare"
	"github.com/switchyard-hpc/switchyard/peer/fairness"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/protocol"
)

const week = 7 * protocol.Day

// exchanging is the book of a site that exchanges use with b and c.
func exchanging(name protocol.SiteName) *fairness.Book {
	book := fairness.New(&rules.Config{Site: name, Capacity: protocol.Capacity{CPUs: 100}, FairShare: rules.FairShare{
		HalfLife: week, ExchangeInterval: protocol.Minute, CommonNames: []protocol.SiteName{"a", "b", "c"},
		Weights: fairshare.Weights{FairShare: 10_000, MaxAge: week},
	}})
	return &book
}

func specOf(user, account string, cpus int) *protocol.Spec {
	return &protocol.Spec{Request: protocol.Request{CPUs: cpus, WallTime: hour}, User: user, Association: protocol.Association{Account: account}}
}

func noRuns(func(fairness.Local) bool) {}

func report(at protocol.Instant, uses ...protocol.Use) protocol.UseReport {
	return protocol.UseReport{At: at, HalfLife: week, Uses: uses}
}

// used is what users have used, by the standings.
func used(b *fairness.Book, at protocol.Instant) map[fairshare.Key]int64 {
	all := map[fairshare.Key]int64{}
	for _, s := range b.Standings(at) {
		all[s.Key] = s.Use
	}
	return all
}

// TestReportsInAnyOrder: whatever the order in which reports of sites come, and however often each does, the same is known
// in the end, also if it is more than is kept; and nothing that comes again changes a row.
func TestReportsInAnyOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		type sent struct {
			from protocol.SiteName
			protocol.UseReport
		}
		var reports []sent
		keep := rapid.IntRange(1, 8).Draw(t, "users that are kept")
		for range rapid.IntRange(1, 8).Draw(t, "reports") {
			r := sent{rapid.SampledFrom([]protocol.SiteName{"b", "c"}).Draw(t, "from"), report(now.Add(-protocol.Duration(rapid.IntRange(0, 50).Draw(t, "age"))))}
			for range rapid.IntRange(0, 5).Draw(t, "uses") {
				r.Uses = append(r.Uses, protocol.Use{
					Origin: rapid.SampledFrom([]protocol.SiteName{"a", "b", "c", "d"}).Draw(t, "origin"), User: rapid.SampledFrom([]string{"u", "v", "w"}).Draw(t, "user"),
					Period: fairshare.PeriodOf(now) - rapid.Int64Range(-1, 3).Draw(t, "age"), Amount: rapid.Int64Range(0, 3).Draw(t, "amount") * int64(hour),
				})
			}
			reports = append(reports, r)
		}
		merged := func(reports []sent) (map[string]row.Use, map[fairshare.Key]int64) {
			b, rows := exchanging("a"), map[string]row.Use{}
			b.KeepReported(keep)
			for i := range reports {
				for repeat := range 2 {
					keys, _, err := b.Merge(reports[i].from, 1000, reports[i].UseReport, now)
					if err != nil || repeat == 1 && len(keys) > 0 {
						t.Fatalf("%v; rows %q change, time %d", err, keys, repeat+1)
					}
					for _, key := range keys {
						if u, has := b.Row(key); has {
							rows[key] = u
						} else {
							delete(rows, key)
						}
					}
				}
			}
			return rows, used(b, now)
		}
		rows, standings := merged(reports)
		others := rapid.Permutation(append(slices.Clone(reports), reports[:rapid.IntRange(0, len(reports)).Draw(t, "repeated")]...)).Draw(t, "order")
		otherRows, otherStandings := merged(others)
		if fmt.Sprint(rows) != fmt.Sprint(otherRows) || fmt.Sprint(standings) != fmt.Sprint(otherStandings) {
			t.Fatalf("%v\n%v\nin another order\n%v\n%v", rows, standings, otherRows, otherStandings)
		}
	})
}

// TestAllKnowTheSame: once every site has the last report of every other one, all know the same use of all users, to the
// CPU·ms, whatever ran where and whichever reports were lost before.
func TestAllKnowTheSame(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		names := []protocol.SiteName{"a", "b", "c"}
		site := rapid.SampledFrom(names)
		books := map[protocol.SiteName]*fairness.Book{}
		for _, name := range names {
			books[name] = exchanging(name)
		}
		at := now
		tell := func(from, to protocol.SiteName) {
			if from == to {
				return
			}
			if _, _, err := books[to].Merge(from, 1000, report(at, books[from].Report(at, noRuns)...), at); err != nil {
				t.Fatal(err)
			}
		}
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			at = at.Add(protocol.Duration(rapid.IntRange(0, 3).Draw(t, "hours")) * hour)
			if rapid.Bool().Draw(t, "a run ends") {
				origin, ran := site.Draw(t, "origin"), site.Draw(t, "ran at")
				spec := specOf(rapid.SampledFrom([]string{"u", "v", "w"}).Draw(t, "user"), rapid.SampledFrom([]string{"", "Chem"}).Draw(t, "account"), rapid.IntRange(1, 9).Draw(t, "CPUs"))
				books[ran].Count(ran, origin, spec, at.Add(-hour), at)
				if origin != ran {
					books[origin].Count(ran, origin, spec, at.Add(-hour), at)
				}
			} else {
				tell(site.Draw(t, "from"), site.Draw(t, "to"))
			}
		}
		for _, from := range names {
			for _, to := range names {
				tell(from, to)
			}
		}
		want := used(books["a"], at)
		for _, name := range names[1:] {
			if got := used(books[name], at); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("%s knows %v, a knows %v", name, got, want)
			}
		}
	})
}

// TestReportHasRunning: what runs counts as long as it has run, what remains for it is beside that, and what has ended is not counted twice.
func TestReportHasRunning(t *testing.T) {
	t.Parallel()
	b := exchanging("b")
	b.Count("b", "a", specOf("ada", "Chem", 2), now.Add(-hour/2), now)
	b.Count("b", "d", specOf("eve", "", 2), now.Add(-hour), now) // whose names are not those of b
	running := func(yield func(fairness.Local) bool) {
		_ = yield(fairness.Local{Origin: "a", Account: "guests", Spec: specOf("ada", "chem", 4), Since: now.Add(-hour / 4)}) &&
			yield(fairness.Local{Origin: "b", Spec: specOf("bob", "", 1), Since: now.Add(-hour / 4)}) &&
			yield(fairness.Local{Origin: "d", Spec: specOf("eve", "", 1), Since: now.Add(-hour / 4)})
	}
	near := b.Report(now, running)
	if len(near) != 2 || near[0].User != "ada" || near[0].Account != "chem" || math.Abs(float64(near[0].Amount)-2*float64(hour)) > 0.01*float64(hour) ||
		near[0].Remaining != 3*int64(hour) || near[1].Remaining != int64(hour)*3/4 ||
		near[1].User != "bob" || math.Abs(float64(near[1].Amount)-float64(hour)/4) > 0.01*float64(hour) {
		t.Errorf("reported is %+v, want two hours of ada in chem, and a quarter of bob", near)
	}
}

// TestChangesOfUse: users whose jobs have started or ended since the last report are in the report of changes, and nobody else is.
func TestChangesOfUse(t *testing.T) {
	t.Parallel()
	b := exchanging("b")
	b.Count("b", "b", specOf("bob", "", 2), now.Add(-hour), now)
	b.Report(now, noRuns)
	run := fairness.Local{Origin: "a", Spec: specOf("ada", "Chem", 4), Since: now}
	b.Start(run, true, now)
	b.Start(fairness.Local{Origin: "d", Spec: specOf("eve", "", 4), Since: now}, true, now)  // whose names are not those of b
	b.Start(fairness.Local{Origin: "b", Spec: specOf("bob", "", 4), Since: now}, false, now) // at a partner, which says so itself
	changes := b.ReportChanges(now, func(yield func(fairness.Local) bool) { yield(run) })
	if len(changes) != 1 || changes[0].User != "ada" || changes[0].Account != "chem" || changes[0].Amount != 0 || changes[0].Remaining != 4*int64(hour) || b.HasChanges() {
		t.Errorf("changes are %+v, want four hours that remain for ada", changes)
	}
	b.Count("b", "a", specOf("ada", "chem", 4), now, now.Add(hour/2))
	if changes = b.ReportChanges(now.Add(hour/2), noRuns); len(changes) != 1 || changes[0].Remaining != 0 || changes[0].Amount != 2*int64(hour) {
		t.Errorf("changes are %+v, want two hours of ada", changes)
	}
	b.Start(fairness.Local{Origin: "c", Spec: specOf("fay", "", 4), Since: now}, true, now)
	b.ReportChanges(now, noRuns)
	b.Count("b", "c", specOf("fay", "", 4), now, now)
	if changes = b.ReportChanges(now, noRuns); len(changes) != 1 || changes[0].User != "fay" || changes[0].Remaining != 0 || changes[0].Amount != 0 {
		t.Errorf("changes are %+v, want that nothing remains of fay, whose job ended at once", changes)
	}
	if again := b.Report(now, noRuns); len(again) != 2 {
		t.Errorf("reported is %+v, want ada and bob", again)
	}
}

// TestRunningCountsInFull: with exchange a job that runs counts in the local queue with all that it asks for from its start on, here or, if it is one
// of this site, at a partner, and with what it has used once it has ended; and so does what partners say of theirs at once. Counting
// all again changes nothing.
func TestRunningCountsInFull(t *testing.T) {
	t.Parallel()
	book := fairness.New(&rules.Config{Site: "a", Capacity: protocol.Capacity{CPUs: 100}, Prioritize: true, FairShare: rules.FairShare{
		HalfLife: week, ExchangeInterval: protocol.Minute, CommonNames: []protocol.SiteName{"b"}, Weights: fairshare.Weights{FairShare: 1_000_000, MaxAge: week},
	}})
	b := &book
	for _, name := range []string{"ada", "bob", "cyd"} {
		b.Count("a", "a", specOf(name, "", 10), now.Add(-hour), now)
	}
	if _, _, err := b.Merge("b", 100, report(now.Add(-1), protocol.Use{Origin: "b", User: "cyd", Period: fairshare.PeriodOf(now), Amount: 1000}), now); err != nil {
		t.Fatal(err)
	}
	b.RefreshLocal(now, noRuns)
	of := func(name string, at protocol.Instant) int64 {
		return b.LocalPriority(fairness.Local{Origin: "a", Spec: specOf(name, "", 1), Since: at}, at)
	}
	run := func(name string, job protocol.JobID, origin protocol.SiteName) fairness.Local {
		spec := specOf(name, "", 10)
		spec.Job = job
		return fairness.Local{Origin: origin, Spec: spec, Since: now}
	}
	even := of("ada", now)
	guest, elsewhere := run("ada", 1, "b"), run("bob", 2, "a")
	b.Start(guest, true, now)
	b.Start(guest, true, now)
	b.Start(elsewhere, false, now)
	if of("ada", now) >= even || of("ada", now) != of("bob", now) || of("cyd", now) <= even {
		t.Fatalf("after starts: ada has %d, bob %d, cyd %d; before, all had %d", of("ada", now), of("bob", now), of("cyd", now), even)
	}
	says := func(at protocol.Instant, remaining int64) {
		t.Helper()
		if _, _, err := b.Merge("b", 100, report(at, protocol.Use{Origin: "b", User: "cyd", Period: fairshare.PeriodOf(now), Amount: 1000, Remaining: remaining}), now); err != nil {
			t.Fatal(err)
		}
	}
	says(now, 10*int64(hour))
	says(now.Add(-2), 90*int64(hour)) // an older one that comes late
	near := func(x, y int64) bool { return math.Abs(float64(x-y)) < 10 }
	if !near(of("cyd", now), of("ada", now)) || !near(of("cyd", now), even) {
		t.Errorf("after the report of b: ada has %d, cyd %d, want %d", of("ada", now), of("cyd", now), even)
	}
	runs := func(yield func(fairness.Local) bool) { _ = yield(guest) && yield(elsewhere) }
	before := []int64{of("ada", now), of("bob", now), of("cyd", now)}
	b.RefreshLocal(now, runs)
	if again := []int64{of("ada", now), of("bob", now), of("cyd", now)}; !slices.Equal(again, before) {
		t.Errorf("counted again %v, before %v", again, before)
	}
	b.Count("a", "b", guest.Spec, now, now.Add(1000)) // it has ended after a second
	if ended := of("ada", now); ended <= of("bob", now) {
		t.Errorf("after the end of its job: ada has %d, bob %d", ended, of("bob", now))
	}
	ended := of("bob", now)
	b.Count("b", "a", elsewhere.Spec, now, now) // it has ended at once
	if of("bob", now) <= ended {
		t.Errorf("after the end of its job, which used nothing, bob has %d as before", of("bob", now))
	}
	b.Start(elsewhere, false, now)
	stale := now.Add(fairness.StaleAfter * protocol.Minute)
	b.RefreshLocal(stale, runs)
	if of("cyd", stale) <= of("bob", stale) {
		t.Errorf("once the report is stale: cyd has %d, bob %d", of("cyd", stale), of("bob", stale))
	}
}

// TestRemainderIsBounded: what a partner says to remain counts no more than the use of its machine may.
func TestRemainderIsBounded(t *testing.T) {
	t.Parallel()
	b, most := exchanging("a"), fairshare.NewDecay(week).Most(10)
	if _, _, err := b.Merge("b", 10, report(now, protocol.Use{Origin: "b", User: "ada", Period: fairshare.PeriodOf(now), Amount: 1000, Remaining: math.MaxInt64}), now); err != nil {
		t.Fatal(err)
	}
	if all := b.Standings(now); len(all) != 1 || len(all[0].Sites) != 1 || all[0].Sites[0].Use != all[0].Use {
		t.Errorf("%+v: want all use at b", all)
	}
	if got := used(b, now)[fairshare.Key{User: "ada"}]; got > most+1000 || got < most/100*99 {
		t.Errorf("ada has used %d, want %d at most", got, most)
	}
}

// TestPartnerTakesNothingOff: a partner that reports much and then nothing takes off the local queue no more than its own reports have
// added, and adds no more than the use of its machine may, and as much again for what remains, however often it does so.
func TestPartnerTakesNothingOff(t *testing.T) {
	t.Parallel()
	period, most := fairshare.PeriodOf(now), fairshare.NewDecay(week).Most(100)
	said := func(at protocol.Duration, amount, remaining int64) protocol.UseReport {
		return report(now.Add(at), protocol.Use{Origin: "b", User: "ada", Period: period + int64(at), Amount: amount, Remaining: remaining})
	}
	for name, reports := range map[string][]protocol.UseReport{
		"what remains": {said(0, 1000, math.MaxInt64), said(1, 1000, 0)},
		"use":          {said(0, math.MaxInt64, 0), said(1, 1000, 0)},
		"both":         {said(0, math.MaxInt64, math.MaxInt64), said(1, 1000, 0)},
		"by steps":     {said(0, 1000, most/2), said(0, 1000, math.MaxInt64), said(1, 1000, most/3), said(1, 1000, math.MaxInt64), said(1, 1000, math.MaxInt64/2), said(1, 1000, 0)},
	} {
		book := fairness.New(&rules.Config{Site: "a", Capacity: protocol.Capacity{CPUs: 100}, Prioritize: true, FairShare: rules.FairShare{
			HalfLife: week, ExchangeInterval: protocol.Minute, CommonNames: []protocol.SiteName{"b"}, Weights: fairshare.Weights{FairShare: 1_000_000, MaxAge: week},
		}})
		b := &book
		b.Count("a", "a", specOf("ada", "", 10), now.Add(-hour), now)
		b.Count("a", "a", specOf("bob", "", 10), now.Add(-hour), now)
		if _, _, err := b.Merge("b", 100, report(now.Add(-hour), protocol.Use{Origin: "b", User: "cyd", Period: period, Amount: 1000}), now); err != nil {
			t.Fatal(err)
		}
		b.RefreshLocal(now, noRuns)
		own := b.LocalUse("bob")
		for round := range 5 {
			for i := range reports {
				m := reports[i]
				m.At = now.Add(protocol.Duration(round*len(reports) + i))
				if _, _, err := b.Merge("b", 100, m, now); err != nil {
					t.Fatal(err)
				}
				ada, bob := b.LocalUse("ada"), b.LocalUse("bob")
				if ada < own || ada > own+2*most || bob != own {
					t.Errorf("%s: after report %d of round %d ada has used %d, bob %d; here each has used %d", name, i, round, ada, bob, own)
				}
			}
		}
	}
}

// TestRemainderOfEachPartner: a partner that reports more users than are kept keeps nothing from others.
func TestRemainderOfEachPartner(t *testing.T) {
	t.Parallel()
	b := exchanging("a")
	b.KeepReported(2)
	var many []protocol.Use
	for i := range 20 {
		many = append(many, protocol.Use{Origin: "b", User: fmt.Sprint("u", i), Period: fairshare.PeriodOf(now), Remaining: int64(hour)})
	}
	if _, _, err := b.Merge("b", 100, report(now, many...), now); err != nil {
		t.Fatal(err)
	}
	if _, _, err := b.Merge("c", 100, report(now, protocol.Use{Origin: "c", User: "ada", Period: fairshare.PeriodOf(now), Remaining: int64(hour)}), now); err != nil {
		t.Fatal(err)
	}
	if got := used(b, now); got[fairshare.Key{User: "ada"}] != int64(hour) || len(got) != 3 {
		t.Errorf("used is %v, want an hour of ada and of two users of b", got)
	}
}

// TestLyingPartner: what a partner says counts only of its own machine, and no more than that can do; not of jobs of this
// site, not of users of sites whose users are not those of this one, and not with a clock or a half-life of its own.
func TestLyingPartner(t *testing.T) {
	t.Parallel()
	period := fairshare.PeriodOf(now)
	ada := fairshare.Key{User: "ada"}
	most := fairshare.NewDecay(week).Most(10)
	for name, tt := range map[string]struct {
		from protocol.SiteName
		says protocol.UseReport
		want int64 // use of ada
		err  string
	}{
		"the truth":                        {"b", report(now, protocol.Use{Origin: "b", User: "ada", Period: period, Amount: int64(hour)}), int64(hour), ""},
		"more than its machine can do":     {"b", report(now, protocol.Use{Origin: "b", User: "ada", Period: period, Amount: math.MaxInt64}), most, ""},
		"that of two together":             {"b", report(now, protocol.Use{Origin: "b", User: "ada", Period: period, Amount: math.MaxInt64}, protocol.Use{Origin: "c", User: "ada", Period: period, Amount: math.MaxInt64}), most, ""},
		"of jobs of this site":             {"b", report(now, protocol.Use{Origin: "a", User: "ada", Period: period, Amount: int64(hour)}), 0, ""},
		"of users with names of their own": {"b", report(now, protocol.Use{Origin: "d", User: "ada", Period: period, Amount: int64(hour)}), 0, ""},
		"a site with names of its own":     {"d", report(now, protocol.Use{Origin: "d", User: "ada", Period: period, Amount: int64(hour)}), 0, "common_names does not have d"},
		"that never decays":                {"b", report(now, protocol.Use{Origin: "b", User: "ada", Period: period + 2, Amount: int64(hour)}), 0, "clock"},
		"a report of tomorrow":             {"b", report(now.Add(protocol.Day)), 0, "clock"},
		"with another half-life":           {"b", protocol.UseReport{At: now, HalfLife: protocol.Day, Uses: []protocol.Use{{Origin: "b", User: "ada", Period: period, Amount: 1 << 40}}}, 0, "half_life"},
	} {
		b := exchanging("a")
		_, kept, err := b.Merge(tt.from, 10, tt.says, now)
		if got := used(b, now)[ada]; math.Abs(float64(got-tt.want)) > 1e-5*float64(tt.want) || (err != nil) != (tt.err != "") || err != nil && !strings.Contains(err.Error(), tt.err) || (err == nil) != (kept.At != 0) {
			t.Errorf("%s: ada has used %d, want %d; %v, kept %+v", name, got, tt.want, err, kept)
		}
	}
}

// TestCommonNames: with common names a job of a partner's user has the priority of that user here, and else not.
func TestCommonNames(t *testing.T) {
	t.Parallel()
	cfg := rules.Config{Site: "a", Capacity: protocol.Capacity{CPUs: 100}, Prioritize: true, FairShare: rules.FairShare{
		HalfLife: week, ExchangeInterval: protocol.Minute, CommonNames: []protocol.SiteName{"b"}, Weights: fairshare.Weights{FairShare: 10_000, MaxAge: week},
	}}
	b := fairness.New(&cfg)
	b.Count("a", "a", specOf("ada", "chem", 9), now.Add(-hour), now)
	b.Count("a", "a", specOf("bob", "chem", 1), now.Add(-hour), now)
	b.RefreshLocal(now, noRuns)
	of := func(origin protocol.SiteName, user string) int64 {
		return b.LocalPriority(fairness.Local{Origin: origin, Account: "chem", Spec: specOf(user, "chem", 1), Since: now}, now)
	}
	if of("a", "ada") != of("b", "ada") || of("b", "ada") >= of("b", "bob") || of("c", "ada") == of("a", "ada") {
		t.Errorf("ada has %d, of b %d, of c %d; bob of b has %d", of("a", "ada"), of("b", "ada"), of("c", "ada"), of("b", "bob"))
	}
	before := of("a", "bob")
	if _, _, err := b.Merge("b", 10_000, report(now, protocol.Use{Origin: "b", Account: "chem", User: "bob", Period: fairshare.PeriodOf(now), Amount: 99 * int64(hour)}), now); err != nil {
		t.Fatal(err)
	}
	b.RefreshLocal(now, noRuns)
	if of("a", "bob") >= before || of("a", "bob") >= of("a", "ada") {
		t.Errorf("after use of bob at b: bob has %d, before %d, ada %d", of("a", "bob"), before, of("a", "ada"))
	}
}

// TestNamesNoLongerCommon: what is in the rows of sites whose users are not those of this site any more does not count.
func TestNamesNoLongerCommon(t *testing.T) {
	t.Parallel()
	before, after := exchanging("a"), fairness.New(&rules.Config{Site: "a", FairShare: rules.FairShare{
		HalfLife: week, ExchangeInterval: protocol.Minute, CommonNames: []protocol.SiteName{"c"}, Weights: fairshare.Weights{MaxAge: week},
	}})
	keys, kept, err := before.Merge("b", 10, report(now, protocol.Use{Origin: "b", User: "ada", Period: fairshare.PeriodOf(now), Amount: int64(hour)}), now)
	if err != nil || len(keys) != 1 {
		t.Fatal(keys, err)
	}
	u, _ := before.Row(keys[0])
	after.Restore(u)
	after.RestoreReport("b", kept)
	if got := used(&after, now); len(got) != 0 {
		t.Errorf("counted are %v", got)
	}
}
