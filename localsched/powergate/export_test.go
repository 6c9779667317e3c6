package powergate

// NameOf is that of a job's record.
var NameOf = nameOf

// Looks is how often the gate has looked which jobs the budget holds.
func (g *Gate) Looks() uint64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.driver.BudgetScans()
}
