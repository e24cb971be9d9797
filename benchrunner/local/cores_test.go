package local

import (
	"testing"
	"testing/fstest"
)

func TestCores(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text + "\n")} }
	threads := fstest.MapFS{}
	for cpu, siblings := range []string{"0,2", "1,3", "0,2", "1,3"} {
		threads["sys/devices/system/cpu/cpu"+string(rune('0'+cpu))+"/topology/thread_siblings_list"] = file(siblings)
	}
	with := func(files map[string]string) fstest.MapFS {
		all := fstest.MapFS{}
		for name, f := range threads {
			all[name] = f
		}
		for name, text := range files {
			all[name] = file(text)
		}
		return all
	}
	for _, tc := range []struct {
		name string
		root fstest.MapFS
		cpus []int
		want int
	}{
		{"no topology", fstest.MapFS{}, []int{0, 1, 2}, 3},
		{"threads", threads, []int{0, 1, 2, 3}, 2},
		{"threads of one core", threads, []int{1, 3}, 1},
		{"quota of version 2", with(map[string]string{"proc/self/cgroup": "0::/a/b", "sys/fs/cgroup/a/cpu.max": "150000 100000", "sys/fs/cgroup/a/b/cpu.max": "max 100000"}), []int{0, 1}, 1},
		{"quota at the top", with(map[string]string{"proc/self/cgroup": "0::/../x", "sys/fs/cgroup/cpu.max": "50000 100000"}), []int{0, 1}, 1},
		{"no quota", with(map[string]string{"proc/self/cgroup": "0::/a", "sys/fs/cgroup/a/cpu.max": "max 100000"}), []int{0, 1}, 2},
		{"quota of version 1", with(map[string]string{"proc/self/cgroup": "3:cpu,cpuacct:/a\n1:name=systemd:/", "sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us": "100000",
			"sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us": "100000"}), []int{0, 1}, 1},
		{"no quota of version 1", with(map[string]string{"proc/self/cgroup": "1:cpu:/", "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1", "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000"}), []int{0, 1}, 2},
		{"quota above the cores", with(map[string]string{"proc/self/cgroup": "0::/", "sys/fs/cgroup/cpu.max": "800000 100000"}), []int{0, 1}, 2},
	} {
		if got := coresOf(tc.root, tc.cpus); got != tc.want {
			t.Errorf("%s: %d cores, want %d", tc.name, got, tc.want)
		}
	}
	if n := Cores(); n < 1 {
		t.Errorf("%d cores here", n)
	}
}
