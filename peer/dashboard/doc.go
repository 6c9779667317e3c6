// Package dashboard draws what the API says as pages for browsers: the grid as it is now, its jobs and their stories.
//
// The pages are written here, by templates, from what [api.Client] answers in the name of the visitor, so that a page shows nothing
// that the API would refuse. They work without their one script, which fetches the parts of a page again
// that have changed, when the stream /changes says so. Nothing on them is from another host, and all text is escaped.
package dashboard
