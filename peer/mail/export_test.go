package mail

import "github.com/switchyard-hpc/switchyard/protocol"

// Waiting takes out what waits for the command.
func (s *Sender) Waiting() (about []protocol.MailEvent) {
	for len(s.queue) > 0 {
		l := <-s.queue
		about = append(about, l.about)
	}
	return about
}
