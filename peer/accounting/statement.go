package accounting

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/switchyard-hpc/switchyard/internal/int128"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Statement is what one site says of the jobs that it and a partner ran for each other in a month.
type Statement struct {
	Format int               `json:"format"` // statementFormat
	By     protocol.SiteName `json:"by"`
	With   protocol.SiteName `json:"with"`
	Month  string            `json:"month"`   // by the ends of the jobs, in UTC by the clock of By
	Made   protocol.Instant  `json:"made_ms"` // before the end of the month: the rest is not in it
	Lines  []Line            `json:"lines"`   // by the IDs of their jobs, and their epochs: a job that was requeued may have several
}

// statementFormat is the version of statements.
const statementFormat = 1

// maxCurrency is more bytes than the name of a currency has.
const maxCurrency = 16

// Line is one job that a site ran for the other one.
type Line struct {
	Job      protocol.JobID    `json:"job"`
	Epoch    protocol.Epoch    `json:"epoch"`
	Site     protocol.SiteName `json:"site"` // that ran it
	CPUs     int               `json:"cpus"`
	Ended    protocol.Instant  `json:"ended_ms"`
	Ran      protocol.Duration `json:"ran_ms"`    // as measured; 0: it was not, and the clocks of the two sites do not say the same
	Energy   int64             `json:"energy_mj"` // as measured; 0: it was not
	Cost     protocol.Micro    `json:"cost_micro"`
	Currency string            `json:"currency,omitempty"` // empty: the job was not billed
}

// tag is that of the run.
func (l *Line) tag() protocol.Tag { return protocol.Tag{Job: l.Job, Epoch: l.Epoch} }

// CPUTime is what the job was allocated: its CPUs times its run time.
func (l *Line) CPUTime() protocol.Duration {
	return protocol.Duration(int128.Product(int64(l.CPUs), int64(l.Ran)).Down())
}

// Signed is a statement with the signature of its site, and of the other one when that has compared it.
type Signed struct {
	Statement Statement         `json:"statement"`
	Signature []byte            `json:"signature"` // by the key of By
	Counter   *Countersignature `json:"countersignature,omitempty"`
}

// Countersignature is what the other site says of a statement.
type Countersignature struct {
	At        protocol.Instant `json:"at_ms"`
	Disputes  []Dispute        `json:"disputes"` // none: it agrees
	Signature []byte           `json:"signature"`
}

// Dispute is one thing on which two sites differ.
type Dispute struct {
	Job    protocol.JobID `json:"job"`
	Epoch  protocol.Epoch `json:"epoch,omitempty"` // of the run, where the two sites have more than one of the job; 0: they have one
	Field  string         `json:"field"`           // "job" where one site has no such line
	Theirs string         `json:"theirs"`
	Ours   string         `json:"ours"`
}

// signer makes a signature of a message, and verifier checks one by a public key.
type (
	signer   = func(message []byte) []byte
	verifier = func(public string, message, signature []byte) bool
)

// NewStatement states which of the jobs, own ones and guests, ran at the other site or for it and ended in
// the month.
func NewStatement(by, with protocol.SiteName, month Month, made protocol.Instant, jobs []view.Job) Statement {
	s := Statement{Format: statementFormat, By: by, With: with, Month: month.String(), Made: made, Lines: []Line{}}
	since, until := month.Bounds()
	for i := range jobs {
		job := &jobs[i]
		if job.Ended >= since && job.Ended < until && between(job, by, with) {
			s.Lines = append(s.Lines, lineOf(job))
		}
	}
	slices.SortFunc(s.Lines, func(a, b Line) int { return a.compare(&b) })
	return s
}

// between says whether a job of the archive of one site ran for the other one, or at it.
func between(job *view.Job, here, other protocol.SiteName) bool {
	ran := job.Started != 0 || job.Bill != nil
	if job.Guest {
		return ran && job.Origin == other && job.Site == here
	}
	return ran && job.Origin == here && job.Site == other
}

// compare is the order of lines in a statement.
func (l *Line) compare(other *Line) int {
	return cmp.Or(cmp.Compare(l.Job, other.Job), cmp.Compare(l.Epoch, other.Epoch))
}

func lineOf(job *view.Job) Line {
	l := Line{Job: job.ID, Epoch: job.Epoch, Site: job.Site, CPUs: job.CPUs, Ended: job.Ended, Ran: job.Ran, Energy: job.Usage.Energy}
	l.Cost, l.Currency = job.Billed()
	return l
}

// check says what is wrong with a statement in itself.
func (s *Statement) check() error {
	month, err := ParseMonth(s.Month)
	switch {
	case s.Format != statementFormat:
		return fmt.Errorf("it has format %d; this version reads %d", s.Format, statementFormat)
	case err != nil:
		return fmt.Errorf("month: %w", err)
	case s.By.Validate() != nil || s.With.Validate() != nil || s.By == s.With:
		return fmt.Errorf("it is by %.40q with %.40q, which are not two sites", s.By, s.With)
	}
	for i := range s.Lines {
		if err = s.checkLine(i, month); err != nil {
			return fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	return nil
}

// checkLine says what is wrong with a line in itself, or beside the one before.
func (s *Statement) checkLine(i int, month Month) error {
	l := &s.Lines[i]
	since, until := month.Bounds()
	_, err := protocol.ParseJobID(l.Job.String())
	switch {
	case err != nil:
		return err
	case i > 0 && l.compare(&s.Lines[i-1]) <= 0:
		return fmt.Errorf("duplicate or misplaced job %v, epoch %d", l.Job, l.Epoch)
	case l.Site != s.By && l.Site != s.With:
		return fmt.Errorf("job %v ran at %.40q, which is neither of the two sites", l.Job, l.Site)
	case l.Ended < since || l.Ended >= until:
		return fmt.Errorf("job %v ended %s, which is not in %s", l.Job, l.Ended.Text(), s.Month)
	case l.Ended > s.Made:
		return fmt.Errorf("job %v ended after the statement was made", l.Job)
	case l.CPUs < 0 || l.Ran < 0 || l.Energy < 0:
		return fmt.Errorf("job %v has an amount below 0", l.Job)
	case protocol.CheckText(l.Currency) != nil || len(l.Currency) > maxCurrency:
		return fmt.Errorf("job %v is billed in no currency", l.Job)
	}
	return nil
}

// Sign signs the statement by the key of its site.
func (s *Statement) Sign(sign signer) (Signed, error) {
	message, err := json.Marshal(s)
	return Signed{Statement: *s, Signature: sign(message)}, err
}

// Countersign signs what comparing the statement has found, by the key of the other site.
func (s *Signed) Countersign(at protocol.Instant, disputes []Dispute, sign signer) error {
	c := Countersignature{At: at, Disputes: append([]Dispute{}, disputes...)}
	message, err := s.countersigned(&c)
	if err != nil {
		return err
	}
	c.Signature = sign(message)
	s.Counter = &c
	return nil
}

// countersigned is the message of a countersignature: it holds for this statement and its signature alone.
func (s *Signed) countersigned(c *Countersignature) ([]byte, error) {
	return json.Marshal(struct {
		Statement *Statement       `json:"statement"`
		Signature []byte           `json:"signature"`
		At        protocol.Instant `json:"at_ms"`
		Disputes  []Dispute        `json:"disputes"`
	}{&s.Statement, s.Signature, c.At, c.Disputes})
}

// ErrForged says that a signature is not that of the site that it should be of.
var ErrForged = errors.New("the signature is not by the key of the site: the statement was altered, or another key is configured")

// Verify checks a statement in itself, that its site has signed it, and where it is countersigned that the
// other site did. The keys are those of the two sites, of which either may have several.
func (s *Signed) Verify(by, with []string, statement, counter verifier) error {
	if err := s.Statement.check(); err != nil {
		return err
	}
	message, err := json.Marshal(&s.Statement)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(by, func(key string) bool { return statement(key, message, s.Signature) }) {
		return fmt.Errorf("site %s: %w", s.Statement.By, ErrForged)
	}
	if s.Counter == nil {
		return nil
	}
	if message, err = s.countersigned(s.Counter); err != nil {
		return err
	}
	if !slices.ContainsFunc(with, func(key string) bool { return counter(key, message, s.Counter.Signature) }) {
		return fmt.Errorf("countersignature of site %s: %w", s.Statement.With, ErrForged)
	}
	return nil
}

// Read reads a statement as [Signed.Encode] writes it, but for the white space. Anything else in it is an error,
// since it would not be signed: unknown fields, fields that are named twice or in other letters, other forms of
// a value.
func Read(from io.Reader) (s Signed, err error) {
	data, err := io.ReadAll(from)
	if err != nil {
		return Signed{}, err
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err = decoder.Decode(&s); err != nil {
		return Signed{}, fmt.Errorf("this is no statement: %w", err)
	}
	var given bytes.Buffer
	if err = json.Compact(&given, data); err != nil {
		return Signed{}, fmt.Errorf("this is no statement: %w", err)
	}
	written, err := json.Marshal(&s)
	if err == nil && !bytes.Equal(given.Bytes(), written) {
		err = fmt.Errorf("the statement has contents that its signature does not cover, from %.60q on: it was altered", differs(given.Bytes(), written))
	}
	if err != nil {
		return Signed{}, err
	}
	return s, nil
}

// differs is the rest of a from where it is no longer b, with some of what precedes.
func differs(a, b []byte) []byte {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	const before = 20 // bytes
	return a[max(0, i-before):]
}

// Encode writes the statement as [Read] reads it.
func (s *Signed) Encode() ([]byte, error) {
	data, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err = json.Indent(&out, data, "", "  "); err != nil {
		return nil, err
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

// Other is the one of the two sites that is not this one.
func (s *Statement) Other(site protocol.SiteName) protocol.SiteName {
	if site == s.By {
		return s.With
	}
	return s.By
}
