package protocol

// Limits that the protocols share: what one peer may say of a job to another must
// reach the batch system there, and a price the policies.
const (
	MaxName     = 64   // bytes of the name of a term, a scheduler, an area
	MaxReason   = 4096 // bytes of any text for people
	MaxNote     = 256  // bytes of what people should know of a quote
	MaxCurrency = 16   // bytes
	MaxTerms    = 32   // of a quote
	MaxJobName  = 1024 // bytes
	MaxUser     = 256  // bytes
	MaxJobSites = 1024 // where a job may run
	MaxQOS      = 32   // bytes of a class of service

	MaxPartitions = 512      // bytes of a list of partitions
	MaxRules      = 32       // about these on a site's card
	MaxRuleBytes  = 16 << 10 // that they have together

	MaxResources       = 16                                 // that a job asks for, or a node or a site has
	MaxGroups          = 256                                // of nodes of a site
	MaxShared          = 128                                // kinds of resources of a whole site, such as licenses
	MaxSiteResources   = MaxGroups*MaxResources + MaxShared // kinds that the nodes of a site and the site itself have
	MaxFeatures        = 256                                // of a node
	MaxConstraint      = 1024                               // bytes of an expression of features
	MaxConstraintDepth = 16                                 // of its parentheses

	MaxWallTime = 100 * 365 * Day // of a job
	MaxMemory   = 1 << 40         // MB of a job, on all of its nodes together

	MaxScript = 4 << 20 // bytes
	MaxArgs   = 65536   // arguments of a script, and as many variables
	MaxWords  = 2 << 20 // bytes of both together, as they are submitted
	MaxPath   = 4096    // bytes
)
