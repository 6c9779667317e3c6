// Package display is what the peer answers as people read it: jobs, and the format language
// of their queue, applications, quotes and choices between them, sites, what is known of
// components, and the stories of jobs. Text of other people is made harmless.
package display
