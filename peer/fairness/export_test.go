package fairness

import "github.com/switchyard-hpc/switchyard/localsched/fairshare"

// KeepReported has the book keep the use of so few users of each partner's machine.
func (b *Book) KeepReported(users int) { b.maxReported = users }

// LocalUse is what a user has used in the local queue.
func (b *Book) LocalUse(name string) int64 { return b.local.Of(fairshare.Key{User: name}).Use }
