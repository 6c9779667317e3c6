package display

import (
	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// allSites is the site of a row about the use of a user anywhere.
const allSites = "all"

// Shares has a row for each user, with the use at each site below, and one for each partner whose reports are missing, or count in part.
func Shares(shares view.Shares) *console.Table {
	t := console.NewTable("ACCOUNT", "USER", "SITE", " SHARE", " USE", " PART", " DEVIATION", " AGE", "NOTE")
	for i := range shares.Users {
		u := &shares.Users[i]
		account, user, deviation, note := console.OrDash(console.Plain(u.Account)), console.Plain(u.User), "-", ""
		if u.Deviation != nil {
			deviation = console.FinePercent(*u.Deviation)
		}
		if u.Placed > 0 {
			note = cpuHours(u.Placed) + " of it by jobs that are placed"
		}
		t.Add(account, user, allSites, console.FinePercent(u.Share), cpuHours(u.Use), console.FinePercent(u.Part), deviation, "-", note)
		for _, site := range u.Sites {
			t.Add(account, user, console.Plain(string(site.Site)), "-", cpuHours(site.Use), console.FinePercent(site.Part), "-", ageText(site.Age), "")
		}
	}
	for _, r := range shares.Reports {
		var note string
		switch {
		case r.Refused != "":
			note = "its reports of use do not count: " + console.Plain(r.Refused)
		case r.Age == nil:
			note = "no report of use has come"
		case r.Counted < int(protocol.PPM):
			note = "its reports say more than its machine can do: " + console.FinePercent(r.Counted) + " of it counts"
		case r.Stale:
			note = "its last report of use is old: what users have used there since does not count yet"
		default:
			continue
		}
		t.Add("-", "-", console.Plain(string(r.Site)), "-", "-", "-", "-", ageText(r.Age), note)
	}
	return t
}

func ageText(age *protocol.Duration) string {
	if age == nil {
		return "-"
	}
	return console.Span(*age)
}

// cpuHours are CPU·ms in hours of a CPU.
func cpuHours(ms int64) string { return console.Decimals(float64(ms)/float64(protocol.Hour)) + " h" }
