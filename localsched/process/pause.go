package process

// AllowStarts lets jobs of the queue start, or keeps them from it: they are planned and wait.
// Jobs that run go on. With [Config.Paused] none starts before the first call.
func (s *Scheduler) AllowStarts(allowed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.paused = !allowed
	s.driver.Wake()
}
