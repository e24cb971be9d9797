package slurm

import (
	"fmt"
	"strings"

	"tutti/internal/lazyregexp"
)

// directive matches one argument of sbatch: a long option, optionally with "=" and a value.
var directive = lazyregexp.New(`^--([a-z][a-z0-9-]+)(=(.+))?$`)

// reservedOptions lists the options that a site's directives must not contain, with the reason.
var reservedOptions = []struct{ reason, names string }{
	{"it has a key of its own", "account constraint exclusive partition qos reservation"},
	{"it is set for each job", "chdir error export export-file input job-name no-requeue nodes ntasks ntasks-per-node " +
		"open-mode output parsable propagate time"},
	{"jobs would not run as asked for", "array begin clusters dependency get-user-env gid hold ignore-pbs immediate " +
		"no-kill quiet requeue signal test-only time-min uid verbose wait wrap x11"},
	{"it runs nothing", "help usage version"},
}

// flags lists the options that have no value. For any other option without "=", sbatch would take the next
// argument as the value.
var flags = map[string]bool{
	"contiguous": true, "overcommit": true, "oversubscribe": true, "reboot": true, "spread-job": true, "use-min-nodes": true,
}

// CheckDirective returns an error unless d is a long option of sbatch that a site may add to every job. It also
// rejects abbreviated options, because sbatch accepts them: an abbreviation could stand for an option that
// sites must not set.
func CheckDirective(d string) error {
	m := directive.FindStringSubmatch(d)
	if m == nil {
		return fmt.Errorf("slurm: directive %q: want a long option of sbatch, --name or --name=value", d)
	}
	name, value := m[1], m[3]
	if err := checkValue(value); err != nil {
		return fmt.Errorf("slurm: directive %q: %w", d, err)
	}
	for _, t := range reservedOptions {
		for full := range strings.FieldsSeq(t.names) {
			if strings.HasPrefix(full, name) {
				return fmt.Errorf("slurm: directive %q: --%s is refused: %s", d, full, t.reason)
			}
		}
	}
	if m[2] == "" && !flags[name] {
		return fmt.Errorf("slurm: directive %q: want --%s=value", d, name)
	}
	if m[2] != "" && flags[name] && name != "oversubscribe" {
		return fmt.Errorf("slurm: directive %q: --%s has no value", d, name)
	}
	return nil
}
