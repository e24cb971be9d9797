package slurm

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tutti/benchrunner"
	"tutti/coll"
	"tutti/internal/testutil"
)

// recorded returns recorded output of Slurm from a file in testdata. It replaces each "|" by `separator`, as
// Slurm's commands print it.
func recorded(t testing.TB, name string) string {
	t.Helper()
	text := testutil.Must(os.ReadFile(filepath.Join("testdata", name)))(t)
	return strings.ReplaceAll(string(text), "|", separator)
}

func TestParseID(t *testing.T) {
	tests := []struct {
		stdout, want string
	}{
		{"1\n", "1"},
		{"4711;cluster\n", "4711"},
		{"Welcome\n17\nHave a nice day\n", "17"},
		{"sbatch: 3 nodes\r\n 17 \r\n", "17"},
		{"2026\n17\n", "17"},
		{"Submitted batch job 17\n", ""},
		{"17_3\n", ""},
		{"-17\n", ""},
		{"", ""},
	}
	for _, tc := range tests {
		got, ok := parseID(tc.stdout)
		if got != tc.want || ok != (tc.want != "") {
			t.Errorf("parseID(%q) = %q, %v; want %q", tc.stdout, got, ok, tc.want)
		}
	}
}

func TestParseTime(t *testing.T) {
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	tests := []struct {
		text    string
		want    time.Time
		wantErr bool
	}{
		{text: "1795262400", want: noon},
		{text: "2026-11-21T12:00:00", want: noon},
		{text: "N/A"}, {text: "Unknown"}, {text: "None"}, {text: ""}, {text: "0"},
		{text: "Today 12:00", wantErr: true},
		{text: "12:00:00", wantErr: true},
	}
	for _, tc := range tests {
		got, err := parseTime(tc.text)
		if !got.Equal(tc.want) || (err != nil) != tc.wantErr {
			t.Errorf("parseTime(%q) = %v, %v; want %v", tc.text, got, err, tc.want)
		}
	}
}

func TestParseDuration(t *testing.T) {
	tests := []struct {
		text    string
		want    time.Duration
		wantErr bool
	}{
		{text: "UNLIMITED"}, {text: "NONE"},
		{text: "01:00:00", want: time.Hour},
		{text: "2-12:30:15", want: 60*time.Hour + 30*time.Minute + 15*time.Second},
		{text: "2-12", want: 60 * time.Hour},
		{text: "2-12:30", want: 60*time.Hour + 30*time.Minute},
		{text: "30:00", want: 30 * time.Minute},
		{text: "", wantErr: true},
		{text: "1:2:3:4", wantErr: true},
		{text: "-1:00", wantErr: true},
		{text: "1h", wantErr: true},
		{text: "1.5:00", wantErr: true},
	}
	for _, tc := range tests {
		got, err := parseDuration(tc.text)
		if got != tc.want || (err != nil) != tc.wantErr {
			t.Errorf("parseDuration(%q) = %v, %v; want %v", tc.text, got, err, tc.want)
		}
	}
}

// TestStatusOfQueue checks the status of jobs in recorded output of squeue from Slurm 22.05.8.
func TestStatusOfQueue(t *testing.T) {
	at := func(s int64) time.Time { return time.Unix(s, 0) }
	want := map[string]benchrunner.Status{
		"1":  {Phase: "over", Outcome: "completed", Reason: "COMPLETED", Submitted: at(1795267405), Started: at(1795267407), Ended: at(1795267409)},
		"6":  {Phase: "waiting", Reason: "Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority partitions", Submitted: at(1795267407)},
		"7":  {Phase: "running", Reason: "RUNNING", Submitted: at(1795267440), Started: at(1795267441)},
		"8":  {Phase: "running", Reason: "COMPLETING", Submitted: at(1795267440), Started: at(1795267441)},
		"9":  {Phase: "waiting", Reason: "ReqNodeNotAvail, UnavailableNodes:n1", Submitted: at(1795267440)},
		"12": {Phase: "waiting", Reason: "PartitionTimeLimit", NeverStarts: true, Submitted: at(1795267443)},
		"15": {Phase: "over", Outcome: "failed", Reason: "FAILED: BadConstraints", NeverStarts: true, Submitted: at(1795267443), Started: at(1795267443), Ended: at(1795267443)},
		"16": {Phase: "over", Outcome: "failed", Reason: "FAILED: JobLaunchFailure", Submitted: at(1795267443), Started: at(1795267443), Ended: at(1795267443)},
		"18": {Phase: "over", Outcome: "timeout", Reason: "TIMEOUT: TimeLimit", Submitted: at(1795267443), Started: at(1795267443), Ended: at(1795267513)},
		"19": {Phase: "waiting", Reason: "JobHeldUser", Submitted: at(1795267443)},
		"20": {Phase: "over", Outcome: "out of memory", Reason: "OUT_OF_MEMORY: OutOfMemory", Submitted: at(1795267443), Started: at(1795267443), Ended: at(1795267450)},
		"21": {Phase: "over", Outcome: "node failed", Reason: "NODE_FAIL: NodeDown", Submitted: at(1795267443), Started: at(1795267443), Ended: at(1795267450)},
		"22": {Phase: "over", Outcome: "cancelled", Reason: "CANCELLED", Submitted: at(1795267443), Ended: at(1795267450)},
	}
	got := map[string]benchrunner.Status{}
	for _, r := range parseRows(recorded(t, "squeue.txt")) {
		if r.name == "campaign.bcast-"+r.id && r.dir == "/scratch/a b" {
			got[r.id] = statusOf(r, r.last, "")
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestStatusOfAccounts checks the outcomes of jobs in recorded output of sacct. In this output some states name
// a user, a timeout has exit code 0:0, jobs were requeued, and an old job has the same ID.
func TestStatusOfAccounts(t *testing.T) {
	got := map[string]coll.JobOutcome{}
	for _, r := range parseRows(recorded(t, "sacct.txt")) {
		if r.name == "campaign.bcast-"+r.id {
			got[r.id] = statusOf(r, "", r.last).Outcome
		}
	}
	want := map[string]coll.JobOutcome{
		"1": "completed", "2": "failed", "3": "failed", "4": "cancelled", "5": "timeout", "6": "out of memory",
		"7": "node failed", "8": "cancelled", "9": "node failed", "10": "cancelled", "11": "cancelled", "12": "", "13": "completed",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestNeverStarts(t *testing.T) {
	tests := map[string]bool{
		"PartitionNodeLimit": true, "PartitionTimeLimit": true, "PartitionConfig": true,
		"BadConstraints": true, "DependencyNeverSatisfied": true, "ReservationInvalid": true, "InvalidAccount": true, "InvalidQOS": true,
		"AssocMaxNodePerJobLimit": true, "AssocMaxWallDurationPerJobLimit": true, "AssocMaxCpuPerNode": true, "AssocMaxMemPerJob": true,
		"QOSMaxWallDurationPerJobLimit": true, "QOSMaxCpuMinutesPerJobLimit": true, "QOSMinCpuNotSatisfied": true, "QOSMinNode": true,

		"JobHeldUser": false, "JobHeldAdmin": false,
		"None": false, "Priority": false, "Resources": false, "Licenses": false, "BeginTime": false, "Reservation": false,
		"AssocGrpNodeLimit": false, "AssocGrpCPUMinutesLimit": false, "AssocMaxJobsLimit": false, "QOSGrpNodeLimit": false,
		"QOSMaxNodePerUserLimit": false, "QOSMaxJobsPerUserLimit": false, "MaxMemoryPerAccount": false,
		"PartitionDown": false, "PartitionInactive": false, "ReqNodeNotAvail, UnavailableNodes:n1": false,
		"ReqNodeNotAvail, Reserved for maintenance":                                                   false,
		"Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority partitions": false,
	}
	for reason, want := range tests {
		if got := neverStarts(reason); got != want {
			t.Errorf("neverStarts(%q) = %v, want %v", reason, got, want)
		}
	}
}

// TestRequeuedAndHeld checks that a job that Slurm holds after a failed launch counts as over, so that another job
// replaces it, and that a job that a person holds waits.
func TestRequeuedAndHeld(t *testing.T) {
	for reason, over := range map[string]bool{
		"launch failed requeued held": true, "user_env_retrieval_failed_requeued_held": true, "job_requeued_in_held_state": true,
		"JobHoldMaxRequeue": true, "JobHeldUser": false, "JobHeldAdmin": false, "None": false,
	} {
		got := statusOf(row{state: "PENDING", last: reason}, reason, "")
		if (got.Phase == benchrunner.JobOver) != over || over && got.Outcome != coll.JobCancelled {
			t.Errorf("PENDING, %s: %+v, want it over: %t", reason, got, over)
		}
	}
	for _, state := range []string{"REQUEUE_HOLD", "SPECIAL_EXIT", "RESV_DEL_HOLD"} {
		if got := statusOf(row{state: state, last: "None"}, "None", ""); got.Outcome != coll.JobCancelled {
			t.Errorf("%s: %+v, want it cancelled", state, got)
		}
	}
}

func TestDerivedExitCode(t *testing.T) {
	text := recorded(t, "scontrol-job.txt")
	if got := derivedExitCode(text, "x.1_2-3"); got != "2:0" {
		t.Errorf("derivedExitCode = %q, want 2:0", got)
	}
	if got := derivedExitCode(text, "other"); got != "" {
		t.Errorf("derivedExitCode of another job = %q", got)
	}
}

func TestParsePartitions(t *testing.T) {
	golden := testutil.GoldenErrors(t)
	want := []Partition{
		{Name: "main", Default: true, State: "UP", MaxTime: "01:00:00", MaxNodes: "UNLIMITED", MaxCPUs: "UNLIMITED", Nodes: 4, CPUs: 16},
		{Name: "small", State: "UP", MaxTime: "00:05:00", MaxNodes: "1", MaxCPUs: "UNLIMITED", Nodes: 1, CPUs: 4},
		{Name: "long", State: "UP", MaxTime: "7-00:00:00", MaxNodes: "512", MaxCPUs: "128", Nodes: 648, CPUs: 82944},
	}
	got := ParsePartitions(recorded(t, "scontrol-partition.txt"))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	wantLimits := []benchrunner.Capacity{{Limit: time.Hour}, {Nodes: 1, Limit: 5 * time.Minute}, {Nodes: 512, PPN: 128, Limit: 7 * 24 * time.Hour}}
	for i, p := range got {
		if most, err := p.limits(); err != nil || most != wantLimits[i] {
			t.Errorf("limits of %s = %+v, %v; want %+v", p.Name, most, err, wantLimits[i])
		}
	}
	if got := ParsePartitions("No partitions in the system\n"); got != nil {
		t.Errorf("no partitions: %+v", got)
	}
	for _, bad := range []string{"MaxNodes=many", "MaxTime=soon", "MaxCPUsPerNode=-1"} {
		_, err := ParsePartitions("PartitionName=a " + bad)[0].limits()
		golden(bad, err)
	}
}

func TestNodes(t *testing.T) {
	serving := []string{}
	memory := map[string]int64{"n1": 32000 << 20, "n2": 0} // other nodes have 64000 MiB; 1 MiB means that Slurm does not know
	for line := range strings.Lines(recorded(t, "sinfo.txt")) {
		n := testutil.Must(parseNode(withTopology(line)))(t)
		want, listed := memory[n.name]
		if !listed {
			want = 64000 << 20
		}
		if n.bytes != want {
			t.Errorf("%s has %d bytes of memory, want %d", n.name, n.bytes, want)
		}
		if n.serves("") && n.has("skylake&ib") {
			serving = append(serving, n.name)
		}
	}
	if diff := cmp.Diff([]string{"n1", "n2", "n3", "n5", "n6"}, serving); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, bad := range []string{"", "n1", "n1" + separator + "4+" + separator + "x" + separator + "idle"} {
		if n, err := parseNode(bad); err == nil {
			t.Errorf("parseNode(%q) = %+v", bad, n)
		}
	}
	for constraint, want := range map[string]bool{"": true, "ib": true, "ib&gpu": false, "ib,skylake": true, "gpu|ib": true, "[rack1|rack2]": true} {
		if got := (node{features: []string{"skylake", "ib"}}).has(constraint); got != want {
			t.Errorf("has(%q) = %v, want %v", constraint, got, want)
		}
	}
}

// withTopology adds to a line of sinfo one socket with two cores of two threads.
func withTopology(line string) string {
	return strings.TrimSuffix(line, "\n") + separator + "1" + separator + "2" + separator + "2"
}

// TestNodeCores checks that cores count, not hardware threads.
func TestNodeCores(t *testing.T) {
	for _, tc := range []struct{ cpus, cores, threads, want int }{{8, 4, 2, 4}, {4, 4, 2, 4}, {4, 4, 1, 4}, {2, 4, 2, 2}, {3, 0, 0, 3}} {
		if got := coresOf(tc.cpus, tc.cores, tc.threads); got != tc.want {
			t.Errorf("%+v: %d cores", tc, got)
		}
	}
}

// TestNodeServes checks which nodes a job can get, now or after other jobs.
func TestNodeServes(t *testing.T) {
	for state, want := range map[string][2]bool{ // without and with a reservation of the campaign's own
		"idle": {true, true}, "mixed": {true, true}, "allocated": {true, true}, "idle~": {true, true}, "idle*": {false, false}, "down": {false, false},
		"drained": {false, false}, "maint": {false, true}, "idle$": {false, true}, "planned": {false, true}, "idle-": {false, true}, "reserved": {false, true}, "reboot^": {false, false},
	} {
		for i, reservation := range []string{"", "ours"} {
			if got := (node{state: state}).serves(reservation); got != want[i] {
				t.Errorf("%s, reservation %q: %t", state, reservation, got)
			}
		}
	}
}

// FuzzParsers checks that, whatever the text is, the parsers of Slurm's output return an error or valid values.
func FuzzParsers(f *testing.F) {
	for _, name := range []string{"squeue.txt", "sacct.txt", "scontrol-partition.txt", "sinfo.txt", "scontrol-job.txt"} {
		for line := range strings.Lines(recorded(f, name)) {
			f.Add(line)
		}
	}
	for _, text := range []string{"1\n", "hello\n12;c\nbye", "2-12:30:15", "--mem=0"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		checkRow(t, strings.TrimSpace(text))
		if id, ok := parseID(text); ok && (id == "" || strings.Trim(id, "0123456789") != "" || !strings.Contains(text, id)) {
			t.Errorf("parseID(%q) = %q", text, id)
		}
		for _, p := range ParsePartitions(text) {
			most, err := p.limits()
			if p.Name == "" || p.Nodes < 0 || p.CPUs < 0 || err == nil && (most.Nodes < 0 || most.PPN < 0 || most.Limit < 0) {
				t.Errorf("partition %+v, %+v", p, most)
			}
		}
		if n, err := parseNode(text); err == nil && n.cores < 0 {
			t.Errorf("parseNode(%q) = %+v", text, n)
		}
		if code := derivedExitCode(text, "x.1_2-3"); code != "" && !strings.Contains(text, "DerivedExitCode="+code+" ") {
			t.Errorf("derivedExitCode(%q) = %q", text, code)
		}
		if d, err := parseDuration(text); err == nil && d < 0 {
			t.Errorf("parseDuration(%q) = %v", text, d)
		}
		if CheckDirective(text) == nil && (!strings.HasPrefix(text, "--") || strings.ContainsAny(text, "\n\r\x00")) {
			t.Errorf("CheckDirective(%q) = nil", text)
		}
	})
}

func checkRow(t *testing.T, line string) {
	r, err := parseRow(line)
	if err != nil {
		if len(parseRows(line)) > strings.Count(line, "\n") {
			t.Errorf("a row from a line that is none: %q", line)
		}
		return
	}
	st := statusOf(r, r.last, r.last)
	if st.Phase == "" || (st.Phase == benchrunner.JobOver) != (st.Outcome != "") || st.Reason == "" && r.state != "" {
		t.Errorf("%q: %+v", line, st)
	}
}
