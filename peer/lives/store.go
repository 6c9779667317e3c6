package lives

import (
	"fmt"
	"slices"

	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Here is what a start knows of its store beside the rows.
type Here struct {
	Site       protocol.SiteName
	Number     protocol.SiteNumber
	TrackLives bool          // the lives of stores have numbers
	Machine    string        // that the state directory is on; empty: not known
	Witness    protocol.Life // what the file beside the rows has seen; zero: nothing
	// QueueApart: nothing of the local queue is in the state directory, so that it is not copied
	// or put back with the rows.
	QueueApart bool
}

// Store is this site's store: the row of the site, and what is known of how far its lives have
// come.
type Store struct {
	row.Site

	Generation uint64 // rises with every step that changes rows
	Listening  bool   // nothing is started yet: partners may know better than the rows

	here    Here
	began   uint64                             // the generation with which this life began
	known   protocol.Life                      // the most that partners have seen of this site, of lives that the rows do not know
	reasons []string                           // for the recovery that an operator must decide about
	unknown map[protocol.Tag]protocol.SiteName // placements of this site's jobs that partners speak of, and no row
}

// New is a store of which no row is known yet.
func New(here Here) Store { return Store{here: here} }

// TracksLives reports whether the lives of stores have numbers at all.
func (s *Store) TracksLives() bool { return s.here.TrackLives }

// Life is the present life, as the rows have it; zero if lives have no numbers.
func (s *Store) Life() protocol.Life {
	if !s.TracksLives() {
		return protocol.Life{}
	}
	return protocol.Life{Incarnation: s.Incarnation, Boot: s.Boot, Begun: s.Begun, Generation: s.Generation}
}

// atBegin is the present life as it began: what an earlier one did was in the rows then.
func (s *Store) atBegin() protocol.Life {
	life := s.Life()
	life.Generation = s.began
	return life
}

// Found gives a store without rows its counters.
func (s *Store) Found(now protocol.Instant) {
	first := sinceEpoch(now)
	s.Site = row.Site{FirstStart: now, Incarnation: uint64(max(now, 1)), FirstSeq: max(first, 1), NextSeq: max(first, 1)}
}

// Begin begins a life, and looks whether the rows are what they were, unless the store is new.
// It says whether starts have to stop, which they had not before.
func (s *Store) Begin(now protocol.Instant, fresh bool) (stops bool) {
	if !s.TracksLives() {
		return false
	}
	s.began = s.Generation
	if !fresh {
		if why := s.behindWitness(); why != "" {
			s.Witnessed = Latest(s.Witnessed, s.here.Witness)
			stops = s.NeedRecovery(why)
		}
		if why := s.moved(); why != "" {
			s.QueueCopied = true
			stops = s.NeedRecovery(why) || stops
		}
	}
	s.Boot++
	s.Begun = now
	if s.Recovery == "" {
		s.settleOn()
	}
	return stops
}

// settleOn notes the machine that the store is on, where it is known.
func (s *Store) settleOn() {
	if s.here.Machine != "" {
		s.Machine = s.here.Machine
	}
}

// behindWitness compares the rows, as they were left, with what the shell's file remembers.
func (s *Store) behindWitness() string {
	seen := s.here.Witness
	if seen.Boot == 0 || seen.Incarnation < s.Incarnation {
		return ""
	}
	if left := s.Life(); left.Incarnation != seen.Incarnation || left.Generation < seen.Generation || left.Boot < seen.Boot ||
		(left.Boot == seen.Boot && left.Begun != seen.Begun) {
		return fmt.Sprintf("the database is older than the witness file beside it: it was left at %v, the file has seen %v", left, seen)
	}
	return ""
}

// moved compares the machine with the one that the rows were written on.
func (s *Store) moved() string {
	here := s.here.Machine
	if s.Machine == "" || here == "" || s.Machine == here {
		return ""
	}
	return fmt.Sprintf("the state directory was copied or moved: its database was written on %s, and this is %s", s.Machine, here)
}

// maxReasons bounds the reasons for a recovery that people are shown.
const maxReasons = 8

// NeedRecovery stops all starts until an operator decides. More reasons add up. It says whether
// starts were not stopped for that before.
func (s *Store) NeedRecovery(why string) (stops bool) {
	if slices.Contains(s.reasons, why) {
		return false
	}
	if len(s.reasons) < maxReasons {
		s.reasons = append(s.reasons, why)
	}
	if s.Recovery != "" {
		return false
	}
	s.Recovery = view.Clip(why)
	return true
}

// SeenBy takes what a partner durably knows of this site. Whoever carries the messages has
// checked that this site has said so itself.
func (s *Store) SeenBy(partner protocol.SiteName, seen protocol.Life) (stops, changed bool) {
	mine := s.atBegin()
	if !s.TracksLives() || seen.Boot == 0 || mine.Follows(seen) {
		return false, false
	}
	s.known = Latest(s.known, seen)
	if !s.QueueCopied && !s.seenByWitness(seen) {
		s.QueueCopied, changed = true, true
	}
	stops = s.NeedRecovery(fmt.Sprintf("%s has seen a later state of this site than its database has: %v, the database began with %v",
		partner, seen, mine))
	return stops, changed || stops
}

// seenByWitness says whether the witness file, which is beside the rows and the local queue, had
// seen a life as well. If so, the rows alone are older, and the local queue is the newest. If
// not, all of them are as old.
func (s *Store) seenByWitness(seen protocol.Life) bool {
	return s.Witnessed.Follows(seen) && s.Witnessed.Generation >= seen.Generation
}

// TwinSeen takes another peer that a partner has heard as this site, and says whether that is
// news. A life that the rows come from is no other peer, unless it has gone on after this one
// began; one that matters less than a twin which is known changes nothing.
func (s *Store) TwinSeen(twin protocol.Life) bool {
	if s.atBegin().Follows(twin) || twin.Same(s.Twin) || twin.Incarnation < s.Twin.Incarnation {
		return false
	}
	s.Twin = twin
	return true
}

// TwinText says which two peers run as this site.
func (s *Store) TwinText() string {
	return fmt.Sprintf("two peers run as %s: this one (%v) and another one (%v); shut one of them down, "+
		"then run `switchyard recover` at the other", s.here.Site, s.Life(), s.Twin)
}

// NeedsOperator says whether nothing is started until an operator decides.
func (s *Store) NeedsOperator() bool { return s.Recovery != "" || s.Twin.Boot != 0 }

// StopReason is why nothing may be started; empty: it may.
func (s *Store) StopReason() string {
	switch {
	case s.Recovery != "":
		return "nothing is started here until an operator has run `switchyard recover`: " + s.Recovery
	case s.Twin.Boot != 0:
		return s.TwinText()
	case s.Listening:
		return "the peer has just started and listens to its partners first"
	}
	return ""
}

// Mute says whether nothing may be reported of jobs either, since the rows may be a copy's.
func (s *Store) Mute() bool { return s.Recovery != "" || s.Listening }
