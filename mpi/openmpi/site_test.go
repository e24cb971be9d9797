package openmpi

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/internal/testutil/mpilibrarytest"
	"tutti/mpi"
	"tutti/selection"
)

// TestSiteSettings checks which settings of a site are found in the environment and in what ompi_info prints.
func TestSiteSettings(t *testing.T) {
	const listing = `mca:coll:tuned:version:"mca:2.1.0"
mca:coll:tuned:param:coll_tuned_priority:value:30
mca:coll:tuned:param:coll_tuned_priority:source:default
mca:coll:tuned:param:coll_tuned_use_dynamic_rules:value:true
mca:coll:tuned:param:coll_tuned_use_dynamic_rules:source:file (/etc/openmpi/openmpi-mca-params.conf:3)
mca:coll:tuned:param:coll_tuned_dynamic_rules_filename:value:/site.rules
mca:coll:tuned:param:coll_tuned_dynamic_rules_filename:source:file (/etc/openmpi/openmpi-mca-params.conf:4)
mca:coll:tuned:param:coll_tuned_bcast_algorithm:value:ignore
mca:coll:tuned:param:coll_tuned_bcast_algorithm:source:environment`
	const dynamicOff = "mca:coll:tuned:param:coll_tuned_use_dynamic_rules:value:false\nmca:coll:tuned:param:coll_tuned_use_dynamic_rules:source:"
	tests := []struct {
		name, listing string
		environ       []string
		want          []string
	}{
		{"nothing", "", []string{"OMPI_MCA_btl=^openib", "PATH=/bin"}, nil},
		{"a parameter file", listing, []string{"OMPI_MCA_coll_tuned_bcast_algorithm=0"}, []string{
			"file OMPI_MCA_coll_tuned_dynamic_rules_filename=/site.rules (/etc/openmpi/openmpi-mca-params.conf:4)",
			"default OMPI_MCA_coll_tuned_use_dynamic_rules=true (/etc/openmpi/openmpi-mca-params.conf:3)",
		}},
		{"pinned", "", []string{"OMPI_MCA_coll_tuned_bcast_algorithm=3"}, []string{"algorithm OMPI_MCA_coll_tuned_bcast_algorithm=3 (environment)"}},
		{"a component above", "", []string{"OMPI_MCA_coll_adapt_priority=60", "OMPI_MCA_coll_hcoll_enable=1"}, []string{
			"component OMPI_MCA_coll_adapt_priority=60 (environment)", "component OMPI_MCA_coll_hcoll_enable=1 (environment)",
		}},
		{"without tuned", "", []string{"OMPI_MCA_coll=^tuned,hcoll"}, []string{"prevents OMPI_MCA_coll=^tuned,hcoll (environment)"}},
		{"a list without tuned", "", []string{"OMPI_MCA_coll=basic,libnbc,self"}, []string{"prevents OMPI_MCA_coll=basic,libnbc,self (environment)"}},
		{"a list with tuned", "", []string{"OMPI_MCA_coll=tuned,basic"}, []string{"default OMPI_MCA_coll=tuned,basic (environment)"}},
		{"a list without hcoll", "", []string{"OMPI_MCA_coll=^hcoll"}, []string{"default OMPI_MCA_coll=^hcoll (environment)"}},
		{"no tuned installed", `mca:coll:basic:version:"mca:2.1.0"`, nil, []string{"prevents coll/tuned=absent (ompi_info)"}},
		{"a parameter of an algorithm", "", []string{"OMPI_MCA_coll_tuned_alltoall_algorithm_segmentsize=4096", "OMPI_MCA_COLL_TUNED_PRIORITY=3"}, []string{
			"default OMPI_MCA_coll_tuned_alltoall_algorithm_segmentsize=4096 (environment)",
		}},
		{"the user's file", "mca:coll:tuned:param:coll_tuned_priority:value:5\nmca:coll:tuned:param:coll_tuned_priority:source:file (/home/me/.openmpi/mca-params.conf:2)", nil, []string{
			"component OMPI_MCA_coll_tuned_priority=5 (/home/me/.openmpi/mca-params.conf:2)",
		}},
		{"dynamic rules off in a file", dynamicOff + "file (/etc/openmpi/openmpi-mca-params.conf:1)", nil, nil},
		{"dynamic rules off in the file that outranks the environment", dynamicOff + "file (/etc/openmpi/openmpi-mca-params-override.conf:1)",
			[]string{"OMPI_MCA_coll_tuned_use_dynamic_rules=1"}, []string{
				"default OMPI_MCA_coll_tuned_use_dynamic_rules=1 (environment)",
				"prevents OMPI_MCA_coll_tuned_use_dynamic_rules=false (/etc/openmpi/openmpi-mca-params-override.conf:1)",
			}},
		{"by MPI_T", "cvar coll_tuned_dynamic_rules_filename=/x\ncvar coll_tuned_priority=30\ncvar coll=", nil, []string{
			"file OMPI_MCA_coll_tuned_dynamic_rules_filename=/x (parameter file)",
		}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			var got []string
			for _, s := range Library.Settings(tc.environ, tc.listing) {
				got = append(got, string(s.Effect)+" "+s.String())
			}
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// onSite returns the build of a release on a machine with settings.
func onSite(t *testing.T, version string, environ []string, rules string) build {
	t.Helper()
	s := &mpi.Site{Settings: Library.Settings(environ, "")}
	for i := range s.Settings {
		if s.Settings[i].Effect == mpi.SelectsByFile {
			s.Settings[i].Content = []byte(rules)
		}
	}
	return build{release(t, version).OnSite(s)}
}

// TestSiteIsBase checks exported rules on a machine with a rules file. What tutti did not tune must stay as the file has
// it. Forced algorithms must start with the file turned off, and the default with it.
func TestSiteIsBase(t *testing.T) {
	b := onSite(t, "4.1.4", []string{"OMPI_MCA_coll_tuned_use_dynamic_rules=1", "OMPI_MCA_coll_tuned_dynamic_rules_filename=/site.rules"},
		"2 # collectives\n2 1 2 1 0 2 0 0 # allreduce: nonoverlapping\n7 1 4 2 0 6 0 0 1024 3 0 0 # bcast\n")
	row := func(ranks int, size int64, alg string, seconds float64) selection.Row {
		p := coll.Point{Collective: coll.Bcast, Nodes: 1, PPN: ranks, MsgBytes: size}
		return selection.Row{Point: p, Options: []selection.Option{{Algorithm: coll.Default, Seconds: 1}, {Algorithm: coll.Algorithm{Name: alg}, Seconds: seconds}}}
	}
	rows := []selection.Row{row(4, 64, "basic_linear", 0.5), row(4, 4096, "basic_linear", 2)}
	_, x := mpilibrarytest.FitAndExport(t, b, rows, mpi.MergeOptions{})
	rules := testutil.Must(b.load(x.Loaded(coll.Layout{}, fileVariable)))(t)
	for _, want := range []struct {
		collective coll.Collective
		ranks      int
		size       int64
		algorithm  int
	}{{coll.Allreduce, 4, 64, 2}, {coll.Bcast, 4, 64, 1}, {coll.Bcast, 4, 4096, 3}, {coll.Bcast, 16, 64, 6}, {coll.Bcast, 16, 4096, 3}} {
		if r := rules.choice(want.collective, coll.Layout{Nodes: 1, PPN: want.ranks}, "", want.size); r.Algorithm != want.algorithm {
			t.Errorf("%s, %d ranks, %d bytes: algorithm %d, want %d", want.collective, want.ranks, want.size, r.Algorithm, want.algorithm)
		}
	}
	for _, alg := range []string{"pipeline", coll.Default.Name} {
		f, err := Library.Force(b.cat, coll.Candidate{Point: rows[0].Point, Algorithm: coll.Algorithm{Name: alg}})
		off := false
		for _, v := range f.Base {
			off = off || v.Name == fileVariable && v.Value == ""
		}
		if err != nil || off != (alg != coll.Default.Name) {
			t.Errorf("%s: the site's file is turned off: %t, %v", alg, off, err)
		}
	}
}

// TestSitePins checks rules for a machine whose settings pin an algorithm.
func TestSitePins(t *testing.T) {
	for _, version := range []string{"4.1.4", "5.0.9"} {
		b := onSite(t, version, []string{"OMPI_MCA_coll_tuned_use_dynamic_rules=1", "OMPI_MCA_coll_tuned_bcast_algorithm=pipeline"}, "")
		rules, err := b.siteRules()
		if r := rules.Find(coll.Bcast, 8, 64); err != nil || r.Algorithm != 3 {
			t.Errorf("%s: rules %v, %v: want pipeline for bcast", version, rules, err)
		}
		var reset []string
		for _, s := range b.siteSettings(nil) {
			reset = append(reset, s.Name+"="+s.Value)
		}
		if got := strings.Join(reset, " "); got != "OMPI_MCA_coll_tuned_bcast_algorithm=0" {
			t.Errorf("%s: settings %s, want the pinned algorithm turned off", version, got)
		}
	}
}

// printed is an ompi_info that prints a text.
type printed string

func (printed) Find(string) string { return "/usr/bin/ompi_info" }

func (p printed) Ask(_ context.Context, _ string, args ...string) string {
	if len(args) > 1 {
		return string(p)
	}
	return "ompi:version:full:4.1.4\n"
}

// TestInspectSite checks that an inspection names the settings of the machine, and says if coll/tuned is not loaded.
func TestInspectSite(t *testing.T) {
	const tuned = "mca:coll:tuned:version:\"mca:2.1.0\"\nmca:coll:tuned:param:coll_tuned_bcast_algorithm:enumerator:value:1:basic_linear\n"
	for text, want := range map[string]string{
		tuned + "mca:coll:adapt:param:coll_adapt_priority:value:60\nmca:coll:adapt:param:coll_adapt_priority:source:file (/etc/x.conf:1)\n": "OMPI_MCA_coll_adapt_priority=60 (/etc/x.conf:1)",
		tuned + "mca:coll:base:param:coll:value:^tuned\nmca:coll:base:param:coll:source:environment\n":                                      "coll/tuned cannot run the algorithms that tutti selects: OMPI_MCA_coll=^tuned (environment)",
	} {
		i := Library.Inspect(t.Context(), mpi.Installed{Version: "4.1.4", Tools: printed(text)})
		got := i.Fault
		for _, s := range i.Site {
			got += s.String()
		}
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
