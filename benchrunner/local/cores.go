package local

import (
	"io/fs"
	"os"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"tutti/benchrunner"
)

// Cores returns how many ranks can run on this machine without sharing a core: the number of cores that this process
// may use, without their further hardware threads, or the CPU quota of its control group if that is less. It is at
// least 1.
func Cores() int {
	var set unix.CPUSet
	var cpus []int
	if unix.SchedGetaffinity(0, &set) == nil {
		for cpu := range len(set) * strconv.IntSize {
			if set.IsSet(cpu) {
				cpus = append(cpus, cpu)
			}
		}
	}
	if len(cpus) == 0 {
		for cpu := range runtime.NumCPU() {
			cpus = append(cpus, cpu)
		}
	}
	return coresOf(os.DirFS("/"), cpus)
}

func coresOf(root fs.FS, cpus []int) int {
	cores := map[string]bool{}
	for _, cpu := range cpus {
		name := strconv.Itoa(cpu)
		siblings := firstLine(root, "sys/devices/system/cpu/cpu"+name+"/topology/thread_siblings_list")
		if siblings == "" {
			siblings = name
		}
		cores[siblings] = true
	}
	n := len(cores)
	if quota := Quota(root); quota > 0 {
		n = min(n, int(quota))
	}
	return max(1, n)
}

// Quota returns how many CPUs the control groups of this process may use at a time, 0 without a limit. The files are
// those of root, which is the folder /. A container may not see the path of its group; its own group is then at the top.
func Quota(root fs.FS) float64 {
	text, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return 0
	}
	least := 0.0
	limit := func(quota, period string) {
		q, qErr := strconv.ParseFloat(quota, 64)
		p, pErr := strconv.ParseFloat(period, 64)
		if qErr == nil && pErr == nil && q > 0 && p > 0 && (least == 0 || q/p < least) {
			least = q / p
		}
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) != 3 {
			continue
		}
		for dir := path.Clean("/" + fields[2]); ; dir = path.Dir(dir) {
			if fields[1] == "" {
				quota, period, _ := strings.Cut(firstLine(root, path.Join("sys/fs/cgroup", dir, "cpu.max")), " ")
				limit(quota, period)
			} else if slices.Contains(strings.Split(fields[1], ","), "cpu") {
				for _, mount := range []string{fields[1], "cpu"} {
					at := path.Join("sys/fs/cgroup", mount, dir)
					limit(firstLine(root, path.Join(at, "cpu.cfs_quota_us")), firstLine(root, path.Join(at, "cpu.cfs_period_us")))
				}
			}
			if dir == "/" {
				break
			}
		}
	}
	return least
}

func firstLine(root fs.FS, name string) string {
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimSpace(line)
}

// threadsPerCore returns how many hardware threads the first core of a machine has.
func threadsPerCore(root fs.FS) int {
	return max(1, benchrunner.CountCPUs(firstLine(root, "sys/devices/system/cpu/cpu0/topology/thread_siblings_list")))
}
