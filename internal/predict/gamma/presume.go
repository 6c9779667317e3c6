package gamma

import "github.com/switchyard-hpc/switchyard/protocol"

// presumption is what a component is thought to do before any run time is looked at.
type presumption struct {
	work   work
	doubts vector
	said   bool // by the user
}

// presume takes what is stated of the next run, else of the latest that something was
// stated of. What is missing comes from counters, see [presumption.count], or is inferred,
// see [presumption.infer]. The runs begin with the latest.
func presume(stated *protocol.Behavior, runs []Execution) presumption {
	p := presumption{doubts: vector{
		flop: doubtStated, words: doubtStated, sent: doubtStated, messages: doubtStated,
		computing: doubtCompute, network: doubtNetwork,
	}}
	p.state(stated)
	for i := range runs {
		p.state(&runs[i].Stated)
	}
	for i := range runs {
		p.count(&runs[i])
	}
	for i := range runs {
		p.infer(&runs[i])
	}
	return p
}

func (p *presumption) state(b *protocol.Behavior) {
	if !p.said && b.Stated() {
		p.work, p.said = workOf(b), true
	}
}

// count takes from the counters of a run the amounts that were not stated, but O. These are where
// the fit begins; S and Z need not be right for the CPUs that the work is stated for.
func (p *presumption) count(e *Execution) {
	w, u := &p.work, &e.Usage
	if w.words == 0 && u.Mwords > 0 {
		w.words, p.doubts[words] = million(u.Mwords), doubtInferred
	}
	if e.CPUs <= 1 {
		return
	}
	if w.sent == 0 && u.Sent > 0 {
		w.sent, p.doubts[sent] = count(u.Sent), doubtInferred
	}
	if w.messages == 0 && u.Messages > 0 {
		w.messages, p.doubts[messages] = count(u.Messages), doubtInferred
	}
}

// infer guesses from a run what was neither stated nor counted: O as if the peak had been
// reached, so that other run times are first presumed in the ratio of R∞; W, unless the
// user says that none is needed, as half of what that peak allows; S, unless the user says
// that nothing is sent, such that it takes little of the run. Other runs correct that.
func (p *presumption) infer(e *Execution) {
	const little = 0.02
	w, n := &p.work, e.node()
	if w.flop == 0 {
		w.flop, p.doubts[flop] = n.cpus*n.peak*e.seconds(), doubtInferred
	}
	if w.words == 0 && (!p.said || e.Usage.Mflop > 0) {
		w.words, p.doubts[words] = w.flop*n.memory/n.peak/2, doubtBelow
	}
	if !p.said && w.sent == 0 && e.CPUs > 1 {
		w.sent, p.doubts[sent] = little*n.network*e.seconds(), doubtSilent
	}
}

// of is what a run is thought to have done: what was stated of it then, and the rest as of
// the next run, W in proportion to O.
func (p *presumption) of(e *Execution) work {
	if !e.Stated.Stated() {
		return p.work
	}
	w := workOf(&e.Stated)
	if w.words == 0 {
		w.words = p.work.words * w.flop / p.work.flop
	}
	if w.sent == 0 && w.messages == 0 {
		w.cpus, w.scaling = p.work.cpus, p.work.scaling
	}
	if w.sent == 0 {
		w.sent = p.work.sent
	}
	if w.messages == 0 {
		w.messages = p.work.messages
	}
	return w
}
