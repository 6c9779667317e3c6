package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/localsched/power"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func (a *app) statusCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status [ID…]",
		Short: "Show all about jobs, ended ones included, or about this site",
		Long: "Show all about jobs, ended ones included. Without an id, show how this site is: its peer, the\n" +
			"rules in force, what the running jobs draw, under a power budget what they may draw now and when\n" +
			"that changes, what is wrong with the budget's feeds, the price of electricity, what jobs have\n" +
			"used and cost so far, what the grid has saved, and what its operator should know.",
		Example: "  switchyard status 1000000000042\n  switchyard status --json 1000000000042\n  switchyard status",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return a.siteStatus(cmd.Context())
			}
			ids, err := jobIDs(args)
			if err != nil {
				return err
			}
			jobs := make([]view.Job, 0, len(ids))
			for _, id := range ids {
				job, err := a.client().Job(cmd.Context(), id)
				if err != nil {
					return err
				}
				jobs = append(jobs, job)
			}
			if a.json {
				return a.printJSON(view.Queue{Jobs: jobs})
			}
			for i, job := range jobs {
				if i > 0 {
					a.printf("\n")
				}
				a.printf("%s", statusText(job, elapsed(job, a.now())))
			}
			return nil
		},
	}
	return a.query(cmd)
}

// siteStatus tells how this site is.
func (a *app) siteStatus(ctx context.Context) error {
	info, err := a.client().Info(ctx)
	if err != nil {
		return err
	}
	sites, err := a.client().Sites(ctx)
	if err != nil {
		return err
	}
	answer := siteAnswer{Info: info}
	for i := range sites.Sites {
		if sites.Sites[i].Self {
			answer.Electricity = sites.Sites[i].Electricity
		}
	}
	if a.json {
		return a.printJSON(answer)
	}
	a.printf("%s", siteStatusText(answer))
	return nil
}

// siteAnswer is what the command prints of the site as JSON.
type siteAnswer struct {
	api.Info

	Electricity *view.Electricity `json:"electricity,omitempty"`
}

func siteStatusText(info siteAnswer) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%-10s %s (number %d)\n", "Site", plain(string(info.Site)), info.Number)
	fmt.Fprintf(&out, "%-10s switchyard %s, up for %s\n", "Peer", plain(info.Version), span(info.Uptime))
	fmt.Fprintf(&out, "%-10s %s\n", "Rules", rulesText(info.Rules))
	if info.Power != nil {
		fmt.Fprintf(&out, "%-10s %s\n", "Power", powerStatus(*info.Power))
	}
	for _, one := range electricityLines(info) {
		fmt.Fprintf(&out, "%-10s %s\n", one[0], one[1])
	}
	for _, alarm := range info.Alarms {
		fmt.Fprintf(&out, "%-10s %s\n", "Alarm", plain(alarm))
	}
	for _, note := range info.Notes {
		fmt.Fprintf(&out, "%-10s %s\n", "Note", plain(note))
	}
	return out.String()
}

// powerStatus tells what jobs draw, what they may, and what they may next.
func powerStatus(p api.Power) string {
	text := "the running jobs draw " + power.Text(p.Draw)
	if p.Pending > 0 {
		text += ", " + power.Text(p.Pending) + " are kept for jobs that wait in the batch system"
	}
	text += "; " + budgetText(p.Budget)
	if p.Until == 0 {
		return text
	}
	return fmt.Sprintf("%s until %s, then %s", text, clock(p.Until), budgetText(p.Next))
}

func budgetText(milliwatts *int64) string {
	if milliwatts == nil {
		return "no budget"
	}
	return "a budget of " + power.Text(*milliwatts)
}

func statusText(job view.Job, ran string) string {
	var out strings.Builder
	line := func(title, format string, args ...any) {
		fmt.Fprintf(&out, "%-10s "+format+"\n", append([]any{title}, args...)...)
	}
	line("Job", "%s  %s", job.ID, plain(job.Name))
	line("User", "%s", plain(job.User))
	line("State", "%s", stateText(job))
	line("Origin", "%s", plain(string(job.Origin)))
	line("Site", "%s", siteText(job))
	if job.Local != "" {
		line("Local ID", "%s", plain(string(job.Local)))
	}
	if job.Application != 0 {
		line("Component", "%s of the application of job %s", plain(job.Component), job.Application)
	}
	if job.Together != nil {
		line("Together", "%s", togetherText(job.Together))
	}
	line("Asks for", "%s", sizeText(job))
	line("Submitted", "%s", clock(job.Submitted))
	if job.Placed != 0 {
		line("Placed", "%s%s", clock(job.Placed), quotedWait(job.QuotedAWT))
	}
	line("Started", "%s", startText(job))
	line("Ended", "%s", clock(job.Ended))
	line("Ran", "%s", ran)
	for _, one := range costLines(&job) {
		line(one[0], "%s", one[1])
	}
	line("Folder", "%s", orDash(job.WorkDir))
	line("Output", "%s", orDash(job.Stdout))
	if job.Stderr != job.Stdout {
		line("Errors", "%s", orDash(job.Stderr))
	}
	return out.String()
}

// costLines tell what a job was quoted, and beside it what it cost.
func costLines(job *view.Job) (lines [][2]string) {
	add := func(title, text string) { lines = append(lines, [2]string{title, text}) }
	if q := job.Quoted; q != nil {
		add("Quoted", amount(q.Cost, q.Currency)+" for "+span(q.Run))
	}
	if b := job.Bill; b != nil {
		title := "Billed"
		if b.Open {
			title = "So far"
		}
		add(title, priced(b.Cost, b.Currency, b.Ran, b.Terms))
		if b.Disputed != "" {
			add("Disputed", plain(b.Disputed))
		}
	}
	if text := jobEnergyText(job); text != "" {
		add("Energy", text)
	}
	if w := job.Wishes; w != nil && w.Broken != "" {
		add("Limit", "broken: "+plain(w.Broken))
	}
	return lines
}

// priced tells what a run costs, and of what terms that is made.
func priced(cost protocol.Micro, currency string, run protocol.Duration, terms []view.PriceTerm) string {
	parts := make([]string, len(terms))
	for i, term := range terms {
		parts[i] = plain(term.Name) + " " + term.Amount.Text()
	}
	return fmt.Sprintf("%s for %s (%s)", amount(cost, currency), span(run), strings.Join(parts, ", "))
}

// quotedWait is the wait that a job was quoted, if anybody was asked.
func quotedWait(d protocol.Duration) string {
	if d < 0 {
		return ""
	}
	return ", quoted a wait of " + span(d)
}

func stateText(job view.Job) string {
	parts := []string{job.State.String(), ending(job), reasonText(job.Reason)}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ", ")
}

// reasonText tells a reason, and in words if its name alone says little.
func reasonText(reason string) string {
	switch reason {
	case "WaitsForVolunteer":
		return reason + " (its own site would let it wait φ, [rounds] phi, or longer, and no partner volunteers now)"
	case "WaitsForGroup":
		return reason + " (room is held for it until all that start together have theirs)"
	case "NoKnownSite":
		return reason + " (no site that is known can run it, one that has not been seen yet might; switchyard sites lists them)"
	case "PartnerUnreachable":
		return reason + " (its site does not answer, see switchyard sites; what runs there goes on)"
	case "HandOff":
		return reason + " (it is on its way to its site)"
	}
	return plain(reason)
}

func siteText(job view.Job) string {
	if job.Site == "" {
		return "- (in the grid queue)"
	}
	return fmt.Sprintf("%s (epoch %d)", plain(string(job.Site)), job.Epoch)
}

func startText(job view.Job) string {
	if job.Started == 0 {
		return "-"
	}
	return fmt.Sprintf("%s, after %s", clock(job.Started), span(max(protocol.Duration(0), job.Started.Sub(job.Submitted))))
}
