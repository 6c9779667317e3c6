package policy

import (
	"fmt"
	"strings"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Check says what is wrong with a policy's answer to the snapshot, if anything: no
// policy may place a job twice, at a site that declined it or takes no more, or only some
// of those that start together.
func (in *Snapshot) Check(decisions []Decision) error {
	seen := make(map[protocol.JobID]bool, len(decisions))
	sent := make([]int, len(in.Sites))
	for _, d := range decisions {
		switch {
		case d.Job < 0 || d.Job >= len(in.Jobs) || d.Site < NoSite || d.Site >= len(in.Sites):
			return fmt.Errorf("decision for job %d at site %d, counted from 0, of %d jobs and %d sites", d.Job, d.Site, len(in.Jobs), len(in.Sites))
		case seen[in.Jobs[d.Job].ID]:
			return fmt.Errorf("two decisions for job %v", in.Jobs[d.Job].ID)
		case d.Wait < 0:
			return fmt.Errorf("a wait of %v for job %v; it must be 0 or more", d.Wait, in.Jobs[d.Job].ID)
		case d.Site == NoSite:
			seen[in.Jobs[d.Job].ID] = true
			continue
		case in.AWT[in.At(d.Job, d.Site)] == protocol.Never:
			return fmt.Errorf("job %v sent to %s, which declined it", in.Jobs[d.Job].ID, in.Sites[d.Site].Name)
		}
		seen[in.Jobs[d.Job].ID] = true
		if sent[d.Site]++; sent[d.Site] > in.Sites[d.Site].MaxJobs {
			return fmt.Errorf("more jobs sent to %s than the %d that it takes", in.Sites[d.Site].Name, in.Sites[d.Site].MaxJobs)
		}
	}
	return in.checkTogether(decisions)
}

// together names the components of an application that start together.
type together struct{ application, number int }

// checkTogether looks for groups of which only some have a site.
func (in *Snapshot) checkTogether(decisions []Decision) error {
	if len(in.Applications) == 0 {
		return nil
	}
	placed := map[protocol.JobID]bool{}
	for _, d := range decisions {
		placed[in.Jobs[d.Job].ID] = d.Site != NoSite
	}
	groups := map[together]bool{}
	for _, job := range in.Jobs {
		if job.Together == 0 {
			continue
		}
		group := together{job.Application, job.Together}
		if has, seen := groups[group]; seen && has != placed[job.ID] {
			return fmt.Errorf("only some of the components of application %v that start together, job %v and others, have a site",
				in.Applications[job.Application].ID, job.ID)
		}
		groups[group] = placed[job.ID]
	}
	return nil
}

// Check says what is wrong with what a policy says of itself, if anything.
func (d *Description) Check() error {
	info := d.Info()
	if err := info.check(); err != nil {
		return err
	}
	if d.MarginalJobs < 0 || d.MarginalJobs > protocol.MaxMarginalJobs {
		return fmt.Errorf("policy %s asks for the waits of %d jobs; use 0 to %d", d.Name, d.MarginalJobs, protocol.MaxMarginalJobs)
	}
	if len(d.EnergyPricing) > maxPricing || strings.Trim(string(d.EnergyPricing), pricingLetters) != "" {
		return fmt.Errorf("policy %s asks for energy by %.40q; use at most %d of a to z and 0 to 9, as %q, or nothing for hourly prices",
			d.Name, string(d.EnergyPricing), maxPricing, protocol.TwoPrice)
	}
	return nil
}

func (i *Info) check() error {
	if i.Name == "" || len(i.Name) > maxName {
		return fmt.Errorf("the policy's name has %d characters; use 1 to %d", len(i.Name), maxName)
	}
	if len(i.Initiations) == 0 {
		return fmt.Errorf("policy %s serves no initiation", i.Name)
	}
	served := map[Initiation]bool{}
	for _, one := range i.Initiations {
		switch one {
		case Sender, Receiver, Symmetric, Cycle:
		default:
			return fmt.Errorf("policy %s serves the initiation %q, which does not exist", i.Name, string(one))
		}
		if served[one] {
			return fmt.Errorf("policy %s names the initiation %q twice", i.Name, string(one))
		}
		served[one] = true
	}
	for k := 1; k < len(i.Params); k++ {
		if i.Params[k-1].Name >= i.Params[k].Name {
			return fmt.Errorf("policy %s: its parameters %q and %q are not sorted by name", i.Name, i.Params[k-1].Name, i.Params[k].Name)
		}
	}
	return nil
}

// maxPricing and pricingLetters bound the name of an energy pricing, which goes to other sites. A
// site that does not know it uses hourly prices.
const (
	maxPricing     = 16 // bytes
	pricingLetters = "abcdefghijklmnopqrstuvwxyz0123456789"
)

// maxName bounds a policy's name, in bytes.
const maxName = 64
