package experiment

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// JoinForm is how people describe a site that joins, for messages and help.
const JoinForm = "name=NODESxCPUS@MHZ[,model=M1|FILE][,trace=FILE][,keep_overruns=true][,scale=true][,jobs=N][,bias=B][,policy=NAME][,mflops=N][,watts=W][,price=P]"

// Join returns the plan with one more site, described as in [JoinForm]: a
// machine, perhaps with a workload of its own. Its nodes are shared by jobs or
// not, and its batch system's policy is, as at the plan's first site unless it
// says otherwise. The plan must be opened again.
func (p *Plan) Join(text string) (*Plan, error) {
	head, options, _ := strings.Cut(text, ",")
	site, err := parseMachine(head)
	if err != nil {
		return nil, err
	}
	joined := p.clone()
	if len(p.Sites) > 0 {
		first, own := &p.Sites[0].LocalSched, &site.LocalSched
		own.Plugin, own.Policy = first.Plugin, first.Policy
		if first.Machine == config.WholeNode {
			own.Machine = first.Machine
		}
	}
	w := defaultWorkload()
	w.Site, w.Span = site.Name, p.span()
	for option := range strings.SplitSeq(options, ",") {
		if options == "" {
			break
		}
		if err := joined.joinOption(&site, &w, option); err != nil {
			return nil, fmt.Errorf("site %s: %w", site.Name, err)
		}
	}
	joined.Sites, joined.inputs, joined.supplies = append(joined.Sites, site), nil, nil
	if w.Trace != "" || w.Model != "" || w.ModelFile != "" {
		if other := p.spanOfModel(); other != "" && w.Trace == "" {
			return nil, fmt.Errorf("site %s: the workload of site %s has the span of its model_file; set its span, which the new site's workload gets too", site.Name, other)
		}
		if w.Trace != "" {
			w.Span = defaultWorkload().Span
		}
		joined.Workloads = append(joined.Workloads, w)
	}
	c := joined.newChecker()
	joined.checkTables(c)
	joined.check(c)
	if err := c.fault(); err != nil {
		return nil, fmt.Errorf("site %s: %w", site.Name, err)
	}
	return joined, nil
}

// spanOfModel names a site whose workload takes its span from a file; empty: there is none.
func (p *Plan) spanOfModel() string {
	for i := range p.Workloads {
		if w := &p.Workloads[i]; w.ModelFile != "" && w.Span == 0 {
			return w.Site
		}
	}
	return ""
}

// span is the longest of the plan's models, so that one more has jobs as long as
// the others have; 0 without models.
func (p *Plan) span() protocol.Duration {
	var longest protocol.Duration
	for i := range p.Workloads {
		if p.Workloads[i].Trace == "" {
			longest = max(longest, cmp.Or(p.Workloads[i].Span, workload.Table6Span))
		}
	}
	return longest
}

// parseMachine reads name=nodes×cpus@mhz.
func parseMachine(text string) (Site, error) {
	site := defaultSite()
	name, machine, found := strings.Cut(text, "=")
	nodes, rest, hasNodes := strings.Cut(strings.ReplaceAll(machine, "×", "x"), "x")
	cpus, mhz, hasSpeed := strings.Cut(rest, "@")
	if !found || !hasNodes {
		return site, fmt.Errorf("%q does not describe a site; write %s", text, JoinForm)
	}
	site.Name = strings.TrimSpace(name)
	perNode := 0
	numbers := []struct {
		to   *int
		text string
	}{{&site.LocalSched.Nodes, nodes}, {&perNode, cpus}}
	if hasSpeed {
		numbers = append(numbers, struct {
			to   *int
			text string
		}{&site.LocalSched.MHz, mhz})
	}
	for _, n := range numbers {
		var err error
		if *n.to, err = strconv.Atoi(strings.TrimSpace(n.text)); err != nil {
			return site, fmt.Errorf("%q is no whole number in %q; write %s", n.text, text, JoinForm)
		}
	}
	l := &site.LocalSched
	if l.Nodes < 1 || perNode < 1 || perNode > math.MaxInt32/l.Nodes {
		return site, fmt.Errorf("%q is no machine of one CPU or more in %q; write %s", machine, text, JoinForm)
	}
	l.CPUs = l.Nodes * perNode
	return site, nil
}

func (p *Plan) joinOption(site *Site, w *Workload, option string) (err error) {
	key, value, _ := strings.Cut(option, "=")
	switch strings.TrimSpace(key) {
	case "model":
		if slices.Contains(Models(), value) {
			w.Model = value
		} else {
			w.ModelFile = Path(value)
		}
	case "trace":
		w.Trace = Path(value)
	case "keep_overruns":
		w.Overruns, err = strconv.ParseBool(value)
	case "scale":
		w.Scale, err = strconv.ParseBool(value)
	case "jobs":
		w.Jobs, err = strconv.Atoi(value)
	case "bias":
		w.Bias, err = strconv.ParseFloat(value, 64)
	case "policy":
		site.scheduledBy(p, value)
	case "mflops":
		site.LocalSched.Mflops, err = strconv.Atoi(value)
	case "watts":
		err = decimalTo(&site.Power.WattsPerCPU, value)
	case "price":
		site.Price = new(settings.Amount)
		err = decimalTo(site.Price, value)
	default:
		return fmt.Errorf("%q is no option; write %s", option, JoinForm)
	}
	if err != nil {
		return fmt.Errorf("%s: %q cannot be read; write %s", key, value, JoinForm)
	}
	if value == "" {
		return errors.New(key + " has no value")
	}
	return nil
}

// decimalTo reads a number as an experiment's file has it.
func decimalTo(to settings.Unmarshaler, value string) error {
	number, err := parseNumber(value)
	if err != nil {
		return err
	}
	return to.UnmarshalTOML(number)
}
