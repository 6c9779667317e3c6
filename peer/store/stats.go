package store

import (
	"math/bits"
	"time"

	"go.etcd.io/bbolt"
)

// BatchBuckets is the number of buckets of [Stats.BatchSizes].
const BatchBuckets = 10

// Stats are counters since the store was opened, and sizes of now.
type Stats struct {
	Commits  uint64 // transactions written
	Requests uint64 // calls of Commit and Enqueue that these held
	Rows     uint64 // rows put or deleted
	Bytes    uint64 // of the keys and values of these rows
	Failures uint64 // transactions that failed

	// BatchSizes counts transactions by how many requests they held: bucket i
	// those with more than 2^(i-1) and up to 2^i.
	BatchSizes [BatchBuckets]uint64
	LastBatch  int           // requests in the last transaction
	LastCommit time.Duration // what the last transaction took, with its syncs
	Busy       time.Duration // what all transactions took

	Queued    int   // requests in line now
	FileBytes int64 // size of the file
	FreeBytes int64 // of that, pages that hold nothing
	Broken    bool  // whether the store is out of service
}

// Stats returns the counters.
func (s *Store) Stats() Stats {
	s.swap.RLock()
	defer s.swap.RUnlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	stats := s.stats
	stats.Queued = len(s.queue)
	stats.Broken = s.broken != nil
	if info, err := s.file.Stat(); err == nil { // fails once the store is closed
		stats.FileBytes = info.Size()
	}
	return stats
}

// count records a transaction.
func (s *Store) count(batch []*request, took time.Duration, err error) {
	var free int64
	if err == nil { // after an error bbolt's map may be gone
		free = freeBytes(s.db)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.LastCommit = took
	s.stats.Busy += took
	s.stats.LastBatch = len(batch)
	if err != nil {
		s.stats.Failures++
		return
	}
	s.stats.FreeBytes = free
	s.stats.Commits++
	s.stats.BatchSizes[bits.Len64(uint64(len(batch)-1))]++ //nolint:gosec // a batch is never empty
	s.stats.Requests += uint64(len(batch))
	for _, r := range batch {
		s.stats.Rows += uint64(len(r.puts))
		s.stats.Bytes += uint64(r.size) //nolint:gosec // not negative
	}
}

// freeBytes is the room inside the file.
func freeBytes(db *bbolt.DB) int64 {
	stats := db.Stats()
	return int64(stats.FreePageN+stats.PendingPageN) * int64(db.Info().PageSize)
}
