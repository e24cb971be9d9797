package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"tutti/campaign/assembly"
	"tutti/internal/config"
	"tutti/journal"
	"tutti/mpi"
	"tutti/mpi/libraries"
)

// rulesFolder is added to the output of a campaign file: the folder in which a selection file is verified.
const rulesFolder = "-rules"

// runRules verifies a selection file that no campaign selected. A folder that has such a verification goes on with it.
func (o *verifyOptions) runRules(ctx context.Context, args []string) error {
	c, err := config.Load(o.config, config.Layers{Environ: o.environ})
	if err != nil {
		return withCode(codeInput, err)
	}
	if o.file, err = filepath.Abs(o.file); err != nil {
		return err
	}
	dir := c.Output + rulesFolder
	if len(args) > 0 {
		if dir, err = filepath.Abs(args[0]); err != nil {
			return err
		}
	}
	if _, err := os.Stat(filepath.Join(dir, journal.FileName)); err == nil {
		return o.run(ctx, dir)
	}
	c.Output = dir
	if _, err := o.readGiven(c); err != nil {
		return err
	}
	if err := addPaths(ctx, o.app, c); err != nil {
		return err
	}
	if err := preflight(ctx, o.app, c); err != nil {
		return err
	}
	if _, err := assembly.New(c); err != nil { // reads the files that c names
		return err
	}
	spec, err := json.Marshal(c)
	if err != nil {
		return err
	}
	jnl, err := journal.Create(dir, journal.Header{ID: journal.NewID(), Campaign: c.Name, Version: version, Seed: c.Seed, Spec: spec, Rules: o.file, Private: c.HasSecrets()})
	if err != nil {
		return withOutputCode(err)
	}
	if err := jnl.Close(); err != nil {
		return err
	}
	return o.run(ctx, dir)
}

// givenRules returns the selection file to verify in a folder that is for such a file, and nil for the folder of a
// campaign. The file is that of --rules, else that of the journal.
func (o *verifyOptions) givenRules(c *assembly.Campaign, contents *journal.Contents) (*mpi.RuleFile, error) {
	folder := shellWord(displayPath(c.Config.Output))
	switch known := contents.Header.Rules; {
	case known == "" && o.file == "":
		return nil, nil
	case known == "":
		return nil, withCode(codeUsage, fmt.Errorf("%s has a campaign: name another folder after -c for the verification of %s", folder, displayPath(o.file)))
	case o.file == "":
		o.file = known
	}
	f, err := o.readGiven(c.Config)
	if err != nil {
		return nil, err
	}
	o.library = f.Library
	if n, path := len(f.Of(mpi.FindingHarm)), displayPath(o.file); n > 0 {
		o.warn([]string{fmt.Sprintf("%s: %s can harm programs, whatever their speed: tutti rules check %s", path, plural(n, "rule"), shellWord(path))})
	}
	return f, nil
}

// readGiven reads the file of --rules as the library of a campaign reads it.
func (o *verifyOptions) readGiven(c *config.Campaign) (*mpi.RuleFile, error) {
	f, err := libraries.ReadRules(o.file, o.library)
	if err != nil {
		return nil, withCode(codeInput, err)
	}
	var names []string
	for _, lib := range c.Libraries {
		names = append(names, lib.Name)
		if lib.Name != f.Library {
			continue
		}
		release := lib.Name + "=" + lib.Version
		if port, _, err := lib.Release(); err == nil && port.Facts().FromFile && lib.Path != "" {
			release += ":" + lib.Path
		}
		if f, err = libraries.ReadRules(o.file, release); err != nil {
			return nil, withCode(codeInput, err)
		}
		return f, o.checkGiven(f)
	}
	return nil, withCode(codeInput, fmt.Errorf("%s: %s for %s, and the campaign file has %s: add %s to libraries", displayPath(o.file), f.Format, f.Library, strings.Join(names, ", "), f.Library))
}

// checkGiven returns an error for a file that the library does not load.
func (o *verifyOptions) checkGiven(f *mpi.RuleFile) error {
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
