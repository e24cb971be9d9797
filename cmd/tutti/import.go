package main

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tutti/campaign/recording"
	"tutti/coll"
	"tutti/mpi"
	"tutti/mpi/libraries"
	"tutti/preprocess"
)

type importer struct {
	*app
	library, collective, manifest, pattern, out string
	algorithms                                  []string
	nodes, ppn                                  int
}

func importCommand(a *app) *cobra.Command {
	i := importer{app: a}
	cmd := &cobra.Command{
		Use:   "import FILE...",
		Short: "Make measurements of the outputs of other benchmark runs",
		Long: `import reads outputs of benchmarks that you ran before, and writes a CSV of measurements
and a campaign file that replays it. tutti tune --from takes the CSV, too.

  OSU Micro-Benchmarks 5 to 7, IMB-MPI1, ReproMPI (raw and --summary)
  any program that prints a time on a line: --pattern, as benchmark.pattern
  ompi-collectives-tuning: detail.out, and the outputs in its folders
  ACCLAiM: CSV of saved data; --algorithm has the names in its order
  PICO: folders of results, next to the metadata of the system
  nccl-tests, rccl-tests: --algorithm has protocol and channels

Folders are searched for such files. What a file does not name comes from flags, or from
a manifest: a CSV with the columns file (a name or pattern), collective, algorithm, nodes
and ppn. Numbers of algorithms are those of --library. The report says what was read,
what was left out, and why.`,
		Example: examples(
			"tutti import osu-bcast-*.txt --manifest runs.csv --library openmpi=4.1.4 --out night.csv",
			"tutti import bcast.txt --library mpich=4.0.2 --algorithm binomial --nodes 8 --ppn 32",
			"tutti import output --library openmpi=4.1.4 --ppn 1 --out coltune.csv",
			"tutti import allreduce-ring-ll-8.txt --library nccl --algorithm 'ring(channels=8,proto=ll)'",
			`tutti import bench.log --pattern 'Bcast Bytes: (?P<bytes>\d+) .*Avg: (?P<us>[0-9.]+)' --collective bcast --algorithm ring --nodes 2 --ppn 4`),
		Args:              arguments(1, -1, "one file or folder, or more"),
		ValidArgsFunction: completeFiles,
	}
	f := cmd.Flags()
	f.StringVar(&i.library, "library", "", "`LIBRARY[=VERSION]` that ran; its algorithms are checked")
	completeReleases(cmd, "library", libraries.Names())
	f.StringVar(&i.collective, "collective", "", "`NAME` of the collective")
	f.StringSliceVar(&i.algorithms, "algorithm", nil, "`NAME` of the algorithm, library_default for the library's own choice; several for the numbers of ACCLAiM")
	f.IntVar(&i.nodes, "nodes", 0, "`NUMBER` of nodes")
	f.IntVar(&i.ppn, "ppn", 0, "`NUMBER` of processes per node")
	f.StringVar(&i.manifest, "manifest", "", "CSV `FILE` that says what the files do not")
	f.StringVar(&i.pattern, "pattern", "", "`EXPRESSION` that matches lines with a time: a group named s, ms, us or ns, and perhaps bytes, ranks, collective")
	f.StringVarP(&i.out, "out", "o", "recorded.csv", "CSV `FILE` to write; the campaign file is next to it")
	mustComplete(cmd.MarkFlagFilename("manifest", "csv"))
	mustComplete(cmd.MarkFlagFilename("out", "csv"))
	a.formatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return i.run(cmd, args) }
	return cmd
}

// imported is the result of an import.
type imported struct {
	Measurements int                `json:"measurements"`
	CSV          string             `json:"csv"`
	Campaign     string             `json:"campaign,omitempty"` // "": the library is unknown
	Next         string             `json:"next"`
	Files        []recording.Report `json:"files"`
}

func (i *importer) run(cmd *cobra.Command, paths []string) error {
	opt, err := i.options()
	if err != nil {
		return usageError(cmd, err)
	}
	if i.manifest != "" {
		if opt.Manifest, err = recording.ReadManifest(i.manifest); err != nil {
			return withCode(codeInput, err)
		}
	}
	if i.out == "-" {
		return usageError(cmd, errors.New("--out -: want the name of a file: the campaign file is next to it"))
	}
	yaml := strings.TrimSuffix(i.out, filepath.Ext(i.out)) + ".yaml"
	for _, path := range []string{i.out, yaml} {
		if _, err := os.Lstat(path); err == nil {
			return usageError(cmd, fmt.Errorf("%s exists: choose another file with --out", path))
		}
	}
	ms, files, err := recording.Import(paths, opt)
	if err != nil {
		i.printReports(files)
		return withCode(codeInput, err)
	}
	out := imported{Measurements: len(ms), CSV: i.out, Files: files}
	var text bytes.Buffer
	if err := preprocess.WriteTable(&text, ms); err != nil {
		return withCode(codeInput, err)
	}
	if err := mpi.WriteFile(i.out, text.Bytes()); err != nil {
		return withOutputCode(err)
	}
	out.Next = fmt.Sprintf("tutti tune -c CAMPAIGN.yaml --from %s; for selection files from these times alone, import again with --library", shellWord(i.out))
	if opt.Catalogue != nil {
		if err := mpi.WriteFile(yaml, campaignText(yaml, filepath.Base(i.out), opt.Catalogue, ms)); err != nil {
			return withOutputCode(err)
		}
		out.Campaign, out.Next = yaml, "tutti tune -c "+shellWord(yaml)
	}
	return i.show(out, func() {
		i.printReports(files)
		i.printFit("%s: %s", i.out, plural(len(ms), "measurement"))
		i.printWrapped("next: " + out.Next)
	})
}

// options returns the options of the flags.
func (i *importer) options() (recording.Options, error) {
	opt := recording.Options{Pattern: i.pattern}
	opt.Known.Nodes, opt.Known.PPN = i.nodes, i.ppn
	if i.nodes < 0 || i.ppn < 0 {
		return opt, errors.New("--nodes and --ppn: want whole numbers from 1")
	}
	switch list := joinParams(i.algorithms); len(list) {
	case 0:
	case 1:
		opt.Known.Algorithm = list[0]
	default:
		opt.Algorithms = list
	}
	if i.collective != "" {
		c, err := coll.ParseCollective(i.collective)
		if err != nil {
			return opt, fmt.Errorf("--collective %w", err)
		}
		opt.Known.Collective = c
	}
	if i.library == "" {
		return opt, nil
	}
	name, version, given := strings.Cut(i.library, "=")
	lib, ok := libraries.Named(name)
	if !ok {
		return opt, fmt.Errorf("--library %q: want one of %s", name, strings.Join(libraries.Names(), ", "))
	}
	if !given {
		version = lib.Releases()[0].Version
	}
	_, cat, err := libraries.Release(name, version)
	if err != nil {
		return opt, fmt.Errorf("--library %w", err)
	}
	opt.Catalogue = cat
	return opt, nil
}

// joinParams joins texts that were cut at commas between the parameters of an algorithm, as in ring(channels=8,proto=ll).
func joinParams(texts []string) []string {
	var out []string
	for _, text := range texts {
		if n := len(out); n > 0 && strings.Contains(out[n-1], "(") && !strings.HasSuffix(out[n-1], ")") {
			out[n-1] += "," + text
			continue
		}
		out = append(out, text)
	}
	return out
}

// campaignText returns a campaign file that replays measurements.
func campaignText(path, data string, cat *mpi.Catalogue, ms []coll.Measurement) []byte {
	var collectives []string
	for _, m := range ms {
		collectives = append(collectives, string(m.Collective))
	}
	slices.Sort(collectives)
	collectives = slices.Compact(collectives)
	name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Replays imported measurements. tutti init - --runner replay prints all keys.\nname: %q\noutput: %q\n", name, name)
	fmt.Fprintf(&b, "libraries:\n  - {name: %s, version: %q}\ncollectives: [%s]\n", cat.Library, cat.Version, strings.Join(collectives, ", "))
	fmt.Fprintf(&b, "runner:\n  kind: replay\n  data: [%q]\n", data)
	return b.Bytes()
}

func (i *importer) printReports(files []recording.Report) {
	if i.format == formatJSON || len(files) == 0 {
		return
	}
	var notes []string
	for _, f := range files {
		head := fmt.Sprintf("%s: %d read", f.File, f.Read)
		if f.Format != "" {
			head = fmt.Sprintf("%s: %s, %d read", f.File, f.Format, f.Read)
		}
		i.printWrapped(head)
		for _, reason := range slices.Sorted(maps.Keys(f.Left)) {
			i.printWrapped(fmt.Sprintf("  %d left out: %s", f.Left[reason], reason))
		}
		for _, n := range f.Notes {
			if !slices.Contains(notes, n) {
				notes = append(notes, n)
			}
		}
	}
	for _, n := range notes {
		i.printWrapped("note: " + n)
	}
}
