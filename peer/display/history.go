package display

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/internal/decimal"
	"github.com/switchyard-hpc/switchyard/peer/accounting"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// History lists jobs that have ended; of jobs of other sites with their origins, and of all runs of jobs with their epochs.
func History(jobs []view.Job, guests, duplicates bool) *console.Table {
	titles := []string{" JOBID"}
	if duplicates {
		titles = append(titles, " EPOCH")
	}
	titles = append(titles, "NAME", "USER", "ACCOUNT")
	if guests {
		titles = append(titles, "ORIGIN")
	}
	t := console.NewTable(append(titles, "SITE", "STATE", " EXIT", " CPUS", "STARTED", "ENDED", " RAN", " BILLED")...)
	for i := range jobs {
		job := &jobs[i]
		cells := []string{console.Plain(job.Label())}
		if duplicates {
			cells = append(cells, strconv.FormatUint(uint64(job.Epoch), 10))
		}
		cells = append(cells, console.Plain(job.Name), console.Plain(job.User), console.OrDash(job.Account))
		if guests {
			cells = append(cells, console.Plain(string(job.Origin)))
		}
		t.Add(append(cells, console.OrDash(string(job.Site)), job.State.String(), exitText(job), strconv.Itoa(job.CPUs),
			console.Clock(job.Started), console.Clock(job.Ended), console.Span(job.RunTime()), billedText(job))...)
	}
	return t
}

// exitText is a job's exit code and signal, as sacct shows them.
func exitText(job *view.Job) string { return fmt.Sprintf("%d:%d", job.ExitCode, job.Signal) }

// HistoryTitles are the columns of [HistoryRecord].
func HistoryTitles() []string {
	return []string{
		"job", "name", "user", "account", "partition", "qos", "origin", "site", "guest", "epoch", "state", "reason", "exit_code", "signal",
		"cpus", "nodes", "memory_mb", "time_limit_ms", "submitted", "started", "ended", "ran_ms", "cpu_ms", "used_cpu_ms", "used_memory_mb",
		"energy_mj", "cost_micro", "currency", "local_id", "work_dir", "comment", "earlier",
	}
}

// HistoryRecord is a job that has ended as a record of CSV. Its times are in UTC.
func HistoryRecord(job *view.Job) []string {
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	cost, currency := job.Billed()
	limit := ""
	if job.WallTime != protocol.Never {
		limit = number(int64(job.WallTime))
	}
	return []string{
		console.Plain(job.Label()), textCSV(job.Name), textCSV(job.User), textCSV(job.Account), textCSV(job.Partition), textCSV(job.QOS),
		textCSV(string(job.Origin)), textCSV(string(job.Site)), strconv.FormatBool(job.Guest), strconv.FormatUint(uint64(job.Epoch), 10),
		job.State.String(), textCSV(job.Reason), strconv.Itoa(job.ExitCode), strconv.Itoa(job.Signal),
		strconv.Itoa(job.CPUs), strconv.Itoa(job.Nodes), number(job.MemoryMB), limit, instantCSV(job.Submitted), instantCSV(job.Started), instantCSV(job.Ended),
		number(int64(job.RunTime())), number(int64(job.CPUTime())), number(int64(job.Usage.CPU)), number(job.Usage.MemoryMB),
		number(job.UsedEnergy()), number(int64(cost)), textCSV(currency), textCSV(string(job.Local)), textCSV(job.WorkDir), textCSV(job.Comment), strconv.FormatBool(job.Earlier),
	}
}

// textCSV is a text of others. A spreadsheet would take one that begins with one of these characters for a formula, and
// compute it: it has an apostrophe before it.
func textCSV(text string) string {
	if text != "" && strings.ContainsRune("=+-@\t\r", rune(text[0])) {
		text = "'" + text
	}
	return console.Plain(text)
}

// instantCSV is an instant as spreadsheets and data frames read it; empty: none.
func instantCSV(t protocol.Instant) string {
	if t == 0 {
		return ""
	}
	return t.Time().Format(time.RFC3339)
}

// Usage is a table of what jobs came to.
func Usage(u view.Usage) *console.Table {
	var titles []string
	for _, name := range u.By {
		titles = append(titles, strings.ToUpper(name))
	}
	t := console.NewTable(append(titles, " JOBS", " CPU HOURS", " USED", " ENERGY", " BILLED")...)
	for i := range u.Lines {
		line := &u.Lines[i]
		var cells []string
		for _, name := range u.By {
			cells = append(cells, console.OrDash(accounting.PropertyOf(line, name)))
		}
		billed := "-"
		if line.Currency != "" {
			billed = console.Amount(line.Cost, line.Currency)
		}
		t.Add(append(cells, strconv.FormatInt(line.Jobs, 10), Hours(line.CPUTime), Hours(line.UsedCPU), energyText(line.Energy), billed)...)
	}
	return t
}

func energyText(millijoules int64) string {
	if millijoules == 0 {
		return "-"
	}
	return console.Energy(millijoules)
}

// Hours prints a time as hours with two decimals, rounded to the nearest.
func Hours(d protocol.Duration) string {
	const hundredth = protocol.Hour / 100
	return decimal.Text(int64(d.Plus(hundredth/2)/hundredth), 2, 2)
}

// UsageTitles are the columns of [UsageRecord].
func UsageTitles(by []string) []string {
	return append(append([]string{}, by...), "jobs", "cpu_ms", "used_cpu_ms", "energy_mj", "cost_micro", "currency")
}

// UsageRecord is a line of sums as a record of CSV.
func UsageRecord(by []string, line *view.UsageLine) (record []string) {
	for _, name := range by {
		record = append(record, textCSV(accounting.PropertyOf(line, name)))
	}
	for _, n := range []int64{line.Jobs, int64(line.CPUTime), int64(line.UsedCPU), line.Energy, int64(line.Cost)} {
		record = append(record, strconv.FormatInt(n, 10))
	}
	return append(record, textCSV(line.Currency))
}
