package doctor

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"tutti/benchrunner/local"
)

// fileSystems maps the magic number of a file system to its name. The field `shared` says whether other nodes see
// its files. The numbers come from linux/magic.h and from the source code of file systems outside the kernel.
var fileSystems = map[uint32]struct {
	name   string
	shared bool
}{
	0x6969:     {"nfs", true},
	0x0bd00bd0: {"lustre", true},
	0x47504653: {"gpfs", true},
	0x19830326: {"beegfs", true},
	0x00c36400: {"ceph", true},
	0xff534d42: {"cifs", true},
	0x5346414f: {"afs", true},
	0x01021997: {"9p", true},
	0x65735546: {"fuse", true},
	0xef53:     {"ext4", false},
	0x58465342: {"xfs", false},
	0x9123683e: {"btrfs", false},
	0x01021994: {"tmpfs", false},
	0x794c7630: {"overlay", false},
	0x2fc12fc1: {"zfs", false},
}

// shareFix is the advice for a folder that other nodes do not see.
const shareFix = "set output to a folder on a file system that all nodes see"

const (
	leastSpace = 1 << 30         // bytes of free space; a campaign writes a few MB per job
	mostSkew   = 2 * time.Second // difference between the clocks of this machine and of the file system
)

func (x *examination) examineHost(context.Context) {
	x.add(x.processors(), x.folder(), x.clock())
}

func (x *examination) processors() Check {
	cores := local.Cores()
	c := ok(Host, "processors", count(cores, "core", "cores")+" usable")
	if model := firstValue(x.read("proc/cpuinfo"), "model name"); model != "" {
		c.Details[0] += ", " + model
	}
	c.Details = append(c.Details, "Linux "+cmp.Or(strings.TrimSpace(x.read("proc/sys/kernel/osrelease")), "unknown"))
	if threads := runtime.NumCPU(); threads > cores {
		c.Details = append(c.Details, fmt.Sprintf("%d hardware threads", threads))
	}
	if text := Quota(); text != "" {
		c = c.with(Warning, quotaFix).withDetail(text)
	}
	governor := strings.TrimSpace(x.read("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"))
	switch governor {
	case "":
		c.Details = append(c.Details, "the frequency governor cannot be read")
	case "performance":
		c.Details = append(c.Details, "frequency governor performance")
	default:
		c = c.with(Warning, cmp.Or(c.Fix, "cpupower frequency-set -g performance, or srun --cpu-freq=performance")).
			withDetail("frequency governor " + printable(governor) + ": clock rates change, so measurements vary")
	}
	c.Details = append(c.Details, fmt.Sprintf("more than %s share cores, which makes times meaningless", count(cores, "process", "processes")))
	if text := x.load(cores); text != "" {
		c = c.with(Warning, cmp.Or(c.Fix, "measure when no other programs run")).withDetail(text)
	}
	return c
}

// mostLoad is the highest load average, divided by the number of cores, that does not disturb measurements.
const mostLoad = 0.5

// HostWarnings returns warnings about this machine, for a campaign that measures on it: other programs use many of the
// cores that this process may use, or a quota limits them.
func HostWarnings() []string {
	out := []string{newSession(Options{}, "/").load(local.Cores())}
	if text := Quota(); text != "" {
		out = append(out, text+": "+quotaFix)
	}
	return slices.DeleteFunc(out, func(text string) bool { return text == "" })
}

const quotaFix = "measure without a quota, or with fewer ranks"

// Quota says that the CPU quota of this process is less than the CPUs of the machine. It returns "" if it is not.
func Quota() string { return quotaText(local.Quota(os.DirFS("/")), runtime.NumCPU()) }

// quotaText says that a CPU quota is less than the CPUs of the machine. It returns "" if there is none, or if it is not.
func quotaText(quota float64, cpus int) string {
	if quota <= 0 || quota >= float64(cpus) {
		return ""
	}
	return fmt.Sprintf("the CPU quota of its control group is %.3g of %s: ranks that exceed it are stopped for a while", quota, count(cpus, "CPU", "CPUs"))
}

func (x *session) load(cores int) string {
	load, known := parseLoad(x.read("proc/loadavg"))
	if !known || load <= mostLoad*float64(cores) {
		return ""
	}
	return fmt.Sprintf("load %.1f on %s: other programs run here, so measurements are slow and vary", load, count(cores, "core", "cores"))
}

func (x *examination) folder() Check {
	dir := x.options.Dir
	c := ok(Host, "folder", dir)
	if filepath.Dir(x.temp) != dir {
		return Check{Host, "folder", Missing, []string{dir, "cannot be written"}, "go to a folder of your own, on a file system that the nodes see"}
	}
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		return c.with(Warning, "").withDetail("statfs: " + err.Error())
	}
	free := float64(fs.Bavail) * float64(fs.Bsize)
	kind, known := fileSystems[uint32(fs.Type)]
	name := kind.name
	if !known {
		name = fmt.Sprintf("file system %#x", uint32(fs.Type))
	}
	shared := "local: other nodes do not see it"
	switch {
	case kind.shared:
		shared = "shared between nodes"
	case !known:
		shared = "whether nodes share it is not known"
	}
	c.Details = append(c.Details, fmt.Sprintf("%s, %s, %.1f GB free", name, shared, free/1e9))
	if free < leastSpace {
		c = c.with(Warning, "free some space, or choose another output folder")
	}
	if known && !kind.shared && x.slurm.reachable {
		c = c.with(Warning, shareFix)
	}
	return c
}

func (x *examination) clock() Check {
	now := x.now()
	c := ok(Host, "clock", now.Format(time.RFC3339))
	path := filepath.Join(x.temp, "clock")
	if err := os.WriteFile(path, nil, 0o644); err == nil {
		if info, err := os.Stat(path); err == nil {
			if skew := info.ModTime().Sub(now); skew.Abs() > mostSkew {
				c = c.with(Warning, "have the clocks synchronised (chrony, ntp)").
					withDetail(fmt.Sprintf("the file system's clock differs by %v, so ages of files are wrong", skew.Round(time.Second)))
			}
		}
	}
	if source := strings.TrimSpace(x.read("sys/devices/system/clocksource/clocksource0/current_clocksource")); source != "" {
		c.Details[0] += ", source " + printable(source)
	}
	return c
}

func (x *session) read(path string) string {
	text, err := os.ReadFile(filepath.Join(x.root, path))
	if err != nil {
		return ""
	}
	return string(text[:min(len(text), 64<<10)])
}

func firstValue(text, name string) string {
	for line := range strings.Lines(text) {
		key, value, is := strings.Cut(line, ":")
		if is && strings.TrimSpace(key) == name {
			return printable(strings.TrimSpace(value))
		}
	}
	return ""
}

func parseLoad(text string) (float64, bool) {
	first, _, _ := strings.Cut(text, " ")
	load, err := strconv.ParseFloat(first, 64)
	return load, err == nil && load >= 0
}
