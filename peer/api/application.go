package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/switchyard-hpc/switchyard/protocol"
	commonv1 "github.com/switchyard-hpc/switchyard/protocol/common/v1"
	"github.com/switchyard-hpc/switchyard/protocol/wire"
)

// Application is what is wanted of a submission's jobs together. A limit that is left out
// is none. Weights that are all 0, of the components too, stand for the site's usual ones.
type Application struct{ protocol.Application }

// UnmarshalJSON implements [json.Unmarshaler].
func (a *Application) UnmarshalJSON(data []byte) error {
	a.Application = protocol.Application{MaxCost: protocol.Unlimited, MaxTime: protocol.Never}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	return decoder.Decode(&a.Application)
}

// wishes are what the peer is told; nil: nothing is wanted.
func (a *Application) wishes() *protocol.Application {
	if a == nil {
		return nil
	}
	return &a.Application
}

// check looks at what the peer does not: it checks weights, rates and names of curves
// itself.
func (a *Application) check() error {
	if a.MaxCost < 0 {
		return fmt.Errorf("max_cost_micro is %d; use 0 or more", a.MaxCost)
	}
	return wire.First(
		text("name", a.Name, maxName),
		text("waiting", a.Waiting, protocol.MaxName),
		text("currency", a.Currency, protocol.MaxCurrency),
	)
}

// checkNeeds looks at what the job uses.
func (j *Job) checkNeeds() error {
	if j.DataOut < 0 {
		return fmt.Errorf("data_out_bytes is %d; use 0 or more", j.DataOut)
	}
	if err := commonv1.CheckLicences(j.Licences); err != nil {
		return err
	}
	for _, one := range j.Licences {
		if err := text("licences", one.Name, protocol.MaxName); err != nil {
			return err
		}
	}
	return text("priority", j.Priority, protocol.MaxPriority)
}

// checkComponent looks at what the peer does not of a job's component.
func (s *Submission) checkComponent(j *Job) error {
	c := j.Component
	if c == nil {
		return nil
	}
	if s.Application == nil && (c.Alpha != 0 || c.Gamma != 0 || c.Delta != 0 || c.Together != 0) {
		return errors.New("component: weights and together mean nothing without an application")
	}
	if len(c.Shapes) >= protocol.MaxShapes {
		return fmt.Errorf("component: %d shapes; send at most %d", len(c.Shapes), protocol.MaxShapes-1)
	}
	if c.Estimate < 0 {
		return fmt.Errorf("component: estimate_ms is %d; use 0 or more", c.Estimate)
	}
	for i, shape := range c.Shapes {
		if shape.Estimate < 0 {
			return fmt.Errorf("component: shapes[%d]: estimate_ms is %d; use 0 or more", i, shape.Estimate)
		}
	}
	if err := checkBehaviour(&c.Behaviour); err != nil {
		return fmt.Errorf("component: behaviour: %w", err)
	}
	return text("component: name", c.Name, maxName)
}

func checkBehaviour(b *protocol.Behaviour) error {
	for _, one := range []struct {
		name string
		n    int64
	}{{"mflop", b.Mflop}, {"mwords", b.Mwords}, {"sent_words", b.Sent}, {"messages", b.Messages}, {"cpus", int64(b.CPUs)}} {
		if one.n < 0 {
			return fmt.Errorf("%s is %d; use 0 or more", one.name, one.n)
		}
	}
	switch b.Scaling {
	case protocol.Constant, protocol.Surface:
		return nil
	case protocol.Multicast:
		if b.CPUs == 1 {
			return errors.New("one CPU sends nothing to all; state it for 2 CPUs or more")
		}
		return nil
	}
	return fmt.Errorf("the scaling %.40q is unknown; use %q, %q or none", string(b.Scaling), protocol.Surface, protocol.Multicast)
}
