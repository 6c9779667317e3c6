// Package accounting adds up what jobs that have ended came to: by user, account, site, origin, month
// and state, and in statements that two sites exchange about the jobs that each ran for the other. All
// amounts are whole numbers.
package accounting
