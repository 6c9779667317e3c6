// Package hosting says which jobs the local site would run now, and what it quotes for them: those of
// local users in a round, and those of partners.
//
// It goes by the configuration, the accounts of users, what the site sells, what guests have, and what
// the local scheduler has quoted. The core asks the local scheduler and sends the quotes.
package hosting
