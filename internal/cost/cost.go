package cost

import (
	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Work is what is charged for.
type Work struct {
	Spec  *protocol.Spec // as on this machine
	Start protocol.Instant
	// Starts is when it may start; CPUs and electricity are charged by it. Zero: at Start.
	Starts price.Starts
	Run    protocol.Duration // at the full frequency
	Guest  bool              // of another site
	Power  int64             // milliwatts that it draws at the full frequency, without cooling; 0: not known
	Prices *price.Meter      // of electricity, per MWh in Currency; nil: not known
	// Currency is that of Prices.
	Currency string
	// Until says for how long, from Start on, a tariff is to state the prices of each hour; 0: no
	// tariff is asked for.
	Until protocol.Instant
}

// Bill is what work costs, and what that makes of it.
type Bill struct {
	Terms    []protocol.Term // named [CPUTerm], [LicenseTerm], [EcoTerm], [DataTerm]; none twice
	Currency string
	Run      protocol.Duration // longer than asked at a lower frequency
	MHz      int               // that the CPUs are to run at; 0: at the full frequency
	Note     string            // for people
	Tariff   *protocol.Tariff  // that holds for the work whenever it runs; nil: it was not asked for
}

// The names of cost terms in quotes: K_e, K_l, K_eco and K_d of [IS 4.2].
const (
	CPUTerm     = localsched.CPUTerm
	LicenseTerm = "license"
	EcoTerm     = "eco"
	DataTerm    = "data"
)
