package bus

import "time"

// receive takes what arrives on the link's connection from the partner.
func (l *link) receive(subject, token string, data []byte) {
	switch token {
	case opHello:
		if err := l.receiveHello(data); err != nil {
			l.partner.reject(err)
		}
	case opAgain:
		l.receiveAgain()
	case frameToken:
		l.receiveFrame(subject, data)
	default:
		l.partner.reject(reject(Malformed, "the subject %.80q is unknown", subject))
	}
}

func (l *link) receiveFrame(subject string, data []byte) {
	f, err := readFrame(data)
	if err != nil {
		l.partner.reject(err)
		return
	}
	s, first := l.sessionOf(f.session)
	if s == nil {
		l.partner.reject(reject(NoSession, "a frame of another session"))
		l.askAgain()
		return
	}
	op, body, err := s.open(subject, f)
	if err != nil {
		l.partner.reject(err)
		return
	}
	if !l.heardIn(s, first) {
		return
	}
	if op == opBye {
		l.bye(s)
		return
	}
	if body, err = l.assemble(op, f, body); err != nil {
		l.partner.reject(err)
		return
	}
	if body != nil {
		l.partner.receive(op, body)
	}
}

func (l *link) assemble(op string, f frame, body []byte) ([]byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.parts.add(op, f, body)
}

// sessionOf finds the session of a frame, and whether it is still pending.
func (l *link) sessionOf(id sessionID) (s *session, pending bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s = range []*session{l.current, l.previous, l.pending} {
		if s != nil && s.id == id {
			return s, s == l.pending
		}
	}
	return nil, false
}

// heardIn notes a good frame; the first one in a pending session makes it the
// current one. It says whether the session still counts.
func (l *link) heardIn(s *session, first bool) bool {
	l.mu.Lock()
	valid := s == l.current || s == l.previous || s == l.pending
	if valid {
		l.heard = time.Now()
	}
	if valid && first {
		l.use(s)
		l.sentCard(l.answered)
	}
	l.mu.Unlock()
	if valid && first {
		l.partner.refresh(&s.card)
		l.signalStep()
	}
	return valid
}

func (l *link) bye(s *session) {
	l.mu.Lock()
	current := s == l.current
	l.mu.Unlock()
	if current {
		l.down()
	}
}
