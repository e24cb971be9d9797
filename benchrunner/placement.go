package benchrunner

import (
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"

	"tutti/coll"
	"tutti/internal/lazyregexp"
)

const (
	placementMark = "tutti: process on host "
	placementFile = "placed.sh"
)

// placementScript makes each rank print its host before it runs the program. Otherwise nothing would show that
// a launcher has started all ranks on one node.
const placementScript = `#!/bin/sh
read -r host </proc/sys/kernel/hostname
echo "` + placementMark + `$host" >&2
exec "$@"
`

// ReportHosts wraps a command of a launch in the folder dir, so that each rank prints its host. PlacementError
// reads these lines.
func ReportHosts(dir string, cmd Command) Command {
	files := map[string][]byte{placementFile: []byte(placementScript)}
	maps.Copy(files, cmd.Files)
	cmd.Files = files
	cmd.Args = append([]string{"/bin/sh", filepath.Join(dir, placementFile)}, cmd.Args...)
	return cmd
}

// Executable returns the program that a command runs, even if ReportHosts has wrapped the command. It
// returns "" for a command without arguments.
func (c Command) Executable() string {
	switch {
	case len(c.Args) > 2 && c.Args[0] == "/bin/sh" && filepath.Base(c.Args[1]) == placementFile:
		return c.Args[2]
	case len(c.Args) > 0:
		return c.Args[0]
	}
	return ""
}

var placementForm = lazyregexp.New(regexp.QuoteMeta(placementMark) + `([A-Za-z0-9._-]+)`)

// PlacementError returns how the hosts of the ranks differ from the layout, "" if they agree. The command
// must come from ReportHosts. If ranks are missing, the text contains the launcher's message.
func (o Output) PlacementError(l coll.Layout) string {
	perHost, total := map[string]int{}, 0
	for _, stream := range [][]byte{o.Stderr, o.Stdout} { // some launchers merge them
		for _, m := range placementForm.FindAllSubmatch(stream, -1) {
			perHost[string(m[1])]++
			total++
		}
	}
	if total != l.Ranks() {
		text := fmt.Sprintf("%d ranks started, want %d", total, l.Ranks())
		if words := o.FirstMessage(); words != "" {
			text += ": " + words
		}
		return text
	}
	for _, host := range slices.Sorted(maps.Keys(perHost)) {
		if perHost[host] != l.PPN {
			return fmt.Sprintf("%d ranks on %s, want %d on each of %d nodes", perHost[host], host, l.PPN, l.Nodes)
		}
	}
	if len(perHost) != l.Nodes {
		return fmt.Sprintf("ranks on %d nodes, want %d", len(perHost), l.Nodes)
	}
	return ""
}
