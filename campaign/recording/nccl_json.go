package recording

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"tutti/internal/lazyregexp"
)

// ncclFile is a file that option -J of nccl-tests writes. Source: src/util.cu of nccl-tests, versions 1 to 3 of its files.
type ncclFile struct {
	Version   int      `json:"version"`
	Arguments []string `json:"args"`
	Variables []string `json:"env"`
	Config    struct {
		Threads int `json:"nthreads"`
		GPUs    int `json:"ngpus"` // of a thread
		Calls   int `json:"aggregated_iterations"`
		Devices []struct {
			Group int    `json:"group"`
			Host  string `json:"hostname"`
		} `json:"devices"` // the first one of each process
	} `json:"config"`
	Results []ncclResult `json:"results"`
}

type ncclResult struct {
	Bytes      json.Number `json:"size"`
	DataType   string      `json:"type"`
	Reduction  string      `json:"redop"`
	OutOfPlace *ncclTime   `json:"out_of_place"`
	InPlace    *ncclTime   `json:"in_place"`
}

// ncclTime has a time in microseconds, and the number of wrong values: a number, "nan", or null where data were not checked.
type ncclTime struct {
	Time  json.RawMessage `json:"time"`
	CPU   json.RawMessage `json:"cpu_time"`
	Wrong json.RawMessage `json:"nwrong"`
}

// ncclForcing matches the variables that choose for NCCL.
var ncclForcing = lazyregexp.New(`^(NCCL_(ALGO|PROTO|M(AX|IN)_N?CHANNELS|M(AX|IN)_CTAS|NCHANNELS|TUNER_PLUGIN|TUNER_CONFIG_FILE)|NCCL_CONF_FILE)=.`)

func isNCCLFile(_ string, text []byte) bool {
	return bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) && bytes.Contains(text, []byte(`"nccl_version"`))
}

// readNCCLFile reads the times of a file of -J as readNCCL does those of a listing.
func readNCCLFile(_ string, text []byte, known *Run, _ Options, report *Report) ([]sample, error) {
	var file ncclFile
	if err := json.Unmarshal(text, &file); err != nil {
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok && syntax.Offset >= int64(len(text)) {
			return nil, errors.New("the file ends before its JSON object does, as after a killed run: give what the program printed instead")
		}
		return nil, fmt.Errorf("want JSON as nccl-tests write with -J: %w", err)
	}
	if file.Version < 1 || file.Version > 3 {
		return nil, fmt.Errorf("version %d of the files of -J: want 1 to 3; what the program printed can be read instead", file.Version)
	}
	for _, variable := range file.Variables {
		if ncclForcing.MatchString(variable) {
			report.note("the run had " + variable)
		}
	}
	run := file.run()
	var all []ncclSample
	for _, result := range file.Results {
		all = run.add(all, run.row(result), *known, report)
	}
	return oneKind(all, report), nil
}

// run returns what the file says about its rows.
func (f ncclFile) run() ncclRun {
	run := ncclRun{calls: f.Config.Calls}
	if len(f.Arguments) > 0 {
		if m := ncclCommand.FindStringSubmatch(f.Arguments[0]); m != nil {
			run.program = m[1]
		}
	}
	for _, device := range f.Config.Devices {
		for range max(f.Config.Threads, 1) * max(f.Config.GPUs, 1) {
			run.describeRank(fmt.Sprint(device.Group), device.Host)
		}
	}
	return run
}

// row returns the cells of a result, and sets the columns that name them.
func (r *ncclRun) row(result ncclResult) []string {
	r.inPlace = result.OutOfPlace == nil
	r.columns = []string{"size", "type", "redop"}
	row := []string{result.Bytes.String(), result.DataType, cmp.Or(result.Reduction, "none")}
	for _, at := range []*ncclTime{result.OutOfPlace, result.InPlace} {
		if at == nil {
			continue
		}
		name, time := "time", at.Time
		if at.CPU != nil {
			name, time = "cputime", at.CPU
		}
		r.columns = append(r.columns, name, "#wrong")
		row = append(row, strings.Trim(string(time), `"`), strings.Replace(strings.Trim(string(at.Wrong), `"`), "null", "N/A", 1))
	}
	return row
}
