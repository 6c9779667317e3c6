package store

// forgetOver is how many bytes are read or written until the pages of the file that the process
// has in its memory are forgotten.
const forgetOver = 32 << 20

// touch counts bytes that were read or written. No transaction may be open here.
func (s *Store) touch(bytes int) {
	if s.touched.Add(int64(bytes)) < forgetOver {
		return
	}
	s.touched.Store(0)
	s.swap.RLock()
	defer s.swap.RUnlock()
	if s.failure() != nil {
		return
	}
	if err := guard(func() error { return forgetPages(s.db) }); err != nil {
		s.log.Debug("store_pages_release_failed", "path", s.path, "error", err)
	}
}
