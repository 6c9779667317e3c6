package process

// For tests of what the package keeps to itself.
var (
	ParseStat   = func(line string) error { _, err := parseStat(line); return err }
	FindPasswd  = findPasswd
	ParseFolder = parseFolder
	FolderOf    = folderOf
	Forbidden   = forbidden
	ReadJob     = readJob
	ReadExit    = readExit
	CreateOnce  = createOnce
)

type Account = account
