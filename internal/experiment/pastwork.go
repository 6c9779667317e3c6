package experiment

import (
	"cmp"
	"fmt"

	"github.com/switchyard-hpc/switchyard/internal/cost"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// CPUModel is the machine of the site for the Γ model; not stated: the site has no table cpu_model.
func (s *Site) CPUModel() protocol.Machine { return s.model() }

// Charge is what a site charges its local users for CPUs and energy of a run, K_e + K_eco, in the experiment's
// currency. The error names the table that the site lacks.
func (p *Plan) Charge(s *Site, cpus int, start protocol.Instant, run protocol.Duration) (protocol.Micro, error) {
	if s.charges == nil {
		return 0, fmt.Errorf("site %s has no prices; add a table [site.cost]", s.Name)
	}
	spec := protocol.Spec{Request: protocol.Request{CPUs: cpus, WallTime: run}}
	bill, refused := s.charges.Bill(cost.Work{
		Spec: &spec, Start: start, Run: run, Power: s.Power.WattsPerCPU.Milliwatts() * int64(cpus),
	})
	if why := cmp.Or(refused, bill.Note); why != "" {
		return 0, fmt.Errorf("site %s: %s; set the prices of [site.cost.cpu] and [site.cost.eco]", s.Name, why)
	}
	sum := protocol.Micro(0)
	for _, term := range bill.Terms {
		sum = sum.Plus(term.Amount)
	}
	converted, err := p.ExchangeRates.Exchange().Convert(sum, cmp.Or(bill.Currency, p.Currency), p.Currency)
	return converted, err
}
