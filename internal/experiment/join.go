package experiment

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/peer/config"
)

// JoinForm is how people describe a site that joins, for messages and help.
const JoinForm = "name=NODESxCPUS@MHZ[,model=M1|FILE][,trace=FILE][,from=DATE][,to=DATE][,span=TIME][,keep_overruns=true][,scale=true][,jobs=N][,bias=B][,policy=NAME][,mflops=N][,watts=W][,price=P]"

// Join returns the plan with one more site, described as in [JoinForm]: a
// machine, perhaps with a workload of its own, which is submitted over the time of
// the others unless it states a span. Its nodes are shared by jobs or
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
	w.Site, w.added = site.Name, true
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

func (p *Plan) joinOption(site *Site, w *Workload, option string) error {
	key, value, _ := strings.Cut(option, "=")
	key = strings.TrimSpace(key)
	known, err := w.joinOption(key, value)
	if !known {
		known, err = site.joinOption(p, key, value)
	}
	switch {
	case !known:
		return fmt.Errorf("%q is no option; write %s", option, JoinForm)
	case err != nil:
		return fmt.Errorf("%s: %q cannot be read; write %s", key, value, JoinForm)
	case value == "":
		return errors.New(key + " has no value")
	}
	return nil
}

// joinOption sets what an option says of the jobs of a site that joins. It is not known if it says
// nothing of them.
func (w *Workload) joinOption(key, value string) (known bool, err error) {
	switch key {
	case "model":
		if slices.Contains(Models(), value) {
			w.Model = value
		} else {
			w.ModelFile = Path(value)
		}
	case "trace":
		w.Trace = Path(value)
	case "from":
		w.From = value
	case "to":
		w.To = value
	case "span":
		w.Span, err = settings.ParseDuration(value)
	case "keep_overruns":
		w.Overruns, err = strconv.ParseBool(value)
	case "scale":
		w.Scale, err = strconv.ParseBool(value)
	case "jobs":
		w.Jobs, err = strconv.Atoi(value)
	case "bias":
		w.Bias, err = strconv.ParseFloat(value, 64)
	default:
		return false, nil
	}
	return true, err
}

// joinOption is the same of the machine, for a site of the plan.
func (s *Site) joinOption(p *Plan, key, value string) (known bool, err error) {
	switch key {
	case "policy":
		s.scheduledBy(p, value)
	case "mflops":
		s.LocalSched.Mflops, err = strconv.Atoi(value)
	case "watts":
		err = decimalTo(&s.Power.WattsPerCPU, value)
	case "price":
		s.Price = new(settings.Amount)
		err = decimalTo(s.Price, value)
	default:
		return false, nil
	}
	return true, err
}

// decimalTo reads a number as an experiment's file has it.
func decimalTo(to settings.Unmarshaler, value string) error {
	number, err := parseNumber(value)
	if err != nil {
		return err
	}
	return to.UnmarshalTOML(number)
}
