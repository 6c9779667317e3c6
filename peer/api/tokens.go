package api

import (
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/accesstokens"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

const maxTokenRequest = 4096 // bytes

// NewToken is the body of a request for a token.
type NewToken struct {
	User   string              `json:"user,omitempty"` // empty: the caller
	Scopes accesstokens.Scopes `json:"scopes"`
	Life   protocol.Duration   `json:"lifetime_ms"`
	Note   string              `json:"note,omitempty"` // what it is for
}

// CreatedToken answers it.
type CreatedToken struct {
	Token  accesstokens.Token `json:"token"`
	Secret string             `json:"secret"` // shown here only
}

// Tokens are those that the caller may see and that have not expired.
type Tokens struct {
	Tokens []accesstokens.Token `json:"tokens"`
}

// book has the tokens, if the site has the API over TCP.
func (s *server) book() (*accesstokens.Book, error) {
	if s.Network == nil {
		return nil, refuse(view.Unavailable, "the site has no API over TCP, and so no tokens; its administrator can set [api] listen")
	}
	return s.Network.Tokens, nil
}

// tokens lists the tokens of the caller, or all users' where the caller manages these.
func (s *server) tokens(w http.ResponseWriter, r *http.Request, who caller) error {
	all := false
	if err := parse(r.URL.Query(), map[string]func([]string) error{"all": once(&all, parseBool)}); err != nil {
		return err
	}
	book, err := s.book()
	if err != nil {
		return err
	}
	user := who.user
	if all {
		if !s.manages(who) {
			return refuse(view.Denied, "only administrators see the tokens of all users; you are %s", who.user)
		}
		user = ""
	}
	return reply(w, http.StatusOK, Tokens{Tokens: book.List(user, protocol.InstantOf(time.Now()))})
}

func (s *server) createToken(w http.ResponseWriter, r *http.Request, who caller) error {
	book, err := s.book()
	if err != nil {
		return err
	}
	var wanted NewToken
	decoder := newDecoder(http.MaxBytesReader(w, r.Body, maxTokenRequest))
	if err = decoder.Decode(&wanted); err != nil {
		return refuse(view.BadRequest, "invalid request for a token: %v", err)
	}
	if wanted.User == "" {
		wanted.User = who.user
	}
	uid, err := s.mayCreate(r, who, &wanted)
	if err != nil {
		return err
	}
	now := protocol.InstantOf(time.Now())
	secret, made, err := book.Create(accesstokens.Token{
		User: wanted.User, UID: uid, Scopes: wanted.Scopes, Note: wanted.Note, Maker: who.user, Expires: now.Add(wanted.Life),
	}, now)
	if invalid, ok := errors.AsType[*accesstokens.InvalidError](err); ok {
		return refuse(view.BadRequest, "%s", invalid.Reason)
	}
	if err != nil {
		return err
	}
	s.Log.Info("token_created", "token", made.ID, "user", made.User, "scopes", made.Scopes.String(), "by", who.user, "expires", made.Expires.Time())
	return reply(w, http.StatusCreated, CreatedToken{Token: made, Secret: secret})
}

// mayCreate refuses tokens by which the caller, or another, could do more than he may, and is the number of their user.
func (s *server) mayCreate(r *http.Request, who caller, wanted *NewToken) (uid int, err error) {
	uid = who.uid
	if wanted.User != who.user {
		if !who.admin {
			return 0, refuse(view.Denied, "only root and the peer's account may make tokens for others; you are %s", who.user)
		}
		user, err := s.Network.User(r.Context(), wanted.User)
		if err != nil {
			return 0, err
		}
		uid = int(user.UID)
	}
	if s.Network.givesNone(wanted.User, uid) {
		return 0, refuse(view.Denied, "the account %s runs jobs of partners' users, who would have the token after these jobs; make it for another user", wanted.User)
	}
	operator := managesPeer(uid) || slices.Contains(s.Admins, wanted.User)
	if wanted.Scopes.Has(accesstokens.Operate) && !operator {
		return 0, refuse(view.Denied, "%s is no administrator of this site, and so can have no token with the scope %s", wanted.User, accesstokens.Operate)
	}
	return uid, nil
}

func (s *server) revokeToken(w http.ResponseWriter, r *http.Request, who caller) error {
	book, err := s.book()
	if err != nil {
		return err
	}
	user := who.user
	if s.manages(who) {
		user = ""
	}
	id := r.PathValue("token")
	if err = book.Revoke(id, user, protocol.InstantOf(time.Now())); err != nil {
		if errors.Is(err, accesstokens.ErrUnknown) {
			return refuse(view.NotFound, "you have no token %q; see `switchyard token list`", id)
		}
		return err
	}
	s.Log.Info("token_revoked", "token", id, "by", who.user)
	return reply(w, http.StatusOK, view.Done{})
}
