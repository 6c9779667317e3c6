package sarima

// process is an ARMA process with innovations of variance 1, in what the filter
// needs of it.
type process struct {
	ar, ma []term    // with the leading 1; ar as the polynomial 1 − Σ φB
	phi    []float64 // φ at [lag−1], as long as the state
	cross  []float64 // covariance of the observation with each element of the state: the first column of the stationary covariance

	step []float64 // the autoregression of each smaller order, while it is stepped down
	pure []float64 // autocovariances of the autoregression alone
	auto []float64 // autocovariances
	psi  []float64 // weights of past innovations
}

// newProcess makes room for processes of that order.
func newProcess(o Order) *process {
	state := max(o.lagAR(), o.lagMA()+1)
	return &process{
		phi:   make([]float64, state),
		cross: make([]float64, state),
		step:  make([]float64, o.lagAR()*(o.lagAR()+1)/2),
		pure:  make([]float64, state+o.lagMA()+1),
		auto:  make([]float64, state+1),
		psi:   make([]float64, state),
	}
}

// set takes coefficients. It returns false if they are too close to the edge of
// stationarity for the arithmetic.
func (p *process) set(c Coefficients, period int) bool {
	p.ar = product(p.ar, c.AR, c.SeasonalAR, period, -1)
	p.ma = product(p.ma, c.MA, c.SeasonalMA, period, 1)
	clear(p.phi)
	for _, t := range p.ar[1:] {
		p.phi[t.lag-1] -= t.value
	}
	if !p.autoregression(p.ar[len(p.ar)-1].lag) {
		return false
	}
	p.covariances()
	return true
}

// autoregression sets pure: the order is stepped down to the partial
// autocorrelations, whose products give the variance, and the autocovariances
// follow on the way up (Durbin and Levinson, backwards).
func (p *process) autoregression(order int) bool {
	variance := 1.0
	row := func(k int) []float64 { return p.step[k*(k-1)/2 : k*(k+1)/2] } // the coefficients of order k
	if order > 0 {
		copy(row(order), p.phi[:order])
	}
	for k := order; k > 0; k-- {
		full := row(k)
		last := full[k-1]
		rest := 1 - last*last
		if !(rest > 0) {
			return false
		}
		variance /= rest
		if k > 1 {
			lower := row(k - 1)
			for i := range lower {
				lower[i] = (full[i] + last*full[k-2-i]) / rest
			}
		}
	}
	p.pure[0] = variance
	for k := 1; k < len(p.pure); k++ {
		sum := 0.0
		if k <= order {
			for i, value := range row(k) {
				sum += value * p.pure[k-1-i]
			}
		} else {
			for _, t := range p.ar[1:] {
				sum -= t.value * p.pure[k-t.lag]
			}
		}
		p.pure[k] = sum
	}
	return true
}

// covariances sets cross. Element j ≥ 1 of the state is what the past will add to
// the observation j steps on (Harvey's form), Σ_{k>j} φₖ y₋₍ₖ₋ⱼ₎ + Σ_{k≥j} θₖ e₋₍ₖ₋ⱼ₎, in
// time relative to the observation.
func (p *process) covariances() {
	p.autocovariances()
	p.impulse()
	clear(p.cross)
	p.cross[0] = p.auto[0]
	for _, t := range p.ar[1:] {
		for j := 1; j < t.lag; j++ {
			p.cross[j] -= t.value * p.auto[t.lag-j]
		}
	}
	for _, t := range p.ma {
		for j := 1; j <= t.lag; j++ {
			p.cross[j] += t.value * p.psi[t.lag-j]
		}
	}
}

// autocovariances sets auto: the autoregression, moved by the moving average.
func (p *process) autocovariances() {
	clear(p.auto)
	for _, a := range p.ma {
		for _, b := range p.ma {
			lag, by := a.lag-b.lag, a.value*b.value
			switch {
			case lag < 0: // the same as the other way round, below
			case lag == 0:
				for k := range p.auto {
					p.auto[k] += by * p.pure[k]
				}
			default:
				for k := range p.auto {
					p.auto[k] += by * (p.pure[k+lag] + p.pure[max(k-lag, lag-k)])
				}
			}
		}
	}
}

// impulse sets psi, the weights of past innovations in an observation.
func (p *process) impulse() {
	clear(p.psi)
	for _, t := range p.ma {
		p.psi[t.lag] += t.value
	}
	for k := range p.psi {
		sum := p.psi[k]
		for _, t := range p.ar[1:] {
			if t.lag <= k {
				sum -= t.value * p.psi[k-t.lag]
			}
		}
		p.psi[k] = sum
	}
}
