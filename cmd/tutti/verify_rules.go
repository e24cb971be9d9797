package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tutti/campaign/assembly"
	"tutti/campaign/verification"
	"tutti/internal/config"
	"tutti/internal/infile"
	"tutti/journal"
	"tutti/mpi"
	"tutti/mpi/libraries"
)

// rulesFolder is added to the output of a campaign file: the folder in which a selection file is verified.
const rulesFolder = "-rules"

// runRules verifies a selection file that no campaign selected. A folder that has this verification goes on with it.
func (o *verifyOptions) runRules(ctx context.Context, args []string) error {
	c, err := config.Load(o.config, config.Layers{Environ: o.environ})
	if err != nil {
		return withCode(codeInput, err)
	}
	if o.file, err = filepath.Abs(o.file); err != nil {
		return err
	}
	text, err := infile.Read(o.file, libraries.MaxRuleBytes)
	if err != nil {
		return withCode(codeInput, err)
	}
	dir := c.Output + rulesFolder
	if len(args) > 0 {
		if dir, err = filepath.Abs(args[0]); err != nil {
			return err
		}
	}
	if past, err := journal.Read(dir); !errors.Is(err, fs.ErrNotExist) {
		if err == nil {
			err = o.checkSame(past.Header, c, dir, sumOf(text))
		}
		if err != nil {
			return err
		}
		return o.run(ctx, dir)
	}
	c.Output = dir
	estimates, err := o.estimateRules(ctx, c)
	if err != nil {
		return err
	}
	if o.dry {
		return o.show(estimates, func() { printEstimates(o.app, estimates) })
	}
	if err := o.beginRules(ctx, c, text); err != nil {
		return err
	}
	return o.run(ctx, dir)
}

// estimateRules returns what the verification of a file costs that has not begun. It checks all options, and starts and
// writes nothing.
func (o *verifyOptions) estimateRules(ctx context.Context, c *config.Campaign) ([]verification.Estimate, error) {
	f, err := o.readRules(c, o.file)
	if err != nil {
		return nil, err
	}
	made, err := assembly.New(c) // reads the files that c names
	if err != nil {
		return nil, err
	}
	chosen, err := chooseLibraries(made, f.Library)
	if err != nil {
		return nil, err
	}
	compilers, err := parseCompilers(made, o.compilers)
	if err != nil {
		return nil, withCode(codeUsage, err)
	}
	p, err := o.verifier(ctx, made, nil, &journal.State{}, f, compilers)
	if err != nil {
		return nil, err
	}
	return estimateCosts(p, chosen, o.wallTime)
}

// beginRules writes the copy of a file and the journal of its verification, if the machine can run it.
func (o *verifyOptions) beginRules(ctx context.Context, c *config.Campaign, text []byte) error {
	if err := addPaths(ctx, o.app, c); err != nil {
		return err
	}
	if err := preflight(ctx, o.app, c); err != nil {
		return err
	}
	spec, err := json.Marshal(c)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(c.Output, 0o755); err != nil {
		return withOutputCode(err)
	}
	if err := mpi.WriteFile(verification.RulesCopy(c.Output, o.file), text); err != nil {
		return withOutputCode(err)
	}
	jnl, err := journal.Create(c.Output, journal.Header{
		ID: journal.NewID(), Campaign: c.Name, Version: version, Seed: c.Seed, Spec: spec, Rules: o.file, RulesSum: sumOf(text), Private: c.HasSecrets(),
	})
	if err != nil {
		return withOutputCode(err)
	}
	return jnl.Close()
}

// checkSame returns an error unless a folder has the verification of the same selection file with the same campaign file.
func (o *verifyOptions) checkSame(past journal.Header, c *config.Campaign, dir, sum string) error {
	folder, file := shellWord(displayPath(dir)), displayPath(o.file)
	other := fmt.Sprintf("name another folder: tutti verify --rules %s -c %s FOLDER", shellWord(file), shellWord(displayPath(o.config)))
	if past.Rules == "" {
		return withCode(codeUsage, fmt.Errorf("%s has a campaign: name another folder after -c for the verification of %s", folder, file))
	}
	if past.Rules != o.file || past.RulesSum != sum {
		return withCode(codeUsage, fmt.Errorf("%s has the verification of %s (SHA-256 %.12s), and not of %s (SHA-256 %.12s): %s", folder, displayPath(past.Rules), past.RulesSum, file, sum, other))
	}
	changes, err := c.Differences(past.Spec)
	if err != nil {
		return withCode(codeInput, fmt.Errorf("journal of %s: %w", folder, err))
	}
	if len(changes) > 0 {
		var texts []string
		for _, x := range changes {
			texts = append(texts, x.String())
		}
		return withCode(codeUsage, fmt.Errorf("%s has a verification with another campaign file: %s. To go on with it: tutti verify %s. Else %s", folder, strings.Join(texts, "; "), folder, other))
	}
	return nil
}

// externalRules returns the selection file to verify in a folder that is for such a file, and nil for the folder of a
// campaign. It reads the copy in the folder.
func (o *verifyOptions) externalRules(c *assembly.Campaign, contents *journal.Contents) (*mpi.RuleFile, error) {
	if o.file = contents.Header.Rules; o.file == "" {
		return nil, nil
	}
	copied := verification.RulesCopy(c.Config.Output, o.file)
	text, err := infile.Read(copied, libraries.MaxRuleBytes)
	if err != nil {
		return nil, withCode(codeInput, err)
	}
	if sum := sumOf(text); sum != contents.Header.RulesSum {
		return nil, withCode(codeInput, fmt.Errorf("%s (SHA-256 %.12s) is not the copy of %s (SHA-256 %.12s) that the verification began with: verify in another folder", displayPath(copied), sum, displayPath(o.file), contents.Header.RulesSum))
	}
	f, err := o.readRules(c.Config, copied)
	if err != nil {
		return nil, err
	}
	o.library = f.Library
	if n, path := len(f.Of(mpi.FindingHarm)), displayPath(o.file); n > 0 {
		o.warn([]string{fmt.Sprintf("%s: %s can harm programs, whatever their speed: tutti rules check %s", path, plural(n, "rule"), shellWord(path))})
	}
	return f, nil
}

// sumOf returns the SHA-256 of a file's contents in hexadecimal.
func sumOf(text []byte) string { return fmt.Sprintf("%x", sha256.Sum256(text)) }

// readRules reads the file of --rules, or its copy, from a path as the library of a campaign reads it.
func (o *verifyOptions) readRules(c *config.Campaign, path string) (*mpi.RuleFile, error) {
	f, err := libraries.ReadRules(path, o.library)
	if err != nil {
		return nil, withCode(codeInput, err)
	}
	for _, lib := range c.Libraries {
		if lib.Name != f.Library {
			continue
		}
		release := lib.Name + "=" + lib.Version
		if port, _, err := lib.Release(); err == nil && port.Facts().FromFile && lib.Path != "" {
			release += ":" + lib.Path
		}
		if f, err = libraries.ReadRules(path, release); err != nil {
			return nil, withCode(codeInput, err)
		}
		return f, o.checkLoaded(f)
	}
	return nil, withCode(codeInput, fmt.Errorf("%s: %s for %s, and the campaign file has %s: add %s to libraries", displayPath(o.file), f.Format, f.Library, strings.Join(c.LibraryNames(), ", "), f.Library))
}

// checkLoaded returns an error for a file that the library does not load.
func (o *verifyOptions) checkLoaded(f *mpi.RuleFile) error {
	path := displayPath(o.file)
	if !f.Loaded || f.Choose == nil {
		text := ""
		if found := f.Of(mpi.FindingError); len(found) > 0 {
			text = fmt.Sprintf(": line %d: %s", found[0].Line, found[0].Text)
		}
		return withCode(codeInput, errors.New(path+": nothing to verify: "+f.Effect+text))
	}
	return nil
}

// warnOnce prints a warning that was not printed before.
func (o *verifyOptions) warnOnce(text string) {
	if !slices.Contains(o.warned, text) {
		o.warn([]string{text})
	}
}
