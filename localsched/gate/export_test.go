package gate

// NameOf is that of a job's record.
var NameOf = nameOf
