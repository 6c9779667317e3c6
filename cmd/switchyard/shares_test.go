package main

import (
	"encoding/json"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/testbed"
	"github.com/switchyard-hpc/switchyard/localsched/fairshare"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/statedir"
	"github.com/switchyard-hpc/switchyard/peer/store"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestSharesOverSites: what a user has used at one site lowers his priority at the other, also after that has been killed; and what a
// partner says counts no more than its machine can do.
func TestSharesOverSites(t *testing.T) {
	const exchange = "[fairshare]\nhalf_life = \"7d\"\nexchange_interval = \"10s\"\ncommon_names = [\"aurora\", \"borealis\"]\n"
	sched := func(cpus int) string {
		return "cpus = " + strconv.Itoa(cpus) + "\npolicy = \"multifactor\"\nkill_grace = \"1s\""
	}
	g := startGrid(t, testbed.Machine{Name: "aurora", CPUs: 1, LocalSched: sched(1), More: exchange},
		testbed.Machine{Name: "borealis", CPUs: 2, LocalSched: sched(2), More: exchange})
	aurora, borealis := g.Sites[0], g.Sites[1]
	c := conditions{grid: g, times: filepath.Join(g.work, "times")}

	c.submit(t, aurora, "full", c.door("full"), "--sites=aurora")
	used := c.submit(t, borealis, "used", "sleep 1", "--sites=borealis", "--account=chem", "-n", "2", "--time=1h")
	c.until(t, borealis, used, ended)
	known := func(s *view.Shares) bool { // what it asked for counts until aurora knows of its end
		u := usedAtBorealis(s, "chem")
		return u.Use > 0 && u.Use < int64(protocol.Hour) && u.Age != nil
	}
	g.shares(t, aurora, known)

	// The older job is of who has used borealis, and so has the lower priority.
	chem := c.submit(t, aurora, "chem", "", "--sites=aurora", "--account=chem")
	phys := c.submit(t, aurora, "phys", "", "--sites=aurora", "--account=phys")

	// After a crash aurora knows the use although borealis is down.
	if err := borealis.Stop(stopPatience); err != nil {
		t.Fatal(err)
	}
	if err := aurora.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := aurora.Start(); err != nil {
		t.Fatal(err)
	}
	g.shares(t, aurora, known)
	for _, id := range []string{chem, phys} {
		c.until(t, aurora, id, func(job view.Job) bool { return job.Site == aurora.Name })
	}
	c.open(t, "full")
	for _, id := range []string{chem, phys} {
		c.until(t, aurora, id, ended)
	}
	if at := c.instants(t); at["chem begin"] < at["phys end"] {
		t.Errorf("the job of who has used borealis has begun first: %v", at)
	}

	// The rows of borealis say what its machine cannot have done.
	lie(t, borealis, row.Use{
		Site: borealis.Name, Origin: borealis.Name, Account: "phys", User: "mallory",
		Use: fairshare.Use{Period: fairshare.PeriodOf(protocol.InstantOf(time.Now())), Amount: math.MaxInt64 / 2},
	})
	if err := borealis.Start(); err != nil {
		t.Fatal(err)
	}
	got := g.shares(t, aurora, func(s *view.Shares) bool { return s.Reports[0].Counted < int(protocol.PPM) })
	most := fairshare.NewDecay(7 * protocol.Day).Most(2)
	if is := usedAtBorealis(&got, "phys").Use; is > most || is < most/100*99 {
		t.Errorf("%d CPU·ms count of a machine that can have done %d", is, most)
	}
	wantWords(t, g.at(t, aurora, "", "shares"), 0, "its reports say more than its machine can do: 0.00 % of it counts")
}

// shares waits until those that a site shows are as wanted.
func (g *grid) shares(t *testing.T, site *testbed.Site, wanted func(*view.Shares) bool) view.Shares {
	t.Helper()
	ctx := patience(t)
	for {
		var shares view.Shares
		got := g.at(t, site, "", "shares", "--json")
		if err := json.Unmarshal([]byte(got.stdout), &shares); err == nil && wanted(&shares) {
			return shares
		}
		if ctx.Err() != nil {
			t.Fatalf("the shares never became as wanted: %+v", got)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// usedAtBorealis is what was used at borealis in an account.
func usedAtBorealis(s *view.Shares, account string) (use view.SiteUse) {
	for _, u := range s.Users {
		if i := slices.IndexFunc(u.Sites, func(at view.SiteUse) bool { return at.Site == "borealis" }); u.Account == account && i >= 0 {
			return u.Sites[i]
		}
	}
	return use
}

// lie writes a row into the database of a site whose peer does not run.
func lie(t *testing.T, site *testbed.Site, u row.Use) {
	t.Helper()
	rows, err := store.Open(statedir.Database(filepath.Join(site.Dir, "state")), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	value, err := row.Encode(u)
	if err == nil {
		err = rows.Commit(t.Context(), []store.Put{{Table: string(row.UseTable), Key: u.Key(), Value: value}})
	}
	if err != nil {
		t.Error(err)
	}
	if err := rows.Close(); err != nil {
		t.Error(err)
	}
}
