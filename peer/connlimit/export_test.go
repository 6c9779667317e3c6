package connlimit

// Remembered is for how many addresses there is a pace.
func (p *Paces) Remembered() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.of)
}
