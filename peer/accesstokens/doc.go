// Package accesstokens keeps the tokens by which callers of the API over TCP say who they are. A token is a
// secret, shown once when it is made; its file has the secret's SHA-256 only. Each token stands for one
// user of the site, has scopes, and expires.
package accesstokens
