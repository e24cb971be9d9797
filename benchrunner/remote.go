package benchrunner

import _ "embed"

// RemoteShell has lines of bash that let launchers start processes on other nodes of a PBS job whose nodes refuse ssh. It
// writes a file into the working folder, and does nothing where PBS is missing.
//
//go:embed remote.sh
var RemoteShell string
