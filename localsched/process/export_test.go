package process

// For tests of what the package keeps to itself.
var (
	ParseStat   = func(line string) error { _, err := parseStat(line); return err }
	FindPasswd  = findPasswd
	ParseFolder = parseFolder
	FolderOf    = folderOf
	ReadExit    = func(dir string) error { _, err := readExit(dir); return err }
	NetworkFS   = networkFS
	Forbidden   = forbidden
	ErrNotPlain = errNotPlain
	CreateOnce  = createOnce
)

type Account = account
