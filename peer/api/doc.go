// Package api lets the people of a site talk to its peer: HTTP and JSON over a
// unix socket, where the kernel says who calls, and over TCP, where a token does ([Network]).
//
//	POST   /v1/jobs                submit jobs, all or none         Submission → view.Submitted
//	POST   /v1/quotes              what every site would answer     Submission → Quoted
//	GET    /v1/jobs                ?all=true&limit=n                → view.Queue
//	GET    /v1/jobs/{id}           one job, live or finished        → view.Job
//	DELETE /v1/jobs/{id}           cancel, ?elements=1-5            → view.Done
//	PATCH  /v1/jobs/{id}           change one that has not started  protocol.Change → view.Done
//	POST   /v1/jobs/{id}/hold      keep it from starting            → view.Done
//	POST   /v1/jobs/{id}/release   end that                         → view.Done
//	POST   /v1/jobs/{id}/requeue   have it start again              Requeue → view.Done
//	GET    /v1/jobs/{id}/wait      up to a minute for its end       → view.Job
//	GET    /v1/jobs/{id}/explain   what happened to it              → Explanation
//	GET    /v1/jobs/{id}/output    ?stream=stdout&offset=n&follow=true, see [Client.Output]
//	GET    /v1/jobs/{id}/files     ?file=pattern, of one that has ended, over TCP only, see [Client.Fetch]
//	POST   /v1/files               ?dir=path, an archive of files for a job, over TCP only, see [Client.Place]
//	GET    /v1/sites               what is known of every site      → view.Sites
//	POST   /v1/sites/{site}/drain  take, or give it, no new jobs    Drain → view.Done
//	POST   /v1/sites/{site}/resume end that                         → view.Done
//	GET    /v1/counts              how many jobs there are          → view.Counts
//	GET    /v1/shares              how users stand with their shares → view.Shares
//	GET    /v1/history             jobs that have ended, by time    → view.History, see [Past]
//	GET    /v1/usage               what these came to, ?by=user     → view.Usage
//	GET    /v1/runs                ?component=name&all=true         → view.RunHistory
//	GET    /v1/events              what happens, as it happens, see [Client.Events]
//	GET    /v1/info                what peer this is                → Info
//	GET    /v1/recovery            what is wrong with the store     → view.Recovery
//	POST   /v1/recovery            have it go on                    Resume → view.Recovery
//	GET    /v1/plugins             those that the peer has started  → Plugins
//	GET    /v1/prices              of electricity at this site      → Prices
//	GET    /v1/settings/changes    what changed in the settings     → SettingsHistory
//	POST   /v1/reload              read the configuration again     → Reloaded
//	GET    /v1/openapi.json        all this in OpenAPI 3.1
//	GET    /v1/store               what the database holds, ?verify → StoreReport, at the socket only
//	POST   /v1/store/backup        a snapshot of the database, at the socket only
//	POST   /v1/store/compact       make its file smaller            → Compacted, at the socket only
//	GET    /v1/tokens              the caller's, or ?all=true       → Tokens, at the socket only
//	POST   /v1/tokens              a new one                        NewToken → CreatedToken, at the socket only
//	DELETE /v1/tokens/{token}      revoke                           → view.Done, at the socket only
//
// A client that sends the header Switchyard-Progress, and no Expect, gets an interim answer (102) every 100 seconds until
// the answer begins, by which it knows that the peer is at work.
//
// All errors are a view.Refusal in JSON, with the HTTP status that fits
// its code. All users of the machine may submit and look at the queue, of which
// with [Config.Private] they see their own jobs. Only a job's user, root, the
// account of the peer and [Config.Admins] may cancel it, and all but the last read
// its output. What a job runs is never shown.
package api
