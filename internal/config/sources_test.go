package config

import (
	"testing"

	"tutti/mpi"
)

// TestWithSources sets one variable in every place that a campaign and its user have. The place that counts is named.
func TestWithSources(t *testing.T) {
	const name, setting = "OMPI_MCA_coll_adapt_priority", "OMPI_MCA_coll_adapt_priority=60"
	tests := []struct {
		name   string
		runner Runner
		lib    Library
		shell  []string
		module string // variable that the module site/2 sets
		source string // before
		want   string
	}{
		{"nobody", Runner{Env: []string{name + "=6"}}, Library{}, []string{setting + "0"}, "", mpi.FromEnvironment, "environment"},
		{"shell", Runner{Setup: []string{"export X_" + name + "=60"}}, Library{}, []string{setting}, "", mpi.FromEnvironment, "environment of the shell"},
		{"modules", Runner{Modules: []string{"m"}}, Library{}, nil, "", mpi.FromEnvironment, "environment after runner.modules"},
		{"a module", Runner{Modules: []string{"m"}, Setup: []string{". site.sh"}}, Library{}, []string{setting}, name, mpi.FromEnvironment, "module site/2"},
		{"a module, older name", Runner{Modules: []string{"m"}}, Library{}, nil, "MPICH_ADAPT", mpi.FromEnvironment + " as MPICH_ADAPT", "module site/2 as MPICH_ADAPT"},
		{"a module and a key", Runner{Env: []string{setting}}, Library{}, nil, name, mpi.FromEnvironment, "runner.env"},
		{"a file that the set-up reads", Runner{Setup: []string{". site.sh"}}, Library{}, nil, "", mpi.FromEnvironment, "environment after runner.setup"},
		{"modules and set-up", Runner{Modules: []string{"m"}, Setup: []string{". site.sh"}}, Library{}, nil, "", mpi.FromEnvironment, "environment after runner.modules and runner.setup"},
		{"set-up", Runner{Modules: []string{"m"}, Setup: []string{"true", "export " + setting}}, Library{}, []string{setting}, "", mpi.FromEnvironment, "runner.setup"},
		{"key of the runner", Runner{Setup: []string{"export " + name + "=6"}, Env: []string{setting}}, Library{}, []string{setting}, "", mpi.FromEnvironment, "runner.env"},
		{"key of the library", Runner{Env: []string{setting}}, Library{Env: []string{setting}}, nil, "", mpi.FromEnvironment, "libraries[].env"},
		{"argument", Runner{}, Library{LauncherArgs: []string{"--mca", "coll_adapt_priority", "60"}, Env: []string{name + "=6"}}, nil, "", mpi.FromEnvironment, "launcher_args"},
		{"argument with its value", Runner{}, Library{LauncherArgs: []string{"-x", setting}}, nil, "", mpi.FromEnvironment, "launcher_args"},
		{"argument of another name", Runner{}, Library{LauncherArgs: []string{"--mca", "coll_adapt_priority_2", "60"}}, nil, "", mpi.FromEnvironment, "environment"},
		{"older name", Runner{Env: []string{"MPICH_ADAPT=60"}}, Library{}, nil, "", mpi.FromEnvironment + " as MPICH_ADAPT", "runner.env as MPICH_ADAPT"},
		{"parameter file", Runner{Env: []string{setting}}, Library{}, []string{setting}, "", "file (/etc/openmpi-mca-params.conf:2)", "file (/etc/openmpi-mca-params.conf:2)"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			c := &Campaign{Runner: tc.runner}
			s := mpi.SiteSetting{Name: name, Value: "60", Source: tc.source}
			if got := c.WithSources([]mpi.SiteSetting{s}, tc.lib, tc.shell, map[string]string{tc.module: "site/2"})[0].Source; got != tc.want {
				t.Errorf("source %q, want %q", got, tc.want)
			}
		})
	}
}
