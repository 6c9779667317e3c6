package fairness

// KeepReported has the book keep the use of so few users of each partner's machine.
func (b *Book) KeepReported(users int) { b.maxReported = users }
