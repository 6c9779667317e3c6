package notices

import "context"

// NewSenderTo makes a sender with one receiver.
func NewSenderTo(cfg Config, hand func(context.Context, []byte) error) *Sender {
	s := NewSender(cfg)
	s.addReceiver("test", hand)
	return s
}

// Post hands a notice to the URL, once.
func (s *Sender) Post(ctx context.Context, body []byte) error { return s.post(ctx, body) }
