package forcing_test

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/coll"
	"tutti/coll/catalogue"
	"tutti/forcing"
)

func release(t *testing.T, library, version string) *catalogue.Catalogue {
	t.Helper()
	cat, err := catalogue.For(library, version)
	if err != nil {
		t.Fatal(err)
	}
	return cat
}

func candidate(t *testing.T, c coll.Collective, layout coll.Layout, bytes int64, algorithm string) coll.Candidate {
	t.Helper()
	a, err := coll.ParseAlgorithm(algorithm)
	if err != nil {
		t.Fatal(err)
	}
	return coll.Candidate{Point: coll.Point{Collective: c, Nodes: layout.Nodes, PPN: layout.PPN, MsgBytes: bytes}, Algorithm: a}
}

func vars(list []forcing.Var) []string {
	var out []string
	for _, v := range list {
		if v.File != nil {
			out = append(out, v.Name+" is a file")
			continue
		}
		out = append(out, v.Name+"="+v.Value)
	}
	return out
}

func switches(list []forcing.Switch) []string {
	var out []string
	for _, s := range list {
		out = append(out, fmt.Sprintf("%s=%d", s.Name, s.Value))
	}
	return out
}

func TestOf(t *testing.T) {
	const (
		mpich = "MPIR_CVAR_"
		ompi  = "OMPI_MCA_"
	)
	tests := []struct {
		name               string
		library, version   string
		collective         coll.Collective
		algorithm          string
		env, base, toggles []string
		newComm            bool
	}{
		{
			name: "mpich flat", library: catalogue.MPICH, version: "4.0.2", collective: coll.Bcast, algorithm: "binomial",
			env:     []string{mpich + "COLLECTIVE_FALLBACK=error", mpich + "BCAST_DEVICE_COLLECTIVE=0", mpich + "BCAST_INTRA_ALGORITHM=binomial"},
			base:    []string{mpich + "COLLECTIVE_FALLBACK=error"},
			toggles: []string{mpich + "COLLECTIVE_FALLBACK=0", mpich + "BCAST_DEVICE_COLLECTIVE=0", mpich + "BCAST_INTRA_ALGORITHM=1"},
		},
		{
			name: "mpich algorithm that calls itself", library: catalogue.MPICH, version: "4.0.2", collective: coll.Scan, algorithm: "smp",
			env:     []string{mpich + "COLLECTIVE_FALLBACK=silent", mpich + "SCAN_DEVICE_COLLECTIVE=0", mpich + "SCAN_INTRA_ALGORITHM=smp"},
			base:    []string{mpich + "COLLECTIVE_FALLBACK=error"},
			toggles: []string{mpich + "COLLECTIVE_FALLBACK=2", mpich + "SCAN_DEVICE_COLLECTIVE=0", mpich + "SCAN_INTRA_ALGORITHM=2"},
		},
		{
			name: "mpich default", library: catalogue.MPICH, version: "4.0.2", collective: coll.ReduceScatterBlock, algorithm: "library_default",
			base:    []string{mpich + "COLLECTIVE_FALLBACK=error"},
			toggles: []string{mpich + "COLLECTIVE_FALLBACK=0", mpich + "REDUCE_SCATTER_BLOCK_DEVICE_COLLECTIVE=1", mpich + "REDUCE_SCATTER_BLOCK_INTRA_ALGORITHM=0"},
		},
		{
			name: "mpich parameters", library: catalogue.MPICH, version: "4.3.2", collective: coll.Allgather, algorithm: "recexch_halving(k=4,single_phase_recv=1)",
			env: []string{mpich + "COLLECTIVE_FALLBACK=error", mpich + "ALLGATHER_DEVICE_COLLECTIVE=0", mpich + "ALLGATHER_INTRA_ALGORITHM=recexch_halving",
				mpich + "ALLGATHER_RECEXCH_KVAL=4", mpich + "ALLGATHER_RECEXCH_SINGLE_PHASE_RECV=1"},
			base: []string{mpich + "COLLECTIVE_FALLBACK=error"},
			toggles: []string{mpich + "COLLECTIVE_FALLBACK=0", mpich + "ALLGATHER_DEVICE_COLLECTIVE=0", mpich + "ALLGATHER_INTRA_ALGORITHM=7", mpich + "ALLGATHER_COMPOSITION=0",
				mpich + "ALLGATHER_BRUCKS_KVAL=2", mpich + "ALLGATHER_RECEXCH_KVAL=4", mpich + "ALLGATHER_RECEXCH_SINGLE_PHASE_RECV=1"},
		},
		{
			name: "mpich parameters are set back", library: catalogue.MPICH, version: "4.3.2", collective: coll.Bcast, algorithm: "library_default",
			base: []string{mpich + "COLLECTIVE_FALLBACK=error"},
			toggles: []string{mpich + "COLLECTIVE_FALLBACK=0", mpich + "BCAST_DEVICE_COLLECTIVE=1", mpich + "BCAST_INTRA_ALGORITHM=0", mpich + "BCAST_COMPOSITION=0",
				mpich + "BCAST_TREE_KVAL=2", mpich + "BCAST_IS_NON_BLOCKING=1", mpich + "BCAST_TREE_PIPELINE_CHUNK_SIZE=8192", mpich + "BCAST_RECV_PRE_POST=0"},
		},
		{
			name: "mpich kind of tree, before 4.3 a number", library: catalogue.MPICH, version: "4.1.2", collective: coll.Allreduce,
			algorithm: "tree(buffer_per_child=1,chunk_size=4096,k=3,tree_type=1)",
			env: []string{mpich + "COLLECTIVE_FALLBACK=error", mpich + "ALLREDUCE_DEVICE_COLLECTIVE=0", mpich + "ALLREDUCE_INTRA_ALGORITHM=tree",
				mpich + "ALLREDUCE_TREE_BUFFER_PER_CHILD=1", mpich + "ALLREDUCE_TREE_PIPELINE_CHUNK_SIZE=4096", mpich + "ALLREDUCE_TREE_KVAL=3", mpich + "ALLREDUCE_TREE_TYPE=knomial_1"},
			base: []string{mpich + "COLLECTIVE_FALLBACK=error", mpich + "ALLREDUCE_TREE_TYPE=knomial_1"},
			toggles: []string{mpich + "COLLECTIVE_FALLBACK=0", mpich + "ALLREDUCE_DEVICE_COLLECTIVE=0", mpich + "ALLREDUCE_INTRA_ALGORITHM=5", mpich + "ALLREDUCE_COMPOSITION=0",
				mpich + "ALLREDUCE_TREE_BUFFER_PER_CHILD=1", mpich + "ALLREDUCE_TREE_KVAL=3", mpich + "ALLREDUCE_TREE_PIPELINE_CHUNK_SIZE=4096",
				mpich + "ALLREDUCE_RECEXCH_KVAL=2", mpich + "ALLREDUCE_RECEXCH_SINGLE_PHASE_RECV=0"},
		},
		{
			name: "openmpi", library: catalogue.OpenMPI, version: "4.1.4", collective: coll.Allgather, algorithm: "ring",
			env:     []string{ompi + "coll_tuned_use_dynamic_rules=1", ompi + "coll_hcoll_enable=0", ompi + "coll_tuned_allgather_algorithm=4"},
			base:    []string{ompi + "coll_tuned_use_dynamic_rules=1", ompi + "coll_hcoll_enable=0"},
			toggles: []string{"coll_tuned_allgather_algorithm=4"}, newComm: true,
		},
		{
			name: "openmpi parameters", library: catalogue.OpenMPI, version: "5.0.9", collective: coll.Bcast, algorithm: "chain(faninout=2,segsize=8192)",
			env: []string{ompi + "coll_tuned_use_dynamic_rules=1", ompi + "coll_hcoll_enable=0", ompi + "coll_han_priority=0",
				ompi + "coll_tuned_bcast_algorithm=2", ompi + "coll_tuned_bcast_algorithm_segmentsize=8192", ompi + "coll_tuned_bcast_algorithm_chain_fanout=2"},
			base:    []string{ompi + "coll_tuned_use_dynamic_rules=1", ompi + "coll_hcoll_enable=0", ompi + "coll_han_priority=0"},
			toggles: []string{"coll_tuned_bcast_algorithm=2", "coll_tuned_bcast_algorithm_segmentsize=8192", "coll_tuned_bcast_algorithm_chain_fanout=2"}, newComm: true,
		},
		{
			name: "openmpi parameters not named are 0", library: catalogue.OpenMPI, version: "4.1.4", collective: coll.Reduce, algorithm: "linear",
			env: []string{ompi + "coll_tuned_use_dynamic_rules=1", ompi + "coll_hcoll_enable=0",
				ompi + "coll_tuned_reduce_algorithm=1", ompi + "coll_tuned_reduce_algorithm_segmentsize=0", ompi + "coll_tuned_reduce_algorithm_chain_fanout=0"},
			base:    []string{ompi + "coll_tuned_use_dynamic_rules=1", ompi + "coll_hcoll_enable=0"},
			toggles: []string{"coll_tuned_reduce_algorithm=1", "coll_tuned_reduce_algorithm_segmentsize=0", "coll_tuned_reduce_algorithm_chain_fanout=0"}, newComm: true,
		},
		{
			name: "openmpi default", library: catalogue.OpenMPI, version: "5.0.9", collective: coll.Bcast, algorithm: "library_default", newComm: true,
		},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			c := candidate(t, tc.collective, coll.Layout{Nodes: 2, PPN: 2}, 4096, tc.algorithm)
			got, err := forcing.Of(release(t, tc.library, tc.version), c)
			if err != nil {
				t.Fatal(err)
			}
			for _, part := range []struct {
				name      string
				want, got []string
			}{{"Env", tc.env, vars(got.Env)}, {"Base", tc.base, vars(got.Base)}, {"Switches", tc.toggles, switches(got.Switches)}} {
				if d := cmp.Diff(part.want, part.got); d != "" {
					t.Errorf("%s (-want +got):\n%s", part.name, d)
				}
			}
			if got.NewComm != tc.newComm {
				t.Errorf("NewComm = %t, want %t", got.NewComm, tc.newComm)
			}
		})
	}
}

func TestOfRefuses(t *testing.T) {
	tests := []struct {
		name             string
		library, version string
		collective       coll.Collective
		layout           coll.Layout
		bytes            int64
		algorithm        string
		wantErr          error
		want             string
	}{
		{"unknown algorithm", catalogue.MPICH, "4.0.2", coll.Bcast, coll.Layout{Nodes: 2, PPN: 1}, 8, "ring", catalogue.ErrUnknown, "want one of binomial"},
		{"point it cannot run at", catalogue.MPICH, "4.0.2", coll.Bcast, coll.Layout{Nodes: 2, PPN: 1}, 8, "smp", catalogue.ErrInfeasible, "needs parent"},
		{"kind of tree", catalogue.MPICH, "4.1.2", coll.Bcast, coll.Layout{Nodes: 2, PPN: 1}, 8, "tree(is_non_blocking=1,k=2,tree_type=7)", catalogue.ErrInfeasible, `tree_type: "7": want 0, 1, 2 or one of kary`},
		{"radix", catalogue.MPICH, "4.1.2", coll.Alltoall, coll.Layout{Nodes: 2, PPN: 1}, 8, "k_brucks(k=two)", catalogue.ErrInfeasible, "parameter k=two: want a whole number"},
		{"segment size", catalogue.OpenMPI, "4.1.4", coll.Bcast, coll.Layout{Nodes: 2, PPN: 1}, 8, "pipeline(segsize=8k)", catalogue.ErrInfeasible, "parameter segsize=8k: want a whole number"},
		{"negative", catalogue.OpenMPI, "4.1.4", coll.Bcast, coll.Layout{Nodes: 2, PPN: 1}, 8, "pipeline(segsize=-1)", catalogue.ErrInfeasible, "segsize=-1"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			_, err := forcing.Of(release(t, tc.library, tc.version), candidate(t, tc.collective, tc.layout, tc.bytes, tc.algorithm))
			if !errors.Is(err, tc.wantErr) || !strings.Contains(fmt.Sprint(err), tc.want) {
				t.Errorf("Of error = %v, want one matching %v with %q", err, tc.wantErr, tc.want)
			}
		})
	}
}

// everything returns a candidate for the default and for each algorithm of a
// release that can run on 2x2 processes.
func everything(t *testing.T, cat *catalogue.Catalogue) []coll.Candidate {
	t.Helper()
	point := coll.Point{Nodes: 2, PPN: 2, MsgBytes: 4096}
	if cat.Library == catalogue.OpenMPI {
		point = coll.Point{Nodes: 2, PPN: 1, MsgBytes: 4096} // two_proc needs two
	}
	var out []coll.Candidate
	for _, c := range coll.Collectives() {
		point.Collective = c
		out = append(out, coll.Candidate{Point: point, Algorithm: coll.Default})
		for _, e := range cat.Entries(c) {
			var params []coll.Param
			for _, p := range e.Params {
				if !e.Composition() {
					params = append(params, coll.Param{Name: p, Value: "1"})
				}
			}
			a, err := coll.NewAlgorithm(e.Name, params...)
			if err != nil {
				t.Fatal(err)
			}
			cand := coll.Candidate{Point: point, Algorithm: a}
			if cat.Check(cand) == nil {
				out = append(out, cand)
			}
		}
	}
	return out
}

// Every algorithm of every release is forced by name or number, all its
// parameters reach a variable, and the candidates of one collective that share a
// start write the same switches: none inherits from its neighbour.
func TestOfEverything(t *testing.T) {
	for _, library := range catalogue.Libraries() {
		for _, version := range catalogue.Versions(library) {
			cat := release(t, library, version)
			names := map[coll.Collective][]string{}
			for _, c := range everything(t, cat) {
				f, err := forcing.Of(cat, c)
				if e, _ := cat.Lookup(c.Collective, c.Algorithm); e.Composition() && errors.Is(err, catalogue.ErrInfeasible) {
					continue // needs the trees of the release
				}
				if err != nil {
					t.Errorf("%s %s: %v", library, version, err)
					continue
				}
				if c.Algorithm.IsDefault() {
					if len(f.Env) != 0 {
						t.Errorf("%s %s %v: settings %v, want the library as shipped", library, version, c, vars(f.Env))
					}
					if library == catalogue.OpenMPI && len(f.Base)+len(f.Switches) != 0 {
						t.Errorf("%s %s %v: base %v, switches %v, want none", library, version, c, vars(f.Base), switches(f.Switches))
					}
					if library == catalogue.OpenMPI {
						continue
					}
				} else {
					checkForced(t, cat, c, f)
				}
				var own []string
				for _, s := range f.Switches {
					own = append(own, s.Name)
				}
				if names[c.Collective] == nil {
					names[c.Collective] = own
				}
				if !slices.Equal(names[c.Collective], own) {
					t.Errorf("%s %s %v: switches %v, its neighbours have %v", library, version, c, own, names[c.Collective])
				}
			}
		}
	}
}

func checkForced(t *testing.T, cat *catalogue.Catalogue, c coll.Candidate, f forcing.Forcing) {
	t.Helper()
	e, err := cat.Lookup(c.Collective, c.Algorithm)
	if err != nil {
		t.Fatal(err)
	}
	if e.Composition() { // see TestCompositions
		return
	}
	name, value := "MPIR_CVAR_"+strings.ToUpper(string(c.Collective))+"_INTRA_ALGORITHM", e.Name
	toggle := name
	if cat.Library == catalogue.OpenMPI {
		toggle = "coll_tuned_" + string(c.Collective) + "_algorithm"
		name, value = "OMPI_MCA_"+toggle, strconv.Itoa(e.ID)
	}
	if !slices.Contains(vars(f.Env), name+"="+value) {
		t.Errorf("%s %s %v: settings %v, want %s=%s", cat.Library, cat.Version, c, vars(f.Env), name, value)
	}
	if !slices.Contains(f.Switches, forcing.Switch{Name: toggle, Value: e.ID}) {
		t.Errorf("%s %s %v: switches %v, want %s=%d", cat.Library, cat.Version, c, switches(f.Switches), toggle, e.ID)
	}
	if cat.Library == catalogue.MPICH && len(f.Env) != 3+len(e.Params) {
		t.Errorf("%s %s %v: settings %v, want one for each parameter of %v", cat.Library, cat.Version, c, vars(f.Env), e.Params)
	}
	seen := map[string]bool{}
	for _, v := range f.Env {
		if seen[v.Name] {
			t.Errorf("%s %s %v: %s is set twice", cat.Library, cat.Version, c, v.Name)
		}
		seen[v.Name] = true
	}
}
