// Package openid verifies tokens of an OpenID Connect issuer, and says for which user of the site they stand, within which
// scopes.
//
// A token is a JSON web token that the issuer has signed: an access token in the form of RFC 9068, or one like it. Nothing is asked about
// each of them: the issuer's keys are fetched by its discovery document and kept. So a token is good until it ends, also if the
// issuer takes it back. People sign in with a browser by the authorization code flow; their ID tokens are held to the same rules.
package openid
